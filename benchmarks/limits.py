"""What the theory answers far from the published parameters: python benchmarks/limits.py [POINTS].

Writes the table of the book's page "Limits". It fails where a number is not finite without a flag, or where a solution
that is called converged is of another branch.
"""

import sys
from itertools import product
from math import isfinite

import numpy as np
import pandas as pd

from attention_book.paths import ROOT
from attention_phases import Task
from attention_phases.theory import solve
from attention_phases.theory.solver import ENDED, UNSEEN, UNSETTLED

ALPHAS = (1e-3, 0.1, 1.0, 10.0, 100.0)
TASKS = {
    **{f"λ = {lam}": {"lam": float(lam)} for lam in ("0.000001", "0.0001", "1", "10")},
    **{f"σ = {sigma:g}": {"sigma": sigma} for sigma in (0.05, 0.2, 1.0, 3.0)},
    **{f"ω = {omega:g}": {"omega": omega} for omega in (0.0, 1.0)},
    "A = (−1, 2; 2, −1)": {"matrix": ((-1, 2), (2, -1))},
    "A = (30, 10; 10, 30)": {"matrix": ((30, 10), (10, 30))},
}
BRANCHES = {"semantic": ("theta", "m"), "positional": ("m", "theta")}  # what is not zero, and what is
SHORT = {ENDED: "none", UNSETTLED: "unsettled", UNSEEN: "unsettled"}  # what failed solutions say of themselves
TABLE = ROOT / "book" / "limits.csv"


def outcome(task, alpha, branch, points, scrambles=4):
    """What `solve` answers, in a word; an assertion fails where it is wrong without saying so."""
    try:
        solution = solve(task, alpha, branch, points, scrambles)
    except (ArithmeticError, np.linalg.LinAlgError) as error:
        return f"refused: {type(error).__name__}"
    if not solution.converged:
        cause = solution.reason.partition(":")[0]
        return SHORT.get(cause, cause)
    present, absent = (getattr(solution.overlaps, name) for name in BRANCHES[branch])
    values = [*solution.overlaps, solution.train_loss, solution.test_mse, solution.gain, *solution.stderr.values()]
    assert all(map(isfinite, values)), (task, alpha, branch, values)
    assert present != 0 and absent == 0, (task, alpha, branch, solution.overlaps)
    assert solution.overlaps.q > 0 and solution.overlaps.V > 0 and solution.test_mse >= 0
    assert solution.overlaps.theta**2 <= solution.overlaps.q * task.sigma**2 * (1 + 1e-9)
    return "minimum" if solution.gain <= 1 else "saddle"


def main(points=2**10):
    """Write the table, and print how often each answer came."""
    rows = []
    for (name, changes), branch in product(TASKS.items(), BRANCHES):
        answers = {f"α = {alpha:g}": outcome(Task(**changes), alpha, branch, points, 8) for alpha in ALPHAS}
        rows.append({"task and branch": f"{name}, {branch}", **answers})
        print(*rows[-1].values(), sep=" | ", flush=True)
    table = pd.DataFrame(rows)
    table.to_csv(TABLE, index=False)
    print(table.filter(like="α").stack().value_counts().to_string())


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
