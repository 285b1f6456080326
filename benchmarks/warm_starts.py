"""The time of the theory with searches from known minima, compared with a full search at every step.

Usage: python benchmarks/warm_starts.py [REPEATS]. Both take turns in one run, and the times are medians of REPEATS (3).
The script also prints the difference of the results in error bars.
"""

import sys
import time
from unittest.mock import patch

import numpy as np

from attention_phases import Task
from attention_phases.model.architectures import Architecture
from attention_phases.theory import branch, follow, solve, threshold

TASK = Task(omega=0.3)
ALPHAS = (0.06, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0)


def general(architecture, branch):
    return lambda: loss(solve(TASK, 2.0, branch, 2**9, architecture=architecture))


def loss(solution):
    return solution.train_loss, solution.stderr["train_loss"]


def crossing(kind):
    return threshold(TASK, kind).alpha


def along(branch):
    table = follow(TASK, branch, ALPHAS, 2**10).table
    return table["V"].to_numpy(), table["V_error"].to_numpy()


CASES = {
    "solve, semantic": lambda: loss(solve(TASK, 2.0, "semantic")),
    "solve, positional": lambda: loss(solve(TASK, 2.0, "positional")),
    "threshold, critical": lambda: crossing("critical"),
    "threshold, linear": lambda: crossing("linear"),
    "branch, semantic": lambda: along("semantic"),
    "branch, positional": lambda: along("positional"),
    "untied, semantic": general(Architecture("untied"), "semantic"),
    "untied, positional": general(Architecture("untied"), "positional"),
    "rank 2, semantic": general(Architecture("rank2"), "semantic"),
    "correlated, semantic": general(Architecture(correlation=0.3), "semantic"),
    "correlated, positional": general(Architecture(correlation=0.3), "positional"),
}


def timed(case):
    start = time.perf_counter()
    solution = case()
    return solution, time.perf_counter() - start


def main(repeats):
    solve(TASK, 2.0, "semantic", 2**5)  # compiles the code
    for form in ("untied", "rank2"):
        solve(TASK, 2.0, "semantic", 2**4, architecture=Architecture(form))
    for name, case in CASES.items():
        seconds = []
        for _ in range(repeats):
            (value, error), quick = timed(case)
            with patch.object(branch.Net, "search_at", lambda net, x, anew: True):
                (searched, its_error), slow = timed(case)
            seconds.append((quick, slow))
        quick, slow = np.median(seconds, axis=0)
        apart = np.max(np.abs(np.subtract(value, searched)) / its_error)
        bars = np.max(np.abs(np.divide(error, its_error) - 1))
        print(f"{name:23} {quick:6.2f} s, searching {slow:6.2f} s: ratio {slow / quick:4.1f};", end=" ")
        print(f"apart {apart:.0e} errors, error bars {bars:.0e}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
