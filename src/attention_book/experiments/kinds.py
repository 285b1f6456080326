"""What all cells of one type share: the worker that computes them, how they are computed again, and what is theirs."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

# The linear fit's sums have alpha d^2 terms in float32. Where these are a million or more, recomputed fits differ by up
# to 3.9e-13 a term (in 262 cells). Data sets scatter by 2e-4.
LINEAR_TERM = 1e-12
# The part of a training loss that no student can avoid was stored as a difference of squares in float32: off by up to
# 1.1e-7 (alpha/d)^(1/2) in 155 data sets of d = 10 to 1000, as the machine rounds. Computed again it has no such error.
FLOOR_TERM = 2e-7
# Relative displacements of the weights of the start. The smallest is one rounding of float32, as another machine makes
# it; larger ones, up to 2e-4, find more of the ends that lie side by side.
DISPLACEMENTS = tuple(2.0 ** (k - 23) for k in range(12))
BEGINNING = 2  # rows
BY_ROUNDING = {"grad_norm": "the last digits decide when L-BFGS stops"}

Tolerances = dict[str, tuple[float, float]]  # (relative, absolute) by column; one without a tolerance must be equal


class Kind(NamedTuple):
    """A type of cells. Its functions import torch and theory when they are called, so that to read loads neither."""

    worker: Callable  #: gives the rows of a cell
    tolerances: Tolerances  #: how far columns may differ when they are computed again, see `verification.agree`
    unrepeatable: Mapping[str, str] = {}  #: columns that differ from run to run, and why
    #: A column, and its value in rows of runs that did not settle: rounding decides there what another machine finds.
    unsettled: tuple[str, Any] | None = None
    #: Gives the first rows, `BEGINNING` of them, where a whole run is too long, or too sensitive to rounding.
    beginning: Callable | None = None
    #: Gives the rows of several runs of a cell whose students may end in another minimum, see `verification`.
    runs: Callable | None = None

    def repeat(self, cell) -> list[dict]:
        """Rows of a cell, computed again: those of `repeatable`."""
        return [row for row in (self.beginning or self.worker)(cell) if self.unsettled not in row.items()]

    def repeatable(self, rows):
        """Those of the stored rows (a frame) of one cell that another machine finds again."""
        rows = rows.head(BEGINNING) if self.beginning else rows
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
    return cell.kind.worker(cell, **options)


def displaced_runs(cell):
    """Rows of several runs of a cell whose worker displaces its starts; the first is not displaced."""
    return [work(cell, displaced=size) for size in (0, *DISPLACEMENTS)]


def with_errors(names: Iterable[str], value: tuple[float, float], error: tuple[float, float]) -> Tolerances:
    """Tolerances of columns, and of their errors."""
    return dict.fromkeys(names, value) | dict.fromkeys([f"{name}_error" for name in names], error)
