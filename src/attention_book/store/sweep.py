"""The computation of many cells with any executor, and a store that saves each result when it is ready.

A cell is a frozen dataclass of JSON values. The function `work(cell)` returns one flat dict of results per start. The
store is an SQLite file with one row per cell. Only one process has the file open, and it writes each row in one
transaction. If this process is killed, every cell that was reported is in the file.
"""

import json
import os
import sqlite3
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Set
from concurrent.futures import BrokenExecutor, CancelledError, Executor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple

from tqdm import tqdm

from attention_phases.errors import BadInput, StoreError, SweepError
from attention_phases.records import canonical

from . import provenance
from .provenance import Row, check_rows, key

STORE_SCHEMA = 1
MINUTE = 60.0  # least number of seconds between two lines of progress in a log
TIMEOUT = 5  # seconds within which a scheduler must answer
QUEUE_LENGTH = 1024  # largest number of cells in the executor's queue; it should exceed the number of workers
TABLE = "CREATE TABLE cells (key TEXT PRIMARY KEY, cell TEXT, results TEXT, provenance TEXT) WITHOUT ROWID"
RESERVED_COLUMNS = {"cell", *provenance.ORIGIN}


class Store(AbstractContextManager["Store"]):
    """An SQLite file that stores the results of cells, and that only one process can open at a time.

    The file is created if it is missing. If it is in use or damaged, if it is no results store or has another schema, a
    `StoreError` is raised and the file is left as it was.
    """

    def __init__(self, path: os.PathLike | str):
        self.path = Path(path)
        with self._reporting(), ExitStack() as on_failure:
            self.path.open("ab").close()  # the error of the system says why this fails, the error of SQLite does not
            self._db = sqlite3.connect(self.path, timeout=0)  # fail at once if the file is locked
            on_failure.callback(self._db.close)
            self._open()
            on_failure.pop_all()

    def _open(self) -> None:
        # An exclusive lock lasts until the file is closed. It needs no shared memory, which network file systems lack.
        self._db.execute("PRAGMA locking_mode = EXCLUSIVE")
        empty = not self._db.execute("SELECT 1 FROM sqlite_master").fetchone()
        schema = self._pragma("user_version")
        if not empty and schema != STORE_SCHEMA:
            self._refuse(f"no results of schema {STORE_SCHEMA}, which this version reads, but of {schema}")
        if (damage := self._damage()) != "ok":
            self._refuse(f"damaged ({damage})")
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")  # a reported result survives a power cut, too
        with self._db:
            self._db.execute("BEGIN IMMEDIATE")  # takes the lock, so that the schema is written whole or not at all
            if empty:
                self._db.execute(TABLE)
                self._db.execute(f"PRAGMA user_version = {STORE_SCHEMA}")

    def _pragma(self, name: str) -> Any:
        return self._db.execute(f"PRAGMA {name}").fetchone()[0]

    def _refuse(self, reason: str) -> None:
        raise StoreError(f"store {self.path}: {reason}; it was left as it is")

    def _damage(self) -> str:
        """Return a message about damage to the file, or "ok"."""
        damage = str(self._pragma("quick_check(1)")).splitlines()[0]
        log = Path(f"{self.path}-wal")
        pages_in_log = log.exists() and log.stat().st_size  # a process that was killed leaves a log
        size = self._pragma("page_count") * self._pragma("page_size")
        # The size is checked here, because SQLite reads the missing end of the last page as zeros.
        too_short = self.path.stat().st_size < size and not pages_in_log
        return "the file is too short" if damage == "ok" and too_short else damage

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            busy = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
            why = getattr(error, "strerror", None) or str(error).splitlines()[0]
            raise StoreError(f"store {self.path}: {'in use by another process' if busy else why}") from error

    def __exit__(self, *error: object) -> None:
        self._db.close()

    def keys(self) -> set[str]:
        """Return the keys (`provenance.key`) of all stored cells."""
        with self._reporting():
            return {stored for (stored,) in self._db.execute("SELECT key FROM cells")}

    def put(self, cell: Any, rows: Iterable[Row], origin: Row) -> None:
        """Store the results of a cell durably, or raise `StoreError` if the cell is stored already.

        rows: one flat dict per start, see `provenance.check_rows`, without the cell's own names.
        origin: values for `provenance.ORIGIN`.
        """
        text = canonical(cell)
        results = json.dumps(check_rows(rows, taken=RESERVED_COLUMNS | json.loads(text).keys()))
        with self._reporting(), self._db:
            self._db.execute("INSERT INTO cells VALUES (?, ?, ?, ?)", (key(text), text, results, json.dumps(origin)))

    def items(self) -> Iterator[tuple[str, list[Row], Row]]:
        """Yield a tuple for each cell: its canonical JSON, its rows and its provenance.

        The cells are in the order of their keys.
        """
        with self._reporting():
            for text, rows, origin in self._db.execute("SELECT cell, results, provenance FROM cells"):
                yield text, json.loads(rows), json.loads(origin)


class Summary(NamedTuple):
    """The outcome of a sweep: how many cells were computed or skipped, and the error of each cell that failed.

    A cell is skipped if its results are known. It counts as `elsewhere`, too, if these results are not in the store.
    """

    done: int
    skipped: int
    failed: dict[str, str]  #: errors in one line, by the canonical JSON of the cell
    elsewhere: int


def progress(total: int, unit: str, quiet: bool = False, done: int = 0) -> tqdm:
    """Return a progress display on stderr with the remaining time: a bar in a terminal, or lines in a log.

    The result is a `tqdm` for a ``with`` block. Its ``update(n)`` counts n more units, in addition to the units that
    were `done` before. A log gets at most one line per minute.
    """
    return tqdm(total=total, unit=unit, smoothing=0, disable=quiet, initial=done, **bar_or_lines())


def bar_or_lines(told: str = "{remaining} left") -> dict[str, Any]:
    """Return options of `tqdm` that depend on whether stderr is a terminal.

    told: text about the time in a line of a log.
    """
    if sys.stderr.isatty():
        return {"file": sys.stderr}
    every = {"delay": MINUTE, "mininterval": MINUTE, "miniters": 1}
    return {**every, "bar_format": f"{{desc}} {{unit}} {{n_fmt}} of {{total_fmt}}, {told}\n"}


def run(
    cells: Iterable,
    work: Callable[[Any], list[Row]],
    store: Store,
    executor: Executor,
    quiet: bool = False,
    known: Set[str] = frozenset(),
) -> Summary:
    """Compute and store the cells that are neither in the store nor in `known`, and return a summary.

    A cell that fails is not stored, so the next run computes it again.

    work: a function that returns one flat dict per start; workers must be able to import it.
    quiet: show no progress bar (for batch jobs); failures are still printed on stderr.
    known: canonical JSON of cells whose results are kept elsewhere.

    Raises `SweepError` if a worker process died, if the connection to the cluster was lost, or if its workers cannot do
    the work. Raises `StoreError` if a result could not be written.
    """
    by_text = {canonical(cell): cell for cell in cells}
    stored = store.keys()
    missing = [cell for text, cell in by_text.items() if text not in known and key(text) not in stored]
    skipped = len(by_text) - len(missing)
    elsewhere = sum(key(text) not in stored for text in known & by_text.keys())
    todo = iter(missing)
    done, failed, pending, finished = 0, {}, {}, SimpleQueue()
    go_on = "they are stored, run again to go on"
    bar = progress(len(by_text), "cell", quiet, done=skipped)
    try:
        while True:
            while len(pending) < QUEUE_LENGTH and (cell := next(todo, None)):
                future = executor.submit(_compute, work, cell)
                pending[future] = cell
                future.add_done_callback(finished.put)
            if not pending:
                return Summary(done, skipped, failed, elsewhere)
            future = finished.get()
            cell = pending.pop(future)
            try:
                store.put(cell, *future.result())
                done += 1
            except (BrokenExecutor, StoreError, SweepError):
                raise
            except CancelledError as error:  # the scheduler has cancelled the cell
                raise SweepError(f"the connection to the scheduler was lost after {done} cells; {go_on}") from error
            except Exception as error:
                failed[canonical(cell)] = one_line(error)
                bar.write(f"failed: {canonical(cell)}: {one_line(error)}", file=sys.stderr)
            bar.update()
    except KeyboardInterrupt:
        stored = store.keys()  # includes any cell that is stored but not counted yet
        here = {text for text in by_text if key(text) in stored}
        kept = f"{len(here)} of {len(by_text)} cells are kept in {store.path}"
        elsewhere = f", {more} more in the table" if (more := len(known & by_text.keys() - here)) else ""
        raise KeyboardInterrupt(f"stopped: {kept}{elsewhere}; run again to go on") from None
    except BrokenExecutor as error:
        raise SweepError(f"a worker process died (killed, or out of memory?) after {done} cells; {go_on}") from error
    finally:
        for future in pending:
            future.cancel()
        bar.close()


def _compute(work: Callable[[Any], list[Row]], cell: Any) -> tuple[list[Row], Row]:
    """Compute a cell in a worker, and return its rows and its provenance."""
    start, before = time.perf_counter(), provenance.allocations()
    rows = work(cell)
    return rows, {
        **provenance.environment(before),
        "cell_seconds": time.perf_counter() - start,
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def one_line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())


# On a Dask cluster


@contextmanager
def cluster(address: str) -> Iterator[Executor]:
    """Yield an executor on the Dask cluster whose scheduler listens at `address`, such as tcp://host:8786.

    If a worker is lost, another worker takes over its work, as soon as there is one. Leaving the context does not end
    the cluster, nor a cell that a worker has begun, but the result of this cell is dropped. Raises `SweepError` if no
    scheduler answers, or if the scheduler or its workers lack this package.
    """
    import logging

    from distributed import Client  # slow to load
    from distributed.comm.addressing import get_address_host_port

    try:
        # Fail early: a client that rejects the address prints a second error when it exits.
        get_address_host_port(address, strict=True)
    except ValueError as error:
        raise BadInput("scheduler", address, f"an address such as tcp://host:8786 ({error})") from None
    try:
        client = Client(address, timeout=TIMEOUT, set_as_default=False)
    except Exception as error:  # another program at this address may cause any error
        raise SweepError(f"scheduler {address}: no Dask scheduler answers ({type(error).__name__}: {error})") from error
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # the sweep prints one line instead
    with client:
        try:
            client.run_on_scheduler(provenance.environment)  # the scheduler needs this package to pass on the work
            workers = client.run(provenance.environment)
        except Exception as error:  # Dask hides the type of errors on the cluster
            raise SweepError(f"scheduler {address}: it or a worker cannot do the work ({error})") from error
        if not workers:
            print(f"scheduler {address}: no workers yet, waiting for them", file=sys.stderr)
        yield _OnCluster(client)


class _OnCluster(Executor):
    """An executor on Dask that raises an error if a result is lost.

    Dask's own executor would wait for this result for ever.
    """

    def __init__(self, client):
        self._client = client

    def submit(self, call, *arguments):
        import asyncio  # slow to load

        task = self._client.submit(_call_in_one_thread, call, *arguments, pure=False)  # every task gets its own key

        async def result():
            return await task

        return asyncio.run_coroutine_threadsafe(result(), self._client.loop.asyncio_loop)  # pyright: ignore


def _call_in_one_thread(call: Callable, *arguments):
    """Call a function and return its result, or raise `SweepError` if the worker uses more than one thread.

    The cells are computed in parallel instead, and the number of threads changes the rounding of floats.
    """
    from distributed import get_worker

    from attention_phases.machine import ONE_THREAD

    os.environ.setdefault("NUMBA_NUM_THREADS", "1")  # Dask's nanny sets the other variables
    worker = get_worker()
    threads = {"nthreads": str(worker.state.nthreads)} | {name: os.environ.get(name) for name in ONE_THREAD}
    for name, value in threads.items():
        if value != "1":
            raise SweepError(f"worker {worker.address}: {name} = {value}: must be 1 (dask worker --nthreads 1 --nanny)")
    return call(*arguments)
