"""A check that recomputes a random sample of the stored cells and compares the results, up to tolerances.

If a valley holds many minima, the rounding of a sum can decide which of them training reaches, so another processor may
find another student. Runs from slightly displaced starts show which minima are close to each other. A stored student
that resembles the end points of these runs ended in another minimum. A stored student that does not resemble them is a
mismatch.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from attention_phases.errors import StoreError, check_count
from attention_phases.records import fields_of
from attention_phases.training.optimizers import LBFGS_TOLERANCE

from ..paths import DATA, checkout
from ..store import provenance
from ..store.parquet import column_value, load
from ..store.provenance import check_rows, restore
from ..store.sweep import one_line, progress
from . import GRIDS, grid

FALSE_ALARM = 1e-3  # probability that a normally distributed end point is outside the prediction interval
SAME_DIGITS = 1e-7  # largest difference between overlaps of the same student in float32


class Mismatch(NamedTuple):
    """A stored value that differs from the recomputed value by more than its tolerance.

    `cell` is canonical JSON, `tolerance` is (relative, absolute), and `row` counts from 0. The column "rows" stands for
    the number of rows, and the column "error" for a cell that can no longer be computed. Both have no row.
    """

    cell: str
    column: str
    stored: object
    recomputed: object
    tolerance: tuple = (0, 0)
    row: int | None = None


class OtherMinimum(NamedTuple):
    """A student that ended in another minimum when its cell was recomputed.

    `stored` and `recomputed` are its training losses.
    """

    cell: str
    row: int
    stored: float
    recomputed: float


class CheckResult(NamedTuple):
    """The outcome of a check: what was recomputed, and which results differ."""

    cells: int  #: number of recomputed cells
    students: int  #: number of students in these cells that may end in another minimum
    mismatches: list[Mismatch]
    other_minima: list[OtherMinimum]

    @property
    def elsewhere(self):
        """A message that says how many students did not end in the stored minimum."""
        return f"{len(self.other_minima)} of {self.students} students in another minimum"

    @property
    def problem(self):
        """One line that summarises the differences, or None if no stored value differs."""
        return f"{len(self.mismatches)} stored values differ; {self.elsewhere}" if self.mismatches else None


def check(sample, seed=0, name=None, quiet=True):
    """Recompute a random sample of the stored cells, and return the differences from the stored results.

    sample: number of cells.
    name: the experiment of the cells; by default all experiments.
    """
    check_count("sample", sample)
    check_count("seed", seed, at_least=0)
    # Other files in the folder do not belong to an experiment.
    files = [path for path in sorted(DATA.glob(f"{name or '*'}.parquet")) if path.stem in GRIDS]
    if not files:
        checkout()
        raise StoreError(f"{DATA}: holds no results" + (f" of {name}" if name else ""))
    tables = [load(path) for path in files]
    texts = sorted({text for table in tables for text in table["cell"].unique()})
    chosen = set(pd.Series(texts).sample(min(sample, len(texts)), random_state=seed))
    mismatches, others, students = [], [], 0
    with progress(len(chosen), "cell", quiet) as bar:
        for path, table in zip(files, tables):
            cell_type = type(grid(path.stem, "smoke")[0])
            for _, rows in table[table["cell"].isin(chosen)].groupby("cell"):
                differing, elsewhere = check_cell(cell_type, rows)
                mismatches += differing
                others += elsewhere
                if cell_type.kind.runs:
                    students += len(cell_type.kind.repeatable(rows))
                bar.update()
    return CheckResult(len(chosen), students, mismatches, others)


def check_cell(cell_type, rows):
    """Recompute a cell, and compare the results with its stored rows.

    Returns two lists: the mismatches, and the students that ended in another minimum. If all mismatches are such
    students, the first list is empty.
    """
    kind, rows = cell_type.kind, cell_type.kind.repeatable(rows)
    if rows.empty:
        return [], []
    tolerances = kind.tolerances_of(rows)
    mismatches = recompute(cell_type, rows, kind.repeat, tolerances, kind.unrepeatable)
    depend_on_start = all(mismatch.row is not None and mismatch.column in tolerances for mismatch in mismatches)
    if mismatches and kind.runs and depend_on_start:
        text, stored = str(rows["cell"].iloc[0]), rows.to_dict("records")
        ends = kind.runs(restore(cell_type, text))
        differing = sorted({mismatch.row for mismatch in mismatches})
        if all(is_another(stored[row], [run[row] for run in ends], tolerances) for row in differing):
            losses = ((row, stored[row]["train_loss"], ends[0][row]["train_loss"]) for row in differing)
            return [], [OtherMinimum(text, *of_row) for of_row in losses]
    return mismatches, []


def recompute(cell_type, rows, worker, tolerances, ignore=("seconds",)):
    """Recompute a stored cell, and return a `Mismatch` for each value that differs.

    rows: stored rows of the cell, from `parquet.load`.
    worker: function that computes the rows of the cell.
    tolerances: (relative, absolute) by column, see `agree`. A column without a tolerance must be equal.
    ignore: columns that differ between any two runs.
    """
    text = str(rows["cell"].iloc[0])
    stored = rows.to_dict("records")
    try:
        cell = restore(cell_type, text)
        recomputed = check_rows(worker(cell))
    except Exception as error:
        return [Mismatch(text, "error", None, one_line(error))]
    mismatches = []
    if len(recomputed) != len(stored):
        mismatches.append(Mismatch(text, "rows", len(stored), len(recomputed)))
    fields = {name: column_value(value) for name, value in fields_of(cell).items()}
    left_out = {"cell", *provenance.ORIGIN, *ignore}
    for row, (old, new) in enumerate(zip(stored, recomputed)):
        old = {name: value for name, value in old.items() if not pd.isna(value)}
        new = {**fields, **new}
        for column in sorted((old.keys() | new.keys()) - left_out):
            tolerance = tolerances.get(column, (0, 0))
            if not agree(old.get(column), new.get(column), *tolerance):
                mismatches.append(Mismatch(text, column, old.get(column), new.get(column), tolerance, row))
    return mismatches


def agree(stored, recomputed, relative, absolute):
    """Return whether two values are equal or, if they are numbers, agree within the tolerances.

    Two numbers agree if ``|stored - recomputed| <= absolute + relative |recomputed|``.
    """
    if stored == recomputed:  # equal infinities, too
        return True
    numbers = isinstance(stored, (int, float)) and isinstance(recomputed, (int, float))
    return numbers and abs(stored - recomputed) <= absolute + relative * abs(recomputed)


# Other minima


def is_another(stored, ends, tolerances):
    """Return whether a student's stored results lie within the spread of reruns from slightly displaced starts.

    The gradient of the student must not exceed the larger of two values: the tolerance of L-BFGS, and twice the largest
    gradient of the other end points. The second value is needed because gradient descent and Adam make a fixed number
    of steps. Each quantity must lie within the prediction interval of the end points, widened by its tolerance. If the
    recomputed overlaps agree with the stored ones in all digits, it is the same student, and its losses must agree too.

    stored: the row of the student, a dict.
    ends: the same row of several runs, of which the first is not displaced.
    """
    recomputed = ends[0]
    if all(abs(stored[name] - recomputed[name]) <= SAME_DIGITS for name in ("q", "m", "theta")):
        losses = {"train_loss", "test_mse"} & recomputed.keys()
        if not all(agree(stored[name], recomputed[name], *tolerances[name]) for name in losses):
            return False
    if "grad_norm" in recomputed:
        usual = max(LBFGS_TOLERANCE, 2 * max(end["grad_norm"] for end in ends[1:]))
        if max(stored["grad_norm"], recomputed["grad_norm"]) > usual:
            return False
    # The half width of the prediction interval is in units of the standard deviation.
    interval = stdtrit(len(ends) - 1, 1 - FALSE_ALARM / 2) * (1 + 1 / len(ends)) ** 0.5
    for name in tolerances.keys() & recomputed.keys():
        values = np.array([end[name] for end in ends])
        relative, absolute = tolerances[name]
        allowed = absolute + relative * abs(recomputed[name]) + interval * values.std(ddof=1)
        if abs(stored[name] - values.mean()) > allowed:
            return False
    return True
