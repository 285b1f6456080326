"""State evolution of the rank-one model (paper, Section 4 and Appendices B to D)."""

from .baseline import linear_baseline
from .fixed_point import Solution, solve
from .transitions import Threshold, threshold


__all__ = ["Solution", "Threshold", "linear_baseline", "solve", "threshold"]
