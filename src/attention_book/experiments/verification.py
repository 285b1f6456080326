"""Stored results computed again: a random sample of cells, with the tolerances of their kinds."""

from typing import NamedTuple

import pandas as pd

from attention_phases.errors import StoreError, check_count

from ..paths import DATA
from ..store import provenance
from ..store.identity import check_rows, flattened, restore
from ..store.parquet import flat, load
from ..store.running import one_line, progress
from . import grid, other_minima
from .kinds import agree
from .kinds import load as load_function


class Mismatch(NamedTuple):
    """A stored value that the recomputed one contradicts.

    `cell` is canonical JSON, `tolerance` (relative, absolute), `row` counts from 0. Column "rows" stands for the number
    of rows, column "error" for a cell that can no longer be computed; they have no row.
    """

    cell: str
    column: str
    stored: object
    recomputed: object
    tolerance: tuple
    row: int | None = None


class OtherMinimum(NamedTuple):
    """A student that ended in another minimum: its cell and row, and the training loss stored and found now."""

    cell: str
    row: int
    stored: float
    recomputed: float


class Checked(NamedTuple):
    """What `check` found."""

    cells: int  # recomputed
    mismatches: list  # of Mismatch
    other_minima: list  # of OtherMinimum
    expected: other_minima.Expected  # of how many cells

    @property
    def problem(self):
        """What is wrong, in one line; None if nothing is."""
        if self.mismatches:
            return f"{len(self.mismatches)} stored values differ"
        if self.expected.chance < other_minima.MISSED:
            cells = len({student.cell for student in self.other_minima})
            return f"other minima in {cells} cells: {self.expected.cells:.1f} were expected"
        return None


def check(sample, seed=0, name=None, quiet=True):
    """Recompute `sample` random cells of the stored results, or of those of the experiment `name`; return `Checked`."""
    check_count("sample", sample)
    check_count("seed", seed, at_least=0)
    files = sorted(DATA.glob(f"{name or '*'}.parquet"))
    if not files:
        raise StoreError(f"{DATA}: holds no results" + (f" of {name}" if name else ""))
    tables = [load(path) for path in files]
    texts = pd.concat([table["cell"].drop_duplicates().astype(str) for table in tables])
    texts = texts.sort_values().reset_index(drop=True)
    chosen = set(texts.sample(min(sample, len(texts)), random_state=seed))
    mismatches, others, students = [], [], []
    with progress(len(chosen), "cell", quiet) as bar:
        for path, table in zip(files, tables):
            cell_type = type(grid(path.stem, "smoke")[0])
            for _, rows in table[table["cell"].isin(chosen)].groupby("cell", observed=True):
                differing, elsewhere = check_cell(cell_type, rows)
                mismatches += differing
                others += elsewhere
                if cell_type.kind.ends:
                    students.append((other_minima.trained(rows), cell_type.kind.rows or len(rows)))
                bar.update()
    expected = other_minima.expected(students, len({student.cell for student in others}))
    return Checked(len(chosen), mismatches, others, expected)


def check_cell(cell_type, rows):
    """Recompute one cell from its stored rows: the mismatches, or else the students that ended in another minimum."""
    kind = cell_type.kind
    if kind.beginning:
        rows = rows.head(kind.rows)
    work, tolerances = load_function(kind.beginning or kind.worker), kind.tolerances_of(rows)
    mismatches = recompute(cell_type, rows, work, tolerances, kind.unrepeatable)
    other = _other_minima(cell_type, rows, mismatches, tolerances)
    return ([], other) if other else (mismatches, [])


def _other_minima(cell_type, rows, mismatches, tolerances):
    """The students of a cell that did not agree, if another minimum is what all its mismatches come from."""
    ends = cell_type.kind.ends
    if not ends or any(each.row is None or each.column not in tolerances for each in mismatches):
        return []
    differing = sorted({each.row for each in mismatches})
    if not differing:
        return []
    text, stored = mismatches[0].cell, rows.to_dict("records")
    runs = load_function(ends)(restore(cell_type, text))
    if not all(other_minima.is_another(stored[row], [run[row] for run in runs], tolerances) for row in differing):
        return []
    return [OtherMinimum(text, row, stored[row]["train_loss"], runs[0][row]["train_loss"]) for row in differing]


def recompute(cell_type, rows, work, tolerances, ignore=("seconds",)):
    """Compute a stored cell again, and list every `Mismatch` of a column.

    Args:
        rows: those of one cell, as from `parquet.load`.
        work: function of the cell.
        tolerances: column to (relative, absolute), see `kinds.agree`. A column without one must be equal.
        ignore: columns that no two runs share.
    """
    text = str(rows["cell"].iloc[0])
    stored = rows.to_dict("records")
    try:
        cell = restore(cell_type, text)
        recomputed = check_rows(work(cell))
    except Exception as error:
        return [Mismatch(text, "error", None, one_line(error), (0, 0))]
    mismatches = []
    if len(recomputed) != len(stored):
        mismatches.append(Mismatch(text, "rows", len(stored), len(recomputed), (0, 0)))
    fields = {name: flat(value) for name, value in flattened(cell).items()}
    left_out = {"cell", *provenance.COLUMNS, *ignore}
    for row, (old, new) in enumerate(zip(stored, recomputed)):
        old = {name: value for name, value in old.items() if not pd.isna(value)}
        new = {**fields, **new}
        for column in sorted((old.keys() | new.keys()) - left_out):
            tolerance = tolerances.get(column, (0, 0))
            if not agree(old.get(column), new.get(column), *tolerance):
                mismatches.append(Mismatch(text, column, old.get(column), new.get(column), tolerance, row))
    return mismatches
