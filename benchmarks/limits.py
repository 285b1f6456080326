"""What the theory answers far from the published parameters: python benchmarks/limits.py [POINTS].

A table, in Markdown, of what was tried and what came out. It fails where a number is not finite without a flag, or
where a solution that is called converged is of another branch.
"""

import sys
from collections import Counter
from itertools import product
from math import isfinite

import numpy as np

from attention_phases import Task
from attention_phases.theory import solve

ALPHAS = (1e-3, 0.1, 1.0, 10.0, 100.0)
TASKS = {
    **{f"lambda = {lam:g}": {"lam": lam} for lam in (1e-6, 1e-4, 1.0, 10.0)},
    **{f"sigma = {sigma:g}": {"sigma": sigma} for sigma in (0.05, 0.2, 1.0, 3.0)},
    **{f"omega = {omega:g}": {"omega": omega} for omega in (0.0, 1.0)},
    "A = ((-1, 2), (2, -1))": {"matrix": ((-1, 2), (2, -1))},
    "A = ((30, 10), (10, 30))": {"matrix": ((30, 10), (10, 30))},
}
BRANCHES = {"semantic": ("theta", "m"), "positional": ("m", "theta")}  # what is not zero, and what is


def outcome(task, alpha, branch, points):
    """What `solve` answers, in a few words; an assertion fails where it is wrong without saying so."""
    try:
        found = solve(task, alpha, branch, points, 4)
    except (ArithmeticError, np.linalg.LinAlgError) as error:
        return f"refused: {type(error).__name__}"
    if not found.converged:
        assert found.reason
        return found.reason
    present, absent = (getattr(found.overlaps, name) for name in BRANCHES[branch])
    values = [*found.overlaps, found.train_loss, found.test_mse, *found.stderr.values()]
    assert all(map(isfinite, values)), (task, alpha, branch, values)
    assert present != 0 and absent == 0, (task, alpha, branch, found.overlaps)
    assert found.overlaps.q > 0 and found.overlaps.V > 0 and found.test_mse >= 0
    assert found.overlaps.theta**2 <= found.overlaps.q * task.sigma**2 * (1 + 1e-9)
    return "converged"


def main(points=256):
    """Print the table, and how often each answer came."""
    print(f"| task | branch | {' | '.join(f'alpha = {alpha:g}' for alpha in ALPHAS)} |")
    print(f"|---|---|{'---|' * len(ALPHAS)}")
    counted = Counter()
    for (name, changes), branch in product(TASKS.items(), BRANCHES):
        said = [outcome(Task(**changes), alpha, branch, points) for alpha in ALPHAS]
        counted.update(said)
        print(f"| {name} | {branch} | {' | '.join(said)} |", flush=True)
    print("\n" + ", ".join(f"{said}: {count}" for said, count in counted.most_common()))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
