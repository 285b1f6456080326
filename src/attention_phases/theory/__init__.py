"""State evolution of the model and what follows from it (paper, Section 4 and Appendices B to D)."""

from .baseline import encoding_error, linear_baseline, mean_attention
from .branches import branch_along
from .ends import border, stability_limit
from .lines import theory_line
from .solution import Solution
from .solver import solve
from .thresholds import Threshold, threshold

__all__ = [
    "Solution",
    "Threshold",
    "border",
    "branch_along",
    "encoding_error",
    "linear_baseline",
    "mean_attention",
    "solve",
    "stability_limit",
    "theory_line",
    "threshold",
]
