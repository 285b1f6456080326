"""Every experiment by its name."""

# These register their experiments.
from . import counting_grids, minima_grids, student_grids, theory_grids, variant_grids  # noqa: F401
from .grids import GRIDS, PROFILES, grid

__all__ = ["GRIDS", "PROFILES", "grid"]
