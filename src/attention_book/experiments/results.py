"""The results of experiments, loaded from `data/` or computed, and the results of the user's own sweeps."""

import json
import os
import shutil
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import fields
from functools import partial
from inspect import signature
from pathlib import Path

from filelock import FileLock

from attention_phases.errors import BadInput, ResultError, StoreError, SweepError, check_kind
from attention_phases.machine import SpawnWithoutScript, choose_device, process_pool
from attention_phases.model.architectures import Architecture
from attention_phases.records import canonical, origin_of
from attention_phases.task import Task

from ..paths import BUILT, DATA, checkout
from ..store import provenance
from ..store.parquet import column_value, export, load
from ..store.sweep import Store, cluster, run
from . import GRIDS, grid
from .kinds import compute_rows
from .own import own_cells

STORE_NAME = "ATTENTION_PHASES_STORED"  # environment variable that names a folder of results at reduced size, for tests
DEFAULTS = {field.name: field.default for kind in (Task, Architecture) for field in fields(kind)}
READINGS = []  # name and changed parameters of each experiment that `read` has returned in this process


def read(name, profile, task=None, **changes):
    """Return the results of an experiment as a data frame, with a row for each cell and start.

    Each call is recorded in `READINGS`, so that a figure can name its data.

    Args:
        name: a key of `experiments.GRIDS`.
        profile: "paper" reads `data/` and computes the results that are missing there. "laptop" and "smoke" compute
            everything at reduced size and keep it under `_build/results/` until the code that computes it changes. If
            `STORE_NAME` names a folder, they only read it, and a missing result is a `ResultError`.
        task: the `Task` of all cells, if it may differ from the published one.
        changes: parameters of the experiment that differ from the published ones, such as ``omega=0.4``.
    """
    changes = (vars(task) if task else {}) | changes
    cells = grid(name, profile, **changes)
    if (name, changes) not in READINGS:
        READINGS.append((name, changes))
    return read_cells(name, profile, cells)


def read_cells(name, profile, cells):
    """Return the results of given cells of an experiment as a data frame.

    The cells need not be in the grid of the experiment, and the call is not recorded in `READINGS`.
    """
    kept = stored_folder(profile)
    rows = cell_rows(kept / f"{name}.parquet", cells) if kept else None
    if rows is not None:
        return rows
    if kept and profile != "paper":
        raise ResultError(f"{kept / name}.parquet: lacks results of the {profile} profile; make reference adds them")
    stored = DATA / f"{name}.parquet"
    folder = folder_of(profile)
    table = folder / stored.name
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / f"{name}.lock"):  # if several notebooks need the table, one computes it and the others wait
        if profile == "paper" and stored.exists() and not table.exists():
            shutil.copy(stored, table)
        if cell_rows(table, cells) is None:
            in_process = profile == "smoke"  # starting processes would take longer than the cells
            compute(cells, folder / f"{name}.sqlite", folder, workers=None, quiet=True, in_process=in_process)
    return cell_rows(table, cells)


def sweep(sizes, store, workers=None, quiet=False, scheduler=None, device="cpu"):
    """Train students for every combination of the given parameters, and return the results as a data frame.

    If a sweep is stopped, the same call continues it.

    >>> from tempfile import TemporaryDirectory
    >>> from attention_book import sweep
    >>> with TemporaryDirectory() as folder:
    ...     table = sweep({"omega": [0.2, 0.3], "alpha": 1.0, "d": 20, "seeds": 2}, f"{folder}/mine.sqlite", workers=1)
    >>> table.groupby(["omega", "start"]).size().tolist()
    [2, 2, 2, 2]

    Each row has the columns of `train` except `converged`, the columns of its cell, and its provenance.

    Args:
        sizes: a dictionary with `alpha`, `d`, parameters of a `Task` and an `Architecture`, `optimizer`, `starts`, and
            `seeds`, as for `train`. A list, a range or an array is an axis, unless a single value of the parameter is a
            list. Numbers of an array are rounded to 12 digits, so that 0.3 in `linspace` equals 0.3 in a list. Instead
            of a dictionary, `sizes` may be a list of cells.
        store: SQLite file that keeps the results as they come. The table of all cells in the store is written beside it
            as Parquet. The returned table has only the cells of these sizes. Its `attrs` name both files.
        workers: number of processes, by default one per core; 1 means this process.
        quiet: show no progress on stderr.
        scheduler: address of a Dask cluster, which replaces the workers.
        device: as for `train`. On a GPU the cells run in this process unless `workers` are given, and the column
            `accelerator` names the GPU.
    """
    check_kind("sizes", sizes, Mapping | list | tuple)
    check_kind("store", store, str | Path)
    check_kind("scheduler", scheduler, str | None)
    check_kind("quiet", quiet, bool)
    store = Path(store)
    cells = own_cells(sizes, store.stem) if isinstance(sizes, Mapping) else [*sizes]
    names = {getattr(cell, "experiment", None) for cell in cells}
    if len(names) != 1 or None in names:
        raise BadInput("sizes must be a dictionary of named sizes or a list of at least one cell, of one experiment")
    in_process = workers == 1 and scheduler is None
    compute(cells, store, store.parent, workers, quiet, scheduler, device, in_process)
    table = store.parent / f"{cells[0].experiment}.parquet"
    rows = cell_rows(table, cells)
    rows.attrs |= origin_of(store=str(store), table=str(table))
    return rows


def cell_rows(path, cells):
    """Return the rows of given cells in a table, or None if the table lacks any of these cells."""
    if not path.exists():
        return None
    rows, wanted = load(path), {canonical(cell) for cell in cells}
    return rows[rows["cell"].isin(wanted)] if wanted <= set(rows["cell"]) else None


def stored_folder(profile):
    """Return the folder of stored results that a profile reads, or None if the profile computes all results."""
    named = os.environ.get(STORE_NAME)
    return DATA if profile == "paper" else named and Path(named)


def folder_of(profile):
    """Return the folder of the results that are computed for a profile.

    Its name changes when the code changes.
    """
    checkout()
    return BUILT / profile / provenance.source_digest()


def compute(cells, store_path, folder, workers, quiet, scheduler=None, device="cpu", in_process=False):
    """Compute the cells that are not stored yet, export the results, and return a summary.

    A cell is stored if it is in the store or in the table, which is in `folder`. The cells run in `workers` processes.
    If a `scheduler` is named, they run on its Dask cluster instead. If `in_process` is true, they run in this process,
    one after the other. If some cells fail, all others are stored and exported before `SweepError` is raised.
    """
    if device != "cpu":
        if apart := {type(cell).__name__ for cell in cells if "device" not in signature(cell.kind.worker).parameters}:
            raise BadInput(f"device {device} cannot compute the cells {', '.join(sorted(apart))}: use cpu")
        if scheduler is None and "cuda" in {choose_device(device, cell.d) for cell in cells}:
            in_process = in_process or workers is None
    on_device = partial(compute_rows, device=device) if device != "cpu" else compute_rows
    if Path(store_path).suffix == ".parquet":  # only the table has this suffix
        raise BadInput("store", str(store_path), "an SQLite file, such as mine.sqlite; the table is written beside it")
    with _kept_message(store_path), _executor(workers, scheduler, in_process) as executor:
        if BUILT in Path(store_path).parents:  # a folder outside `BUILT` must exist already
            Path(store_path).parent.mkdir(parents=True, exist_ok=True)
        table = Path(folder) / f"{cells[0].experiment}.parquet"
        known = set(load(table)["cell"]) if table.exists() else set()
        with Store(store_path) as store:
            try:
                summary = run(cells, on_device, store, executor, quiet, known)
            finally:
                try:
                    export(store, folder, {} if cells[0].experiment in GRIDS else meanings())
                except StoreError as error:  # for example, the disk is full
                    raise StoreError(f"{error}; cells computed are in {store_path}, run again to go on") from error
    if summary.failed:
        first = next(iter(summary.failed.values()))
        raise SweepError(f"{len(summary.failed)} of {len(cells)} cells failed, first: {first}")
    return summary


@contextmanager
def _kept_message(store_path):
    """Make the message of Ctrl-C say that computed cells are kept, even while processes start or a table is written."""
    try:
        yield
    except KeyboardInterrupt as stop:
        said = f"stopped: cells that were computed are kept in {store_path}; run again to go on"
        raise KeyboardInterrupt(str(stop) or said) from None


def meanings():
    """Return a dictionary of the column descriptions that `export` writes.

    They are read from the Data Package of the stored tables, if it exists.
    """
    path = DATA / "datapackage.json"
    tables = json.loads(path.read_text(encoding="utf-8"))["resources"] if path.exists() else []
    described = {field["name"]: field for table in tables for field in table["schema"]["fields"]}
    usual = {name: {"usual": column_value(value)} for name, value in DEFAULTS.items()}  # fields that cells lack
    return {name: described.get(name, {}) | usual.get(name, {}) for name in {**described, **usual}}


def _executor(workers, scheduler, in_process):
    if in_process:
        from torch import set_num_threads  # slow to load, and not needed for reading results

        return ThreadPoolExecutor(1, initializer=set_num_threads, initargs=(1,))
    return process_pool(workers, SpawnWithoutScript()) if scheduler is None else cluster(scheduler)
