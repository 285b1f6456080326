"""A process pool for numerical work: one thread a worker, and no worker outlives the run."""

import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import connection, get_context, parent_process

from attention_phases.errors import check_count

# One thread a worker: the cells are the parallelism, and thread counts change float rounding.
ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")}


@contextmanager
def process_pool(workers: int | None = None) -> Iterator[ProcessPoolExecutor]:
    """Context of a `ProcessPoolExecutor` whose workers use one thread each, all cores by default.

    Workers are spawned, not forked: torch and numba threads do not survive a fork. Leaving the context
    by an exception (Ctrl-C) ends the workers at once; a killed parent takes its workers along.
    """
    workers = check_count("workers", os.cpu_count() if workers is None else workers)
    # Workers read these when NumPy and torch load, and are spawned as cells come: set for the whole context.
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(ONE_THREAD)
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_guard)
    try:
        yield pool
    except BaseException:
        # What Executor.terminate_workers does from Python 3.14 on.
        for process in list((pool._processes or {}).values()):
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _guard() -> None:
    """Leave Ctrl-C to the parent, and end when the parent does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def follow(parent: int) -> None:
        connection.wait([parent])
        os._exit(1)

    if parent := parent_process():
        threading.Thread(target=follow, args=(parent.sentinel,), daemon=True).start()
