"""What all cells of one type share: the worker that computes them, and how they are computed again."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

from .tolerances import FLOOR_TERM, LINEAR_TERM, Tolerances


class Kind(NamedTuple):
    """A type of cells.

    Functions are named "MODULE:FUNCTION" and loaded when they are called, so that reading results does not load torch.
    """

    worker: str  #: gives the rows of a cell
    tolerances: Tolerances  #: of its columns
    unrepeatable: tuple[str, ...] = ()  #: columns that differ from run to run
    #: A column, and its value in rows of runs that did not settle: rounding decides there what another machine finds.
    unsettled: tuple[str, Any] | None = None
    beginning: str | None = None  #: a shorter run, where a whole one is too long, or too sensitive to rounding
    rows: int = 2  #: which that gives
    #: Gives the rows of several runs of a cell whose students may end in another minimum, see `verification`.
    runs: str | None = None

    def repeat(self, cell) -> list[dict]:
        """Rows of a cell, computed again: those of `repeatable`."""
        return [row for row in function(self.beginning or self.worker)(cell) if self.unsettled not in row.items()]

    def repeatable(self, rows):
        """Those of the stored rows (a frame) of one cell that another machine finds again."""
        rows = rows.head(self.rows) if self.beginning else rows
        return rows[rows[self.unsettled[0]] != self.unsettled[1]] if self.unsettled else rows

    def tolerances_of(self, rows) -> Tolerances:
        """The tolerances for the stored rows (a frame) of one cell."""
        if "d" not in rows:
            return self.tolerances
        alpha, d = rows[["alpha", "d"]].iloc[0]
        rounded = {"linear_mse": LINEAR_TERM * alpha * d**2, "train_loss": FLOOR_TERM * (alpha / d) ** 0.5}
        return {
            name: (relative, max(absolute, rounded.get(name, 0)))
            for name, (relative, absolute) in self.tolerances.items()
        }


def work(cell, **options) -> list[dict]:
    """Rows of a cell of any kind."""
    return function(cell.kind.worker)(cell, **options)


def function(name: str) -> Callable:
    """The function with a name such as ".simulation:train_students" (of this folder) or "package.module:function"."""
    module, attribute = name.split(":")
    return getattr(import_module(module, __package__), attribute)
