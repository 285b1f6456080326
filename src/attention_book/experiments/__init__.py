"""Every experiment by its name."""

# These register their experiments: of the paper by figure, of what it leaves open by question, and of its own numbers.
from .audit import published_rule, published_tables  # noqa: F401
from .beyond import (  # noqa: F401
    another_task,
    architectures,
    crossing,
    descents,
    memory,
    minima,
    one_step,
    optimal,
    stability,
    staying,
    structured,
)
from .grids import GRIDS, PROFILES, grid
from .paper import fig01, fig02, fig03, fig07, fig08, fig09, fig10, fig13, fig14, fig15, histogram  # noqa: F401

__all__ = ["GRIDS", "PROFILES", "grid"]
