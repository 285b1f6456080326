"""A sweep of toy cells for tests; as a script: toy_sweep.py STORE PAUSE LAST_PAUSE processes|SCHEDULER."""

import os
import signal
import sys
import time
from dataclasses import dataclass
from functools import partial

import numpy as np

from attention_book.store.provenance import key
from attention_book.store.sweep import Store, cluster, run
from attention_phases.machine import ONE_THREAD, process_pool
from attention_phases.records import canonical, seed_sequence


@dataclass(frozen=True)
class Cell:
    """A cell that can also fail, or end its worker."""

    alpha: float
    seed: int = 0
    experiment: str = "toy"
    matrix: tuple = ((0.6, 0.4), (0.4, 0.6))
    starts: tuple = ("semantic", "positional")
    fault: str = ""


def work(cell, pause=0.0, last_pause=0.0):
    """Return random numbers that depend only on the cell, after a pause (another for the last third of the grid)."""
    time.sleep(last_pause if cell.alpha > 0.2 else pause)
    if cell.fault == "raise":
        raise ArithmeticError("no fixed point\nafter 10 steps")
    if cell.fault == "die":
        os._exit(1)
    if cell.fault == "SIGTERM":
        os.kill(os.getpid(), signal.SIGTERM)
    rng = np.random.default_rng(seed_sequence(cell))
    rows = [
        {"start": start, "q": rng.normal(), "steps": int(rng.integers(99)), "seconds": time.perf_counter()}
        for start in cell.starts
    ]
    if cell.fault == "nan":
        rows[1]["q"] = np.nan
    return rows


def worker_settings(cell):
    """Return the thread settings of the numerical libraries in a worker."""
    return [{"pid": os.getpid(), **{name: os.environ.get(name, "") for name in ONE_THREAD}}]


def grid():
    """Return a grid of sixty cells."""
    return [Cell(alpha=alpha, seed=seed) for alpha in (0.1, 0.2, 0.1 + 0.2) for seed in range(20)]


def table(frame):
    """Return the columns of an exported frame that must be equal in every run."""
    return frame.drop(columns=["seconds", "cell_seconds", "finished"])


class Reporting(Store):
    """A store that prints the key of each cell after it is stored."""

    def put(self, cell, rows, origin):
        """Store a result, then print its key."""
        super().put(cell, rows, origin)
        print(key(canonical(cell)), rows[0]["q"].hex(), flush=True)


if __name__ == "__main__":
    # Tests that are started in the background ignore Ctrl-C, and child processes inherit this.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    path, pause, last_pause, where = sys.argv[1:]
    place = process_pool(2) if where == "processes" else cluster(where)
    with Reporting(path) as results, place as executor:
        slow = partial(work, pause=float(pause), last_pause=float(last_pause))
        run(grid(), slow, results, executor, quiet=True)
