"""The time that a sweep and its store add to the computation itself.

Usage: python benchmarks/store_overhead.py [FOLDER for the temporary files]
"""

import os
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from distributed.deploy.subprocess import SubprocessCluster

from attention_book.store.parquet import export
from attention_book.store.sweep import Store, cluster, run
from attention_phases.machine import process_pool

MEASURED = ("q", "m", "theta", "train_loss", "test_mse", "linear_mse", "grad_norm", "seconds")


@dataclass(frozen=True)
class Cell:
    """A cell that is as large as a cell of Figure 2."""

    experiment: str
    alpha: float
    seed: int
    matrix: tuple = ((0.6, 0.4), (0.4, 0.6))
    starts: tuple = ("semantic", "positional")


def work(cell):
    """Return rows at once, without computing anything."""
    return [{"start": start, **dict.fromkeys(MEASURED, 0.1), "steps": 40} for start in cell.starts]


def seconds(call):
    """Return the wall time of ``call()``."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


@contextmanager
def local_cluster(workers):
    """Yield an executor on a Dask cluster of this machine."""
    with (
        SubprocessCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0") as local,
        cluster(local.scheduler_address) as executor,
    ):
        yield executor


def main(folder, count=2000, many=20_000):
    """Print milliseconds per cell, and the seconds that a store of many cells takes to resume and to export."""
    cells, warm = ([Cell(name, 2.5, seed) for seed in range(size)] for name, size in (("small", count), ("warm", 20)))
    places = {"thread": (ThreadPoolExecutor, 1), "processes": (process_pool, 2), "cluster": (local_cluster, 2)}
    for name, (place, workers) in places.items():
        with Store(folder / f"{name}.sqlite") as store, place(workers) as pool:
            run(warm, work, store, pool, quiet=True)  # starts the workers
            elapsed = seconds(lambda store=store, pool=pool: run(cells, work, store, pool, quiet=True))
        print(f"{name}, {workers} of them: {1e3 * elapsed / count:.2f} ms a cell")
    cells = [Cell("large", 2.5, seed) for seed in range(many)]
    with Store(folder / "large.sqlite") as store, ThreadPoolExecutor(1) as pool:
        run(cells, work, store, pool, quiet=True)
        print(f"resume of {many} cells: {seconds(lambda: run(cells, work, store, pool, quiet=True)):.2f} s")
        print(f"export: {seconds(lambda: export(store, folder)):.1f} s")


if __name__ == "__main__":
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)  # lets the workers of the cluster find `work`
    import store_overhead

    with tempfile.TemporaryDirectory(dir=sys.argv[1] if len(sys.argv) > 1 else None) as name:
        store_overhead.main(Path(name))
