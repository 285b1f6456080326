"""Every experiment by its name."""

# These enter their experiments.
from . import minima_grids, structured_grids, student_grids, theory_grids  # noqa: F401
from .grids import GRIDS, PROFILES, grid

__all__ = ["GRIDS", "PROFILES", "grid"]
