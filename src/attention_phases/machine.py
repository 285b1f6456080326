"""Compilation of kernels, worker processes, and the choice of a device.

Work is parallel over data sets, in processes with one thread each. Several threads within one training would wait for
each other thousands of times, and they wait by spinning, which also slows down everything else on the machine.

Each compiled kernel is in one file, because Numba's cache notices a change only in the file of the outermost function.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from math import ceil
from multiprocessing import connection, get_context, parent_process
from multiprocessing.context import BaseContext, SpawnContext, SpawnProcess
from pathlib import Path
from types import ModuleType
from typing import Any

from .errors import BadInput, check_count, check_kind

ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")}
START_SECONDS = 4.0  # start-up time of worker processes in seconds; shorter work is done in this process
# Smallest d for which the GPU is used. An H100 was as fast as one CPU core at this d, and 21 times faster at d = 4000.
SMALLEST_GPU_DIMENSION = 1000
SYSTEM = Path("/")  # root of the files in which Linux describes the system
# Files with the CPU limits of a control group, in version 2 and in version 1.
LIMITS = {"": ("cpu.max",), "cpu": ("cpu.cfs_quota_us", "cpu.cfs_period_us")}


def njit(**options):
    """Return the decorator `numba.njit`, without `cache` if no folder for the cache is writable.

    Numba's cache needs a writable source folder or HOME.
    """
    import numba  # imported here because numba is slow to load

    def compiled(function):
        try:
            return numba.njit(**options)(function)
        except RuntimeError as error:
            if "no locator available" not in str(error):
                raise
            return numba.njit(**{**options, "cache": False})(function)

    return compiled


def cores() -> int:
    """Return the number of CPU cores that this process may use, given its affinity and the quota of its container."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min([allowed, *map(ceil, _quotas())])


def _quotas() -> Iterator[float]:
    """Yield, for each cgroup of this process that has a limit, the number of cores that it allows."""
    with suppress(OSError):
        for line in (SYSTEM / "proc/self/cgroup").read_text(encoding="utf-8").splitlines():
            _, controllers, group = line.split(":", 2)
            for controller in LIMITS.keys() & controllers.split(","):
                for folder in (Path(group[1:]), *Path(group[1:]).parents):
                    files = [SYSTEM / "sys/fs/cgroup" / controller / folder / name for name in LIMITS[controller]]
                    # Skip a group that is not visible from inside a container, or whose limit is "max".
                    with suppress(OSError, ValueError):
                        quota, period = map(int, " ".join(file.read_text(encoding="utf-8") for file in files).split())
                        if quota > 0:
                            yield quota / period


class SpawnWithoutScript(SpawnContext):
    """A multiprocessing context whose processes do not run the caller's script.

    The script therefore needs no ``if __name__ == "__main__"``, but the work must be a function of a module. On Ctrl-C
    only the parent prints a message.
    """

    class Process(SpawnProcess):
        def run(self) -> None:
            with suppress(KeyboardInterrupt):
                super().run()

        @staticmethod
        def _Popen(process):  # noqa: N802
            main = sys.modules["__main__"]
            sys.modules["__main__"] = ModuleType("__main__")
            try:
                return SpawnProcess._Popen(process)
            finally:
                sys.modules["__main__"] = main


@contextmanager
def process_pool(workers: int | None = None, spawn: BaseContext | None = None) -> Iterator[ProcessPoolExecutor]:
    """Provide a pool of worker processes, by default one per available CPU core.

    Workers are spawned instead of forked, because torch and numba threads do not survive a fork. An exception (such as
    Ctrl-C) ends the workers at once. If the parent is killed, its workers end as well.
    """
    workers = check_count("workers", cores() if workers is None else workers)
    # NumPy and torch read these variables when a worker imports them. Workers start as work arrives, so the variables
    # remain set for the whole context.
    before = {name: os.environ[name] for name in ONE_THREAD if name in os.environ}
    os.environ.update(ONE_THREAD)
    pool = ProcessPoolExecutor(workers, mp_context=spawn or get_context("spawn"), initializer=_guard)
    try:
        yield pool
    except BaseException:
        # Executor.kill_workers does the same from Python 3.14 on.
        for process in list((pool._processes or {}).values()):
            process.kill()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
        for name in ONE_THREAD:
            del os.environ[name]
        os.environ.update(before)


def _guard() -> None:
    """Make a worker process ignore SIGINT and SIGTERM, and end it when its parent ends.

    The parent handles Ctrl-C and the SIGTERM of a scheduler.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    end_with_parent()


def end_with_parent() -> None:
    """End this worker when its parent ends, even if the parent is killed."""

    def follow(parent: int) -> None:
        connection.wait([parent])
        os._exit(1)

    if parent := parent_process():
        threading.Thread(target=follow, args=(parent.sentinel,), daemon=True).start()


@contextmanager
def torch_defaults() -> Iterator[None]:
    """Run torch with one thread and its default settings, so that settings of the caller do not change results.

    Autocast is off, and products of float32 keep all digits. New tensors are float32 and on the CPU. Gradients are
    available even if the caller has switched them off.
    """
    import torch  # slow to load

    threads, number = torch.get_num_threads(), torch.get_default_dtype()
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float32)
    # A device context slows down every operation, so it is used only if the default device is not the CPU.
    device = nullcontext() if torch.empty(0).device.type == "cpu" else torch.device("cpu")
    exact = [torch.autocast(kind, enabled=False) for kind in ("cpu", "cuda")]
    products = torch.backends.cuda.matmul, torch.backends.mkldnn.matmul
    digits = [getattr(kind, "fp32_precision", None) for kind in products]  # versions before 2.9 have no such setting
    for kind in products if all(digits) else ():
        kind.fp32_precision = "ieee"
    try:
        # `inference_mode(False)` also switches gradients on.
        with device, exact[0], exact[1], torch.inference_mode(False):
            yield
    finally:
        for kind, before in zip(products, digits) if all(digits) else ():
            kind.fp32_precision = before
        torch.set_default_dtype(number)
        torch.set_num_threads(threads)


def choose_device(device: object, d: int) -> str:
    """Choose the device, "cpu" or "cuda", for sentences of dimension d, and return its name.

    "auto" means the GPU if there is one and d is large enough for the GPU to be faster.
    """
    import torch  # slow to load

    allowed = ["auto", "cpu", *["cuda"] * torch.cuda.is_available()]
    if str(device) not in allowed:
        nowhere = "" if "cuda" in allowed else "; PyTorch finds no GPU here"
        raise BadInput("device", device, "one of " + ", ".join(allowed) + nowhere)
    if device == "auto":
        return "cuda" if "cuda" in allowed and d >= SMALLEST_GPU_DIMENSION else "cpu"
    return str(device)


def map_jobs(
    work: Callable, jobs: Sequence, workers: int | None = None, report: Callable[[], object] | None = None
) -> list[Any]:
    """Compute ``work(job)`` for all jobs in parallel, and return the results in the order of the jobs.

    work: a function of a module; a function of a script does not work, because the processes do not run the script
    workers: number of processes, 1 for this process alone; by default one per core if that is faster
    report: function that is called after each job
    """
    check_kind("report", report, Callable | None)
    most = check_count("workers", cores() if workers is None else workers)
    results, began = [], time.perf_counter()

    def told(result: Any) -> Any:
        if report:
            report()
        return result

    for done, job in enumerate(jobs):
        left = len(jobs) - done
        long = (time.perf_counter() - began) * left > START_SECONDS * done if workers is None else True
        if most > 1 and left > 1 and long and (done or workers):
            with process_pool(min(most, left), SpawnWithoutScript()) as pool:
                return [*results, *map(told, pool.map(work, jobs[done:]))]
        results.append(told(work(job)))
    return results
