"""Compute the cells of a sweep over any executor, such as that of a Dask cluster, and store each result as it comes.

A cell is a frozen dataclass of JSON values; `work(cell)` returns one flat dict of results per start. The store is an
SQLite file with one row a cell, each written in one transaction by the one process that has it open. After a kill at
any moment every cell that was reported is there.
"""

import json
import os
import sqlite3
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Set
from concurrent.futures import BrokenExecutor, CancelledError, Executor
from contextlib import contextmanager
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
MINUTE = 60.0  # least seconds between lines of progress in a log
TIMEOUT = 5  # seconds in which a scheduler must answer
AHEAD = 1024  # cells at most that wait in the executor's queue, more than it has workers
TABLE = "CREATE TABLE cells (key TEXT PRIMARY KEY, cell TEXT, results TEXT, provenance TEXT) WITHOUT ROWID"
RESERVED = {"cell", *provenance.ORIGIN}


class Store:
    """Results by cell in an SQLite file, made if missing and held by one process from opening to closing.

    A file that is in use, damaged, no results store or of another schema is a `StoreError`, and left as it was.
    """

    def __init__(self, path: os.PathLike | str):
        self.path = Path(path)
        with self._reporting():
            self.path.open("ab").close()  # the system says why that fails, SQLite does not
            self._db = sqlite3.connect(self.path, timeout=0)  # a held lock is an error at once
        try:
            with self._reporting():
                self._open()
        except BaseException:
            self._db.close()
            raise

    def _open(self) -> None:
        # Exclusive: the lock lasts until close, and no shared memory is needed (network file systems).
        self._db.execute("PRAGMA locking_mode = EXCLUSIVE")
        empty = not self._db.execute("SELECT 1 FROM sqlite_master").fetchone()
        schema = self._pragma("user_version")
        if not empty and schema != STORE_SCHEMA:
            self._refuse(f"no results of schema {STORE_SCHEMA}, which this version reads, but of {schema}")
        if (damage := self._damage()) != "ok":
            self._refuse(f"damaged ({damage})")
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")  # a reported result survives a power cut too
        with self._db:
            self._db.execute("BEGIN IMMEDIATE")  # takes the lock; all of the schema or nothing
            if empty:
                self._db.execute(TABLE)
                self._db.execute(f"PRAGMA user_version = {STORE_SCHEMA}")

    def _pragma(self, name: str) -> Any:
        return self._db.execute(f"PRAGMA {name}").fetchone()[0]

    def _refuse(self, reason: str) -> None:
        raise StoreError(f"store {self.path}: {reason}; it was left as it is")

    def _damage(self) -> str:
        """What is wrong with the file, or "ok"."""
        damage = str(self._pragma("quick_check(1)")).splitlines()[0]
        log = Path(f"{self.path}-wal")
        pages_in_log = log.exists() and log.stat().st_size  # left by a kill
        size = self._pragma("page_count") * self._pragma("page_size")
        # SQLite itself reads the cut end of a last page as zeros.
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

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *error: object) -> None:
        self._db.close()

    def keys(self) -> set[str]:
        """Return the keys (`provenance.key`) of all stored cells."""
        with self._reporting():
            return {stored for (stored,) in self._db.execute("SELECT key FROM cells")}

    def put(self, cell: Any, rows: Iterable[Row], origin: Row) -> None:
        """Store the results of a cell, durable on return. A cell that is stored already is a `StoreError`.

        rows: one flat dict a start, see `provenance.check_rows`, without the cell's own names.
        origin: values for `provenance.ORIGIN`.
        """
        text = canonical(cell)
        results = json.dumps(check_rows(rows, taken=RESERVED | json.loads(text).keys()))
        with self._reporting(), self._db:
            self._db.execute("INSERT INTO cells VALUES (?, ?, ?, ?)", (key(text), text, results, json.dumps(origin)))

    def items(self) -> Iterator[tuple[str, list[Row], Row]]:
        """Yield the canonical JSON of each cell, its rows and its provenance, in order of the keys."""
        with self._reporting():
            for text, rows, origin in self._db.execute("SELECT cell, results, provenance FROM cells"):
                yield text, json.loads(rows), json.loads(origin)


class Failure(NamedTuple):
    """A cell that raised, and one line that says why."""

    cell: object
    error: str


class Summary(NamedTuple):
    """What `run` did: cells computed, cells known before, the failures, and known cells that the store has not."""

    done: int
    skipped: int
    failed: list[Failure]
    elsewhere: int


def progress(total: int, unit: str, quiet: bool = False, done: int = 0) -> tqdm:
    """Progress of work that takes a while, on stderr, with the time left: a bar, or in a log at most a line a minute.

    A `tqdm` for a ``with`` block, whose ``update(n)`` counts n units more, beyond those that were `done` before.
    """
    return tqdm(total=total, unit=unit, smoothing=0, disable=quiet, initial=done, **bar_or_lines())


def bar_or_lines(told: str = "{remaining} left") -> dict[str, Any]:
    """Options of `tqdm`, by whether there is a terminal. told: of the time, in a log."""
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
    """Compute the cells that are neither in the store nor `known`. A failed one is not stored: the next run retries it.

    work: gives a flat dict a start; importable by the workers.
    quiet: no progress bar (batch jobs); failures are still printed on stderr.
    known: canonical JSON of cells whose results are kept elsewhere.

    Raises `SweepError` where a worker process died, the cluster was lost, or its workers are not fit for the work, and
    `StoreError` where a result could not be written.
    """
    by_text = {canonical(cell): cell for cell in cells}
    stored = store.keys()
    missing = [cell for text, cell in by_text.items() if text not in known and key(text) not in stored]
    skipped = len(by_text) - len(missing)
    elsewhere = sum(key(text) not in stored for text in known & by_text.keys())
    todo = iter(missing)
    done, failed, pending, finished = 0, [], {}, SimpleQueue()
    go_on = "they are stored, run again to go on"
    bar = progress(len(by_text), "cell", quiet, done=skipped)
    try:
        while True:
            while len(pending) < AHEAD and (cell := next(todo, None)):
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
            except CancelledError as error:  # not by us
                raise SweepError(f"the connection to the scheduler was lost after {done} cells; {go_on}") from error
            except Exception as error:
                failed.append(Failure(cell, one_line(error)))
                bar.write(f"failed: {canonical(cell)}: {failed[-1].error}", file=sys.stderr)
            bar.update()
    except KeyboardInterrupt:
        stored = store.keys()  # with one that was not yet counted
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
    """Rows and provenance of a cell; runs in the worker."""
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
    """Context of an executor on the Dask cluster whose scheduler listens at `address`, such as tcp://host:8786.

    Work of a lost worker goes to another one, or waits for one. Leaving the context ends neither the cluster
    nor a cell that a worker has begun; the result of that is dropped. Where no scheduler answers, or it or its workers
    lack this package, that is a `SweepError`.
    """
    import logging

    from distributed import Client  # slow to load
    from distributed.comm.addressing import get_address_host_port

    try:
        get_address_host_port(address, strict=True)  # a client that refuses it complains again when it is dropped
    except ValueError as error:
        raise BadInput("scheduler", address, f"an address such as tcp://host:8786 ({error})") from None
    try:
        client = Client(address, timeout=TIMEOUT, set_as_default=False)
    except Exception as error:  # of any kind, if another program answers there
        raise SweepError(f"scheduler {address}: no Dask scheduler answers ({type(error).__name__}: {error})") from error
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # tracebacks, where the sweep says it in a line
    with client:
        try:
            client.run_on_scheduler(provenance.environment)  # it reads what it passes on
            workers = client.run(provenance.environment)
        except Exception as error:  # Dask hides the type of theirs
            raise SweepError(f"scheduler {address}: it or a worker cannot do the work ({error})") from error
        if not workers:
            print(f"scheduler {address}: no workers yet, waiting for them", file=sys.stderr)
        yield _OnCluster(client)


class _OnCluster(Executor):
    """Dask's own one leaves a future open for ever when its result is lost on the way here."""

    def __init__(self, client):
        self._client = client

    def submit(self, call, *arguments):
        import asyncio  # slow to load

        task = self._client.submit(_by_one_thread, call, *arguments, pure=False)  # a new key: no other run's result

        async def result():
            return await task

        return asyncio.run_coroutine_threadsafe(result(), self._client.loop.asyncio_loop)  # pyright: ignore


def _by_one_thread(call: Callable, *arguments):
    """The call's result; `SweepError` from a worker that uses more threads.

    The cells are the parallelism, and thread counts change float rounding.
    """
    from distributed import get_worker

    from attention_phases.machine import ONE_THREAD

    os.environ.setdefault("NUMBA_NUM_THREADS", "1")  # Dask's nanny sets the others
    worker = get_worker()
    threads = {"nthreads": str(worker.state.nthreads)} | {name: os.environ.get(name) for name in ONE_THREAD}
    for name, value in threads.items():
        if value != "1":
            raise SweepError(f"worker {worker.address}: {name} = {value}: must be 1 (dask worker --nthreads 1 --nanny)")
    return call(*arguments)
