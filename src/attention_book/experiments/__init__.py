"""Every experiment by its name.

`paper` has those of the paper's figures: a file by figure, of Figures 10 to 12 one, and of 4 to 6 and Table 1 the
counting task. `beyond` has those of the pages beyond the paper, by question, and `audit` those that ask why published
values differ from ours. A file is all of its experiments. What several share is here: how sizes are written down
(`grids`), what a cell's type says (`kinds`), cells on data sets (`students`) and of theory (`lines`).
"""

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
