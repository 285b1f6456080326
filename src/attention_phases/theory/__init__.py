"""State evolution of the rank-one model (paper, Section 4 and Appendices B to D)."""

from .baseline import encoding_error, general_linear_baseline, linear_baseline, mean_attention
from .branches import branch_along
from .general.fixed_point import GeneralSolution, general_solve
from .general.lines import general_line
from .lines import border, stability_limit, theory_line
from .rank_one.fixed_point import Solution, solve
from .thresholds import Threshold, threshold

__all__ = [
    "GeneralSolution",
    "Solution",
    "Threshold",
    "border",
    "branch_along",
    "encoding_error",
    "general_line",
    "general_linear_baseline",
    "general_solve",
    "linear_baseline",
    "mean_attention",
    "solve",
    "stability_limit",
    "theory_line",
    "threshold",
]
