"""State evolution of the model and what follows from it (paper, Section 4 and Appendices B to D)."""

from .baseline import encoding_error, linear_baseline, mean_attention
from .branches import as_table, follow
from .prediction_error import test_error
from .solver import Solution, solve
from .thresholds import Threshold, loss_gap, threshold

__all__ = [
    "Solution",
    "Threshold",
    "as_table",
    "encoding_error",
    "follow",
    "linear_baseline",
    "loss_gap",
    "mean_attention",
    "solve",
    "test_error",
    "threshold",
]
