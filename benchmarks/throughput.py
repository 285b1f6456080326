"""The number of trainings per second on one worker and on two, as processes and on a Dask cluster of this machine.

Usage: python benchmarks/throughput.py [CELLS]

Each of the CELLS (100) trains from both starts by L-BFGS at d = 1000, alpha = 1, on its own data set. With two free
cores, two workers should train at least 1.8 times as many as one.
"""

import os
import sys
import tempfile
import time
from pathlib import Path

from store_overhead import local_cluster

from attention_book.experiments.kinds import compute_rows
from attention_book.experiments.students import StudentCell
from attention_book.store.sweep import Store, run
from attention_phases.machine import process_pool
from attention_phases.task import Task


def rate(place, workers, count):
    """Return the number of cells per second, measured after the workers have loaded their libraries."""
    cells = [StudentCell("benchmark", Task(), 1.0, 1000, seed, "lbfgs") for seed in range(count + 8 * workers)]
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "s.sqlite") as store, place(workers) as executor:
        run(cells[count:], compute_rows, store, executor, quiet=True)
        start = time.perf_counter()
        assert run(cells[:count], compute_rows, store, executor, quiet=True).done == count
        return count / (time.perf_counter() - start)


if __name__ == "__main__":
    # By default, Dask makes each large array a request to the operating system. The page book/machines.md has these
    # settings.
    os.environ |= {"MALLOC_TRIM_THRESHOLD_": "67108864", "MALLOC_MMAP_THRESHOLD_": "33554432"}
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    for name, place in (("processes", process_pool), ("cluster", local_cluster)):
        one, two = (rate(place, workers, count) for workers in (1, 2))
        print(f"{name}: one worker {one:.2f} cells/s, two {two:.2f} cells/s, ratio {two / one:.2f}", flush=True)
