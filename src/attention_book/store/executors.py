"""Where cells are computed: in processes of this machine, or on a Dask cluster of any number of them.

Every worker uses one thread: the cells are the parallelism, and thread counts change float rounding.
"""

import asyncio
import logging
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

from attention_phases.errors import BadInput, SweepError
from attention_phases.processes import ONE_THREAD, SpawnWithoutScript, end_with_parent, process_pool

from .provenance import environment

__all__ = ["ONE_THREAD", "SpawnWithoutScript", "cluster", "end_with_parent", "process_pool"]
TIMEOUT = 5  # seconds in which a scheduler must answer


@contextmanager
def cluster(address: str) -> Iterator[Executor]:
    """Context of an executor on the Dask cluster whose scheduler listens at `address`, such as tcp://host:8786.

    Work of a lost worker goes to another one, or waits for one. Leaving the context ends neither the cluster
    nor a cell that a worker has begun; the result of that is dropped. Where no scheduler answers, or it or its workers
    lack this package, that is a `SweepError`.
    """
    from distributed import Client  # slow to load
    from distributed.comm import get_address_host_port

    try:
        get_address_host_port(address, strict=True)  # a client that refuses it complains again when it is dropped
    except (TypeError, ValueError) as error:
        raise BadInput("scheduler", address, f"an address such as tcp://host:8786 ({error})") from None
    try:
        client = Client(address, timeout=TIMEOUT, set_as_default=False)
    except Exception as error:  # whatever comes of what else answers there
        raise SweepError(f"scheduler {address}: no Dask scheduler answers ({type(error).__name__}: {error})") from error
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # tracebacks, where the sweep says it in a line
    with client:
        try:
            client.run_on_scheduler(environment)  # it reads what it passes on
            workers = client.run(environment)
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
        task = self._client.submit(_by_one_thread, call, *arguments, pure=False)  # a new key: no other run's result

        async def result():
            return await task

        return asyncio.run_coroutine_threadsafe(result(), self._client.loop.asyncio_loop)  # pyright: ignore


def _by_one_thread(call: Callable, *arguments):
    """The call's result; `SweepError` from a worker that uses more threads."""
    from distributed import get_worker

    os.environ.setdefault("NUMBA_NUM_THREADS", "1")  # Dask's nanny sets the others
    worker = get_worker()
    threads = {"nthreads": str(worker.state.nthreads)} | {name: os.environ.get(name) for name in ONE_THREAD}
    for name, value in threads.items():
        if value != "1":
            raise SweepError(f"worker {worker.address}: {name} = {value}: must be 1 (dask worker --nthreads 1 --nanny)")
    return call(*arguments)
