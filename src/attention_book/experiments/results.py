"""Results of an experiment: read from `data/` where they are, computed where they are missing."""

import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import torch
from filelock import FileLock

from attention_phases.errors import StoreError, SweepError, check_count
from attention_phases.theory.copies import copies_line
from attention_phases.theory.published_rule import coarse_line

from ..paths import BUILT, DATA
from ..progress import progress
from ..store import provenance
from ..store.database import Store, export, import_parquet, load
from ..store.identity import canonical, restore
from ..store.running import process_pool, verify
from ..store.running import run as sweep
from . import grid, other_minima
from .cells import (
    ArchitectureCell,
    ArchitectureLineCell,
    ControlledCell,
    CopiesCell,
    LineCell,
    LoopCell,
    MessagePassingCell,
    OneStepCell,
    OneStepThresholdsCell,
    RuleCell,
    SearchCell,
    StudentCell,
    ValleyCell,
)
from .controls import CONTROLS, train_controlled
from .convergence import measure
from .counting_cells import EXCHANGED, CountingCell, ExchangedCell
from .counting_training import BEGINNING, train_and_measure, train_beginning
from .general_simulation import train_architecture
from .hysteresis import follow
from .landscape import descend, search, search_first
from .lost_letters import train_exchanged, train_exchanged_beginning
from .one_step_lines import along_y, ground_states
from .simulation import train_students
from .theory_lines import theory_line

# (relative, absolute) as `sweep.verify` takes them. Two runs of one cell whose sums are rounded in another order end
# in points that differ by |grad R| over the softest curvature: up to 3e-5 in the overlaps at d = 1000, and 3e-10 in the
# loss, which is flat there. The tolerances are ten times that and more, and a hundredth of the spread between seeds.
TOLERANCES = {
    "q": (0, 3e-4),
    "m": (0, 3e-4),
    "theta": (0, 3e-4),
    "train_loss": (0, 1e-8),
    "test_mse": (0, 3e-6),
    "linear_mse": (0, 5e-7),
}
# The linear fit's sums have alpha d^2 terms in float32. Where these are a million or more, recomputed fits differ by up
# to 3.9e-13 a term (in 262 cells). Data sets scatter by 2e-4.
LINEAR_TERM = 1e-12
COLUMNS = ("q_11", "q_12", "q_22", "m_1", "m_2", "theta_1", "theta_2")  # of two columns, without sigma^2
ARCHITECTURE_TOLERANCES = TOLERANCES | dict.fromkeys(COLUMNS, (0, 1e-3))
# Where the prox jumps the solver ends within a fifth of an error bar of the fixed point, and rounding decides where.
OF_THEORY = ("alpha", "resolved", "q", "m", "theta", "V", "train_loss", "test_mse", "replicon")
THEORY_TOLERANCES = {name: (1e-3, 1e-9) for name in OF_THEORY} | {f"{name}_error": (5e-2, 1e-9) for name in OF_THEORY}
OF_LINES = (*OF_THEORY, *COLUMNS, "gain")
LINE_TOLERANCES = {name: (1e-3, 1e-9) for name in OF_LINES} | {f"{name}_error": (5e-2, 1e-9) for name in OF_LINES}
# The maximum of Phi is flat: of y, and of what follows it, fewer digits are found again.
OF_ONE_STEP = ("alpha", "symmetric", "q0", "q1", "m", "theta", "V", "phi", "energy", "slope")
ONE_STEP_TOLERANCES = {name: (2e-3, 1e-9) for name in OF_ONE_STEP} | {"y": (0.1, 0), "complexity": (0.1, 1e-4)}
ONE_STEP_TOLERANCES |= {"shift": (5e-2, 1e-7)}
ONE_STEP_TOLERANCES |= {f"{name}_error": (0.3, 1e-8) for name in (*ONE_STEP_TOLERANCES,)}
# Along a way the minima are many, and rounding decides in which of them a student goes on: tolerances as for `PASSING`.
LOOP_TOLERANCES = {"q": (0.1, 0), "m": (0, 0.05), "theta": (0, 0.02), "excess": (0.02, 0)}
# A perturbation contracts from 1e-5 while rounding is 1e-12. Copies that do not settle amplify rounding: their distance
# belongs to one run, and their overlaps agree within what they fluctuate by.
PASSING_TOLERANCES = {"distance": (1e-3, 1e-6), "q": (0.1, 0), "m": (0, 0.05), "theta": (0, 0.02), "V": (0.1, 0)}

# Of one epoch from the start, ten times what a start displaced by 2e-7 of its size changes: another machine sums in
# another order. On the same machine and versions the bits are the same.
HISTOGRAM_TOLERANCES = {"train_loss": (5e-3, 0), "test_loss": (3e-2, 0), "accuracy": (0, 2e-3)}


def experiment(name, profile, workers=None, quiet=False, **changes):
    """Table of an experiment, one row for each cell and start.

    Parameters
    ----------
    name : str
        A key of `experiments.GRIDS`.
    profile : {"paper", "laptop", "smoke"}
        "paper" reads `data/` and computes what it lacks; the others compute everything at reduced size. What was
        computed is kept under `_build/results/` until the code that computes it changes.
    workers : int, optional
        Processes, one a core by default; "smoke" computes in this one unless they are given.
    quiet : bool
        No progress bar.
    **changes
        Parameters of the experiment that differ from the published ones, such as ``omega=0.4``.

    Returns
    -------
    pandas.DataFrame
    """
    cells = grid(name, profile, **changes)
    wanted = {canonical(cell) for cell in cells}
    stored = DATA / f"{name}.parquet"
    if profile == "paper" and stored.exists():
        rows = load(stored)
        if wanted <= set(rows["cell"]):
            return rows[rows["cell"].isin(wanted)]
    folder = folder_of(cells[0], profile)
    table = folder / stored.name
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / f"{name}.lock"):  # of several notebooks that need it, one computes and the others wait
        if not table.exists() and profile == "paper" and stored.exists():
            shutil.copy(stored, table)
        if not table.exists() or not wanted <= set(load(table)["cell"]):
            here = profile == "smoke" and workers is None  # to start processes would take longer than the cells
            compute(cells, folder / f"{name}.sqlite", folder, workers, quiet, here=here)
    rows = load(table)
    return rows[rows["cell"].isin(wanted)]


def folder_of(cell, profile):
    """Where results of a profile are kept that `data/` has not, those of other code apart."""
    return BUILT / profile / provenance.code_digest(KINDS[type(cell)].work.__module__)


class Kind(NamedTuple):
    """How cells of one type are computed, and compared when computed again.

    Where a cell is too long to be computed again whole, or rounding grows too much on the way, `beginning` gives
    its first rows, `rows` in number, and those are compared. `ends` gives the rows of several runs of a cell whose
    students may end in another minimum (`other_minima.is_another`).
    """

    work: Callable
    tolerances: dict
    unrepeatable: tuple = ()
    beginning: Callable | None = None
    rows: int | None = None
    ends: Callable | None = None


def _displaced(work):
    return lambda cell: [work(cell, displaced=size) for size in (0, *other_minima.DISPLACEMENTS)]


def _each_as_first(cell):
    """The ends of a `ValleyCell` as runs: its starts are displaced already, and each end is one of the others."""
    rows = descend(cell)
    return [rows[k:] + rows[:k] for k in range(len(rows))]


def _each_start(cell):
    """What `search_first` gives, of each start of a `SearchCell`: rounding decides in which minimum a search ends."""
    rows = search(replace(cell, temperatures=()))
    return [rows[k : k + 2] for k in range(0, len(rows), 2)]


UNREPEATABLE = ("seconds", "steps", "grad_norm")  # the last digits decide when L-BFGS stops

KINDS = {
    StudentCell: Kind(train_students, TOLERANCES, UNREPEATABLE, ends=_displaced(train_students)),
    ControlledCell: Kind(train_controlled, TOLERANCES | dict.fromkeys(CONTROLS, (0, 1e-9)), UNREPEATABLE),
    LoopCell: Kind(follow, LOOP_TOLERANCES, ("grad_norm",)),
    LineCell: Kind(theory_line, THEORY_TOLERANCES),
    CountingCell: Kind(train_and_measure, HISTOGRAM_TOLERANCES, beginning=train_beginning, rows=BEGINNING),
    ExchangedCell: Kind(
        train_exchanged,
        HISTOGRAM_TOLERANCES | {"there": (0, 0.1), "elsewhere": (0, 0.02)},
        ("letter",),
        beginning=train_exchanged_beginning,
        rows=EXCHANGED,
    ),
    OneStepThresholdsCell: Kind(ground_states, ONE_STEP_TOLERANCES),
    RuleCell: Kind(coarse_line, THEORY_TOLERANCES | dict.fromkeys(("rule", "exact"), (5e-3, 0))),
    OneStepCell: Kind(along_y, ONE_STEP_TOLERANCES),
    CopiesCell: Kind(copies_line, THEORY_TOLERANCES | {"apart": (1e-2, 0), "apart_error": (0.1, 0)}),
    MessagePassingCell: Kind(measure, PASSING_TOLERANCES, ("change", "apart")),
    ValleyCell: Kind(
        descend, TOLERANCES | {"nearest": (0, 2e-3), "aligned": (0, 1e-4), "minimum": (0, 0)}, ends=_each_as_first
    ),
    SearchCell: Kind(search, TOLERANCES, ("hops", "aligned"), beginning=search_first, rows=2, ends=_each_start),
    ArchitectureLineCell: Kind(theory_line, LINE_TOLERANCES),
    ArchitectureCell: Kind(
        train_architecture, ARCHITECTURE_TOLERANCES, UNREPEATABLE, ends=_displaced(train_architecture)
    ),
}


def work(cell):
    """Rows of a cell of any kind."""
    return KINDS[type(cell)].work(cell)


def compute(cells, store_path, folder, workers=None, quiet=False, scheduler=None, here=False):
    """Compute the cells that neither the store nor their tables in `folder` have, and export them to `folder`.

    Where a `scheduler` is named, the cells run on its Dask cluster instead of `workers` processes; or in this process,
    one after the other, if `here`.

    Returns
    -------
    sweep.Summary

    Raises
    ------
    SweepError
        Some cells failed; the others are stored and exported.
    """
    with _executor(workers, scheduler, here) as executor:
        if BUILT in Path(store_path).parents:  # ours; a folder that the caller has named must be there
            Path(store_path).parent.mkdir(parents=True, exist_ok=True)
        with Store(store_path) as store:
            for name in sorted({cell.experiment for cell in cells}):
                if (path := Path(folder) / f"{name}.parquet").exists():
                    import_parquet(store, path)
            try:
                summary = sweep(cells, work, store, executor, quiet)
            finally:
                export(store, folder)
    if summary.failed:
        raise SweepError(f"{len(summary.failed)} of {len(cells)} cells failed, first: {summary.failed[0].error}")
    return summary


def _executor(workers, scheduler, here):
    if here:
        return ThreadPoolExecutor(1, initializer=torch.set_num_threads, initargs=(1,))
    if scheduler is None:
        return process_pool(workers)
    from ..store.cluster import cluster  # loads Dask, which nothing else needs

    return cluster(scheduler)


class OtherMinimum(NamedTuple):
    """A student that ended in another minimum: its cell and row, and the training loss stored and found now."""

    cell: str
    row: int
    stored: float
    recomputed: float


class Checked(NamedTuple):
    """What `check` found."""

    cells: int  # recomputed
    mismatches: list  # of sweep.Mismatch
    other_minima: list  # of OtherMinimum
    expected: other_minima.Expected  # of how many cells

    @property
    def problem(self):
        """What is wrong, in one line; None if nothing is."""
        if self.mismatches:
            return f"{len(self.mismatches)} stored values differ"
        if self.expected.chance < other_minima.MISSED:
            cells = len({each.cell for each in self.other_minima})
            return f"other minima in {cells} cells: {self.expected.cells:.1f} were expected"
        return None


def check(sample, seed=0, name=None, quiet=True):
    """Recompute `sample` random cells of the stored results, or of those of the experiment `name`.

    Progress is shown on stderr unless `quiet`.

    Returns
    -------
    Checked
    """
    check_count("sample", sample)
    check_count("seed", seed, at_least=0)
    files = sorted(DATA.glob(f"{name or '*'}.parquet"))
    if not files:
        raise StoreError(f"{DATA}: holds no results" + (f" of {name}" if name else ""))
    tables = [load(path) for path in files]
    cells = [table["cell"].drop_duplicates().astype(str) for table in tables]
    chosen = pd.concat(cells).sort_values().reset_index(drop=True)
    chosen = set(chosen.sample(min(sample, len(chosen)), random_state=seed))
    mismatches, others, drawn = [], [], []
    bar = progress(len(chosen), "cell", quiet)
    for path, table in zip(files, tables):
        cell_type = type(grid(path.stem, "smoke")[0])
        kind = KINDS[cell_type]
        for text, rows in table[table["cell"].isin(chosen)].groupby("cell", observed=True):
            if kind.beginning:
                rows = rows.head(kind.rows)
            tolerances = _tolerances(kind, rows)
            found = verify(rows, kind.beginning or kind.work, cell_type, 1, seed, tolerances, kind.unrepeatable)
            if kind.ends:
                drawn.append((other_minima.trained(rows), len(rows)))
            passed = _other_minima(restore(cell_type, text), rows, found, kind.ends, tolerances)
            others += passed
            mismatches += [] if passed else found
            bar.update()
    bar.close()
    expected = other_minima.expected(drawn, len({each.cell for each in others}))
    return Checked(len(chosen), mismatches, others, expected)


def _tolerances(kind, rows):
    if "linear_mse" not in kind.tolerances:
        return kind.tolerances
    relative, absolute = kind.tolerances["linear_mse"]
    terms = rows["alpha"].iloc[0] * rows["d"].iloc[0] ** 2
    return kind.tolerances | {"linear_mse": (relative, max(absolute, LINEAR_TERM * terms))}


def _other_minima(cell, rows, found, ends, tolerances):
    """The students of a cell that did not agree, if another minimum is what all its mismatches come from."""
    if not found or not ends or any(each.row is None or each.column not in tolerances for each in found):
        return []
    runs, stored, passed = ends(cell), rows.to_dict("records"), []
    for row in sorted({each.row for each in found}):
        if not other_minima.is_another(stored[row], [run[row] for run in runs], tolerances):
            return []
        losses = (each["train_loss"] for each in (stored[row], runs[0][row]))
        passed.append(OtherMinimum(found[0].cell, row, *losses))
    return passed
