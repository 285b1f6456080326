"""The registry of all experiments by name.

`paper` has the experiments of the paper's figures: one file per figure, except that Figures 10 to 12 share a file, and
Figures 4 to 6 share one with Table 1, the counting task. `beyond` has the experiments of the pages beyond the paper,
one file per question. `audit` has the experiments that ask why published values differ from ours. Each file defines
everything that belongs to its experiments only. The modules here are shared: `grids` (how sizes are written down),
`kinds` (properties of a type of cells), `students` (cells on data sets) and `lines` (cells of theory).
"""

# Importing these modules registers their experiments: checks of published numbers, questions that the paper leaves
# open, and figures of the paper.
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
