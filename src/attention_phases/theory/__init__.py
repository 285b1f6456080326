"""State evolution of the rank-one model (paper, Section 4 and Appendices B to D)."""

from .baseline import linear_baseline
from .branches import branch_along
from .fixed_point import Solution, solve
from .lines import border, stability_limit, theory_line
from .transitions import Threshold, threshold

__all__ = [
    "Solution",
    "Threshold",
    "border",
    "branch_along",
    "linear_baseline",
    "solve",
    "stability_limit",
    "theory_line",
    "threshold",
]
