"""Results of an experiment: read from `data/` where they are, computed where they are missing."""

import os
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import torch
from filelock import FileLock

from . import provenance
from .cells import Cell, Copies, Line, Passing, Starts, Variant, VariantLine
from .convergence import measure
from .errors import StoreError, SweepError, check_count
from .experiments import grid
from .histogram.cells import Run
from .histogram.training import BEGINNING, run_beginning
from .histogram.training import run as run_histogram
from .landscape import descend
from .records import canonical
from .simulation import run
from .store import Store, export, import_parquet, load
from .sweep import process_pool, verify
from .sweep import run as sweep
from .theory import general_line, theory_line
from .theory.copies import copies_line
from .variants import run_variant

ROOT = Path(__file__).resolve().parents[2]  # the checkout, of which the package is an editable install
DATA = Path(os.environ.get("ATTENTION_PHASES_DATA", ROOT / "data"))
BUILT = ROOT / "_build" / "results"

# (relative, absolute) as `sweep.verify` takes them. Two runs of one cell whose sums are rounded in another order end
# in points that differ by |grad R| over the softest curvature: up to 3e-5 in the overlaps at d = 1000, and 3e-10 in the
# loss, which is flat there. The tolerances are ten times that and more, and a hundredth of the spread between seeds.
TOLERANCES = {
    "q": (0, 3e-4),
    "m": (0, 3e-4),
    "theta": (0, 3e-4),
    "train_loss": (0, 1e-8),
    "test_mse": (0, 3e-6),
    # The fit's sums are in float32: two processors differ by up to 3e-7 at d = 1000. Data sets scatter by 2e-4.
    "linear_mse": (0, 5e-7),
}
COLUMNS = ("q_11", "q_12", "q_22", "m_1", "m_2", "theta_1", "theta_2")  # of two columns, without sigma^2
# Wider ones: a column, the values of it that they are for, and what they are.
WIDER = (
    # At d = 2000 the fit has four times as many terms: 1.1e-6 (rms), 1.8e-6 at most in 12 data sets.
    ("d", lambda d: d >= 2000, {"linear_mse": (0, 5e-6)}),
    # With a value matrix many minima lie close together: of 24 cells whose starts were displaced by one rounding, nine
    # in ten ended within 5e-4 of the losses, and all within 9e-3 of them and 9e-4 in m.
    ("form", lambda form: form == "value", {"train_loss": (2e-2, 0), "test_mse": (2e-2, 0), "m": (0, 2e-3)}),
)
VARIANT_TOLERANCES = TOLERANCES | dict.fromkeys(COLUMNS, (0, 1e-3))
# Where the prox jumps the solver ends within a fifth of an error bar of the fixed point, and rounding decides where.
OF_THEORY = ("alpha", "resolved", "q", "m", "theta", "V", "train_loss", "test_mse", "replicon")
THEORY_TOLERANCES = {name: (1e-3, 1e-9) for name in OF_THEORY} | {f"{name}_error": (5e-2, 1e-9) for name in OF_THEORY}
OF_LINES = (*OF_THEORY, *COLUMNS, "gain")
LINE_TOLERANCES = {name: (1e-3, 1e-9) for name in OF_LINES} | {f"{name}_error": (5e-2, 1e-9) for name in OF_LINES}
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
    its first rows, `rows` in number, and those are compared.
    """

    work: Callable
    tolerances: dict
    unrepeatable: tuple = ()
    beginning: Callable | None = None
    rows: int | None = None


KINDS = {
    Cell: Kind(run, TOLERANCES, ("seconds", "steps", "grad_norm")),  # the last digits decide when L-BFGS stops
    Line: Kind(theory_line, THEORY_TOLERANCES),
    Run: Kind(run_histogram, HISTOGRAM_TOLERANCES, beginning=run_beginning, rows=BEGINNING),
    Copies: Kind(copies_line, THEORY_TOLERANCES | {"apart": (1e-2, 0), "apart_error": (0.1, 0)}),
    Passing: Kind(measure, PASSING_TOLERANCES, ("change", "apart")),
    Starts: Kind(descend, TOLERANCES | {"nearest": (0, 2e-3), "aligned": (0, 1e-4)}),
    VariantLine: Kind(general_line, LINE_TOLERANCES),
    Variant: Kind(run_variant, VARIANT_TOLERANCES, ("seconds", "steps", "grad_norm")),
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
    with _executor(workers, scheduler, here) as executor, Store(store_path) as store:
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
    from .cluster import cluster  # loads Dask, which nothing else needs

    return cluster(scheduler)


def check(sample, seed=0, name=None):
    """Recompute `sample` random cells of the stored results, or of those of the experiment `name`.

    Returns
    -------
    count : int
        Cells recomputed.
    mismatches : list of sweep.Mismatch
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
    mismatches = []
    for path, table in zip(files, tables):
        rows = table[table["cell"].isin(chosen)]
        if len(rows):
            cell_type = type(grid(path.stem, "smoke")[0])
            kind = KINDS[cell_type]
            if kind.beginning:
                rows = rows.groupby("cell", observed=True).head(kind.rows)
            again = kind.beginning or kind.work
            flags = [holds(rows[name]) if name in rows else 0 * rows.index for name, holds, _ in WIDER]
            for flagged, part in rows.groupby(flags):
                tolerances = dict(kind.tolerances)
                for applies, (_, _, wider) in zip(flagged, WIDER):
                    tolerances |= wider if applies else {}
                mismatches += verify(part, again, cell_type, len(part), seed, tolerances, kind.unrepeatable)
    return len(chosen), mismatches
