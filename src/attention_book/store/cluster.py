"""A Dask cluster as the executor of a sweep: its cells on any number of machines."""

import asyncio
import logging
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

from distributed import Client, Security, get_worker, rpc
from distributed.versions import VersionMismatchWarning, get_versions

from attention_phases.errors import BadInput, SweepError

from . import provenance
from .processes import ONE_THREAD

TIMEOUT = 5  # seconds in which the scheduler must answer


@contextmanager
def cluster(address: str) -> Iterator[Executor]:
    """Context of an executor on the Dask cluster whose scheduler listens at `address`, such as tcp://host:8786.

    Work of a lost worker goes to another one, or waits for one. Leaving the context ends neither the cluster
    nor a cell that a worker has begun; the result of that is dropped. Where no scheduler answers, or it or its workers
    lack this package, that is a `SweepError`.
    """
    try:
        asyncio.run(_greet(address))  # a `Client` that finds nothing takes ten seconds more to give up
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", VersionMismatchWarning)  # a table; `_look_at_workers` says it in one line
            client = Client(address, timeout=TIMEOUT, set_as_default=False)
    except ValueError as error:
        raise BadInput("scheduler", address, f"an address such as tcp://host:8786 ({error})") from None
    except Exception as error:  # whatever comes of what else answers there
        raise SweepError(f"scheduler {address}: no Dask scheduler answers ({type(error).__name__}: {error})") from error
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # tracebacks, where the sweep says it in a line
    with client:
        _look_at_workers(client, address)
        yield _Executor(client)


async def _greet(address: str) -> None:
    """Fail unless a Dask scheduler answers."""
    async with rpc(address, timeout=TIMEOUT, connection_args=Security().get_connection_args("client")) as remote:
        identity = await asyncio.wait_for(remote.identity(), TIMEOUT)
        kind = (identity or {}).get("type")
        if kind != "Scheduler":
            raise ConnectionError(f"this is a {kind}")


class _Executor(Executor):
    """Dask's own one leaves a future open for ever when its result is lost on the way here."""

    def __init__(self, client: Client):
        self._client = client

    def submit(self, call, *arguments):
        task = self._client.submit(_alone, call, *arguments, pure=False)  # a new key: no other run's result

        async def result():
            return await task

        return asyncio.run_coroutine_threadsafe(result(), self._client.loop.asyncio_loop)  # pyright: ignore


def _alone(call: Callable, *arguments):
    """The call's result, from a worker that uses one thread as those of `processes.process_pool` do."""
    os.environ.setdefault("NUMBA_NUM_THREADS", "1")  # Dask's nanny sets the others
    worker = get_worker()
    threads = {"nthreads": str(worker.state.nthreads)} | {name: os.environ.get(name) for name in ONE_THREAD}
    for name, value in threads.items():
        if value != "1":
            raise SweepError(f"worker {worker.address}: {name} = {value}: must be 1 (dask worker --nthreads 1 --nanny)")
    return call(*arguments)


def _look_at_workers(client: Client, address: str) -> None:
    """Refuse a cluster without this package; say in a line if workers are missing, or if their versions are not ours.

    Another version may change the last digits of a result, or disturb the connection.
    """
    try:
        client.run_on_scheduler(_versions)  # it reads what it passes on
        workers: dict = client.run(_versions)  # pyright: ignore
    except Exception as error:  # Dask hides the type of theirs
        raise SweepError(f"scheduler {address}: it or a worker cannot do the work ({error})") from error
    if not workers:
        print(f"scheduler {address}: no workers yet, waiting for them", file=sys.stderr)
    ours = _versions()
    others = {
        f"{name} {versions.get(name)} (here {version})"
        for versions in workers.values()
        for name, version in ours.items()
        if versions.get(name) != version
    }
    if others:
        print(f"scheduler {address}: workers with other versions: {', '.join(sorted(others))}", file=sys.stderr)


def _versions() -> dict:
    origin = provenance.environment()
    return get_versions()["packages"] | {name: origin[name] for name in ("version", "commit", "python", "torch")}
