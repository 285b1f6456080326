"""State evolution of the model and its consequences (paper, Section 4 and Appendices B to D)."""

from .baseline import linear_baseline
from .branches import follow
from .ends import spinodal
from .phases import phase_diagram
from .solver import solve
from .thresholds import threshold

__all__ = ["follow", "linear_baseline", "phase_diagram", "solve", "spinodal", "threshold"]
