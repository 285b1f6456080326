"""State evolution of the model and what follows from it (paper, Section 4 and Appendices B to D)."""

from .baseline import linear_baseline
from .branches import follow
from .prediction_error import test_error
from .solver import solve
from .thresholds import threshold

__all__ = ["follow", "linear_baseline", "solve", "test_error", "threshold"]
