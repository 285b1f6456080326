"""State evolution of the rank-one model (paper, Section 4 and Appendices B to D)."""

from .baseline import linear_baseline
from .branches import branch_along
from .fixed_point import Solution, solve
from .lines import stable_from, theory_line
from .transitions import Threshold, threshold

__all__ = [
    "Solution",
    "Threshold",
    "branch_along",
    "linear_baseline",
    "solve",
    "stable_from",
    "theory_line",
    "threshold",
]
