"""The types of cells (units of experiments): how their results are computed, and how they are checked."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

# The sums of the linear fit have alpha d^2 terms in float32. If there are a million terms or more, the test errors of
# recomputed fits differ by up to 3.9e-13 per term (in 262 cells). Their standard deviation between data sets is 2e-4.
LINEAR_TERM = 1e-12
# The part of a training loss that no student can fit was stored as a difference of squares in float32. Its rounding
# error depends on the machine, and it is up to 1.1e-7 (alpha/d)^(1/2) in 155 data sets of d = 10 to 1000. A recomputed
# loss does not have this error.
FLOOR_TERM = 2e-7
# Relative displacements of the starting weights. The smallest displacement is one rounding error of float32, which may
# differ between machines. Larger displacements, up to 2e-4, find more of the neighbouring minima.
DISPLACEMENTS = tuple(2.0 ** (k - 23) for k in range(12))
BEGINNING = 2  # number of rows that `Kind.beginning` returns
ROUNDING = {"grad_norm": "the last digits decide when L-BFGS stops"}

Tolerances = dict[str, tuple[float, float]]  # (relative, absolute) by column; all other columns must be equal


class Kind(NamedTuple):
    """A type of cell (unit of an experiment): how its results are computed, and how they are checked.

    Its functions import torch and the theory when they are called, so that reading results loads neither.
    """

    worker: Callable  #: returns the rows of a cell
    tolerances: Tolerances  #: allowed differences of recomputed columns, see `verification.agree`
    unrepeatable: Mapping[str, str] = {}  #: columns that differ from run to run, with the reason
    #: A column and its value in rows of runs that did not settle. Rounding decides what another machine finds in these
    #: rows.
    unsettled: tuple[str, Any] | None = None
    #: Returns the first `BEGINNING` rows, for cells whose whole run is too long or too sensitive to rounding.
    beginning: Callable | None = None
    #: Returns the rows of several runs of a cell whose students may end in another minimum, see `verification`.
    runs: Callable | None = None

    def repeat(self, cell) -> list[dict]:
        """Recompute a cell, and return the rows that another machine can reproduce (see `repeatable`)."""
        return [row for row in (self.beginning or self.worker)(cell) if self.unsettled not in row.items()]

    def repeatable(self, rows):
        """Return those stored rows of a cell that another machine can reproduce."""
        rows = rows.head(BEGINNING) if self.beginning else rows
        return rows[rows[self.unsettled[0]] != self.unsettled[1]] if self.unsettled else rows

    def tolerances_of(self, rows) -> Tolerances:
        """Return the tolerance of each column for the stored rows of one cell."""
        if "d" not in rows:
            return self.tolerances
        alpha, d = rows[["alpha", "d"]].iloc[0]
        rounded = {"linear_mse": LINEAR_TERM * alpha * d**2, "train_loss": FLOOR_TERM * (alpha / d) ** 0.5}
        return {
            name: (relative, max(absolute, rounded.get(name, 0)))
            for name, (relative, absolute) in self.tolerances.items()
        }


def compute_rows(cell, **options) -> list[dict]:
    """Compute a cell of any type, and return its results as rows."""
    return cell.kind.worker(cell, **options)


def displaced_runs(cell):
    """Compute a cell several times, and return the results of each run as rows.

    All runs except the first start from displaced weights.
    """
    return [compute_rows(cell, displaced=size) for size in (0, *DISPLACEMENTS)]


def with_errors(names: Iterable[str], value: tuple[float, float], error: tuple[float, float]) -> Tolerances:
    """Return a dictionary with the tolerances of several columns and of their error columns."""
    return dict.fromkeys(names, value) | dict.fromkeys([f"{name}_error" for name in names], error)
