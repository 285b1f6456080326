"""Compute the cells of a sweep over any executor, store each result as it comes, and check stored ones.

A cell is a frozen dataclass of JSON values; `work(cell)` returns one flat dict of results per start.
"""

import sys
import time
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from datetime import UTC, datetime
from queue import SimpleQueue
from typing import Any, NamedTuple

import pandas as pd

from attention_phases.errors import StoreError, SweepError

from ..progress import progress
from . import provenance
from .database import Store
from .identity import Row, canonical, check_rows, flattened, key, restore
from .parquet import flat


class Failure(NamedTuple):
    """A cell that raised, and one line that says why."""

    cell: object
    error: str


class Summary(NamedTuple):
    """What `run` did: cells computed, cells known before, and the failures."""

    done: int
    skipped: int
    failed: list


def run(
    cells: Iterable,
    work: Callable[[Any], list[Row]],
    store: Store,
    executor: Executor,
    quiet: bool = False,
    known: Collection[str] = (),
    ahead: int = 1024,
) -> Summary:
    """Compute the cells that are neither in the store nor `known`. A failed one is not stored: the next run retries it.

    Args:
        work: gives a flat dict a start; importable by the workers.
        quiet: no progress bar (batch jobs); failures are still printed on stderr.
        known: canonical JSON of cells whose results are kept elsewhere.
        ahead: at most so many cells wait in the executor's queue, more than it has workers.

    Raises `SweepError` where a worker process died, the cluster was lost, or its workers are not fit for the work, and
    `StoreError` where a result could not be written.
    """
    by_text = {canonical(cell): cell for cell in cells}
    stored = store.keys()
    missing = [cell for text, cell in by_text.items() if text not in known and key(text) not in stored]
    skipped = len(by_text) - len(missing)
    todo = iter(missing)
    done, failed, pending, finished = 0, [], {}, SimpleQueue()
    bar = progress(len(by_text), "cell", quiet, done=skipped)
    try:
        while True:
            while len(pending) < ahead and (cell := next(todo, None)):
                future = _submit(executor, _compute, work, cell)
                pending[future] = cell
                future.add_done_callback(finished.put)
            if not pending:
                return Summary(done, skipped, failed)
            future = finished.get()
            cell = pending.pop(future)
            try:
                store.put(cell, *future.result())
                done += 1
            except (BrokenExecutor, StoreError, SweepError):
                raise
            except CancelledError as error:  # nobody does that here
                raise SweepError(
                    f"the connection to the scheduler was lost after {done} cells; they are stored, run again to go on"
                ) from error
            except Exception as error:
                failed.append(Failure(cell, _one_line(error)))
                bar.write(f"failed: {canonical(cell)}: {failed[-1].error}", file=sys.stderr)
            bar.update()
    except BrokenExecutor as error:
        raise SweepError(
            f"a worker process died (killed, or out of memory?) after {done} cells; they are stored, run again to go on"
        ) from error
    finally:
        for future in pending:
            future.cancel()
        bar.close()


def _submit(executor: Executor, *call: Any) -> Future:
    """A future in any case, so that results that came before a pool broke are still stored first."""
    try:
        return executor.submit(*call)
    except BrokenExecutor as error:
        future = Future()
        future.set_exception(error)
        return future


def _compute(work: Callable[[Any], list[Row]], cell: Any) -> tuple[list[Row], Row]:
    """Rows and provenance of a cell; runs in the worker."""
    start = time.perf_counter()
    rows = work(cell)
    return rows, {
        **provenance.environment(),
        "cell_seconds": time.perf_counter() - start,
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _one_line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())


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


def recompute(
    rows: pd.DataFrame,
    cell_type: type,
    work: Callable[[Any], list[Row]],
    tolerances: dict[str, tuple[float, float]],
    ignore: Collection[str] = ("seconds",),
) -> list[Mismatch]:
    """Compute a stored cell again and compare every column.

    Args:
        rows: those of one cell, as from `parquet.load`.
        tolerances: column to (relative, absolute): ``|stored - recomputed| <= absolute + relative |recomputed|``.
            A column without one must be equal.
        ignore: columns that no two runs share.
    """
    text = str(rows["cell"].iloc[0])
    stored = rows.to_dict("records")
    try:
        cell = restore(cell_type, text)
        found = check_rows(work(cell))
    except Exception as error:
        return [Mismatch(text, "error", None, _one_line(error), (0, 0))]
    mismatches = []
    if len(found) != len(stored):
        mismatches.append(Mismatch(text, "rows", len(stored), len(found), (0, 0)))
    fields = {name: flat(value) for name, value in flattened(cell).items()}
    left_out = {"cell", *provenance.COLUMNS, *ignore}
    for row, (old, new) in enumerate(zip(stored, found)):
        old = {name: value for name, value in old.items() if not pd.isna(value)}
        new = {**fields, **new}
        for column in sorted((old.keys() | new.keys()) - left_out):
            tolerance = tolerances.get(column, (0, 0))
            if not agree(old.get(column), new.get(column), *tolerance):
                mismatches.append(Mismatch(text, column, old.get(column), new.get(column), tolerance, row))
    return mismatches


def agree(stored: object, recomputed: object, relative: float, absolute: float) -> bool:
    """Whether two values are equal, or numbers that differ by no more than allowed."""
    if stored == recomputed:
        return True
    if not (isinstance(stored, (int, float)) and isinstance(recomputed, (int, float))):
        return False
    return abs(stored - recomputed) <= absolute + relative * abs(recomputed)
