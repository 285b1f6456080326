"""Compute the cells of a sweep over any executor, and store each result as it comes.

A cell is a frozen dataclass of JSON values; `work(cell)` returns one flat dict of results per start.
"""

import sys
import time
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import BrokenExecutor, CancelledError, Executor
from datetime import UTC, datetime
from queue import SimpleQueue
from typing import Any, NamedTuple

from tqdm import tqdm

from attention_phases.errors import StoreError, SweepError

from .database import Store
from .identity import Row, canonical, key
from .provenance import environment


class Failure(NamedTuple):
    """A cell that raised, and one line that says why."""

    cell: object
    error: str


class Summary(NamedTuple):
    """What `run` did: cells computed, cells known before, and the failures."""

    done: int
    skipped: int
    failed: list[Failure]


def progress(total: int, unit: str, quiet: bool = False, done: int = 0) -> tqdm:
    """Progress of work that takes a while, on stderr, with the time left, and only where somebody watches.

    A `tqdm` for a ``with`` block, whose ``update(n)`` counts n units more, beyond those that were `done` before.
    """
    hidden = True if quiet else None  # None: tqdm looks whether there is a terminal
    return tqdm(total=total, unit=unit, smoothing=0, file=sys.stderr, disable=hidden, initial=done)


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
                future = executor.submit(_compute, work, cell)
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
                failed.append(Failure(cell, one_line(error)))
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


def _compute(work: Callable[[Any], list[Row]], cell: Any) -> tuple[list[Row], Row]:
    """Rows and provenance of a cell; runs in the worker."""
    start = time.perf_counter()
    rows = work(cell)
    return rows, {
        **environment(),
        "cell_seconds": time.perf_counter() - start,
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def one_line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())
