"""Cost of the sweep and its store around the computing itself.

Usage: python benchmarks/store_overhead.py [FOLDER for the temporary files]
"""

import os
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from distributed.deploy.subprocess import SubprocessCluster

from attention_book.store import database as store
from attention_book.store import provenance
from attention_book.store.cluster import cluster
from attention_book.store.identity import canonical
from attention_book.store.processes import process_pool
from attention_book.store.running import run

ROW = {
    "q": 0.1,
    "m": 0.2,
    "theta": 0.3,
    "train_loss": 0.4,
    "test_mse": 0.5,
    "linear_mse": 0.6,
    "grad_norm": 1e-5,
    "steps": 40,
    "seconds": 0.7,
}


@dataclass(frozen=True)
class Cell:
    """As large as a cell of Figure 2."""

    experiment: str
    alpha: float
    seed: int
    matrix: tuple = ((0.6, 0.4), (0.4, 0.6))
    starts: tuple = ("semantic", "positional")


def work(cell):
    """Take no time."""
    return [{"start": start, **ROW} for start in cell.starts]


def seconds(call):
    """Wall time of ``call()``."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def main(folder):
    """Print milliseconds a cell, and seconds to resume and export a store of 100,000 cells."""
    cells = [Cell("small", 2.5, seed) for seed in range(2000)]
    warm = [Cell("warm", 2.5, seed) for seed in range(20)]
    with store.Store(folder / "threads.sqlite") as results, ThreadPoolExecutor(1) as pool:
        elapsed = seconds(lambda: run(cells, work, results, pool, quiet=True))
        print(f"one thread:    {1e3 * elapsed / len(cells):.2f} ms a cell")
    with store.Store(folder / "processes.sqlite") as results, process_pool(2) as pool:
        run(warm, work, results, pool, quiet=True)  # starts the workers
        elapsed = seconds(lambda: run(cells, work, results, pool, quiet=True))
        print(f"two processes: {1e3 * elapsed / len(cells):.2f} ms a cell")
    with (
        store.Store(folder / "cluster.sqlite") as results,
        SubprocessCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as local,
        cluster(local.scheduler_address) as pool,
    ):
        run(warm, work, results, pool, quiet=True)
        elapsed = seconds(lambda: run(cells, work, results, pool, quiet=True))
        print(f"Dask cluster of two workers: {1e3 * elapsed / len(cells):.2f} ms a cell")
    cells = [Cell("large", 2.5, seed) for seed in range(100_000)]
    origin = {**provenance.environment(), "cell_seconds": 1.0, "finished": "2000-01-01T00:00:00+00:00"}
    with store.Store(folder / "large.sqlite") as results:
        results.add((canonical(cell), work(cell), origin) for cell in cells)

    def resume():
        with store.Store(folder / "large.sqlite") as results, ThreadPoolExecutor(1) as pool:
            assert run(cells, work, results, pool, quiet=True).skipped == len(cells)

    def export():
        with store.Store(folder / "large.sqlite") as results:
            store.export(results, folder)

    size = (folder / "large.sqlite").stat().st_size / 2**20
    print(f"resume of {len(cells)} cells ({size:.0f} MiB): {seconds(resume):.2f} s")
    print(f"export: {seconds(export):.1f} s, {(folder / 'large.parquet').stat().st_size / 2**20:.1f} MiB")


if __name__ == "__main__":
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)  # for the workers of the cluster, which find `work` there
    import store_overhead

    with tempfile.TemporaryDirectory(dir=sys.argv[1] if len(sys.argv) > 1 else None) as name:
        store_overhead.main(Path(name))
