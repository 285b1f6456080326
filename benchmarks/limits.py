"""The answers of the theory far from the published parameters, and the features that each part of the library covers.

Usage: python benchmarks/limits.py. The script writes the tables of the book's page "Limits". It fails if a
number is not finite but has no flag, or if a solution that is marked as converged belongs to another branch.
"""

from itertools import product
from math import isfinite

import numpy as np
import pandas as pd

from attention_book.paths import ROOT
from attention_phases import Architecture, BadInput, Task, data_set, fit, message_passing, solve, train
from attention_phases.model import two_tokens
from attention_phases.theory.solver import BRANCH_END, NO_CONVERGENCE, NO_RESOLUTION

ALPHAS = (1e-3, 0.1, 1.0, 10.0, 100.0)
TASKS = {
    "the published task": {},
    **{f"λ = {lam}": {"lam": float(lam)} for lam in ("0.000001", "0.0001", "1", "10")},
    **{f"σ = {sigma:g}": {"sigma": sigma} for sigma in (0.05, 0.2, 1.0, 3.0)},
    **{f"ω = {omega:g}": {"omega": omega} for omega in (0.0, 1.0)},
    "A = (−1, 2; 2, −1)": {"matrix": ((-1, 2), (2, -1))},
    "A = (30, 10; 10, 30)": {"matrix": ((30, 10), (10, 30))},
}
BRANCHES = {"semantic": ("theta", "m"), "positional": ("m", "theta")}  # nonzero overlap, zero overlap
SHORT = {
    BRANCH_END: "none",
    NO_CONVERGENCE: "unsettled",
    NO_RESOLUTION: "unsettled",
}  # short names for the reasons of failed solutions
TABLE = ROOT / "book" / "limits.csv"
POINTS = (2**10, 2**12)  # a word of the table is the answer with both numbers of points

FEATURES = {  # parameters of a task and of an architecture
    "a different strength of the encoding": ({"encoding": 2.0}, {}),
    "spectrum, the same for all tokens": ({"spectrum": ((0.05, 0.5), (0.45, 0.5))}, {}),
    "spectrum, a different one for each token": ({"spectrum": (((0.1, 0.4), 1.0),)}, {}),
    "clusters": ({"clusters": ((0.5, (0.3, -0.3)), (0.5, (-0.3, 0.3)))}, {}),
    "several teacher vectors": ({"teachers": (1.0, 0.5)}, {}),
    "sparse teacher": ({"density": 0.3}, {}),
    "l1 penalty": ({"l1": 0.005}, {}),
    "L > 2 tokens with the standard A": ({}, {"tokens": 3}),
    "L > 2 tokens with any L × L matrix A": ({"matrix": np.eye(3)}, {"tokens": 3}),
    "correlated tokens": ({}, {"correlation": 0.3}),
    "weights of rank 2": ({}, {"form": "rank2"}),
    "separate queries and keys": ({}, {"form": "untied"}),
    "value matrix of rank one": ({}, {"form": "value"}),
    "full value matrix": ({}, {"form": "full_value"}),
    "a different loss": ({}, {"risk": None}),
    "several heads": ({}, {"heads": 2}),
    "noise on the labels": ({"noise": 0.1}, {}),
}
COVERED = ROOT / "book" / "covered.csv"


def accepted(task, architecture):
    """Return which of theory, students and message passing accept a feature, by trying it."""

    def of_student():
        if "risk" in architecture:
            data = data_set(Task(**task), 1.0, 12)
            return fit(data, 0.1, data.teacher[None], risk=two_tokens.risk)
        return train(Task(**task), 1.0, 12, 1, "semantic", architecture=Architecture(**architecture))

    def of_passing():
        return message_passing(Task(**task), 1.0, 12, steps=1, **architecture)

    def of_theory():
        return solve(Task(**task), 2.0, "semantic", 16, 4, architecture=Architecture(**architecture))

    answers = {}
    for name, call in (("theory", of_theory), ("students", of_student), ("message passing", of_passing)):
        try:
            call()
            answers[name] = "yes"
        except (BadInput, TypeError):
            answers[name] = "no"
    return answers


def covered():
    """Return the table of features that are covered."""
    return pd.DataFrame([{"feature": name, **accepted(*feature)} for name, feature in FEATURES.items()])


def outcome(task, alpha, branch, points, scrambles=4):
    """Return the answer of `solve` in a word; an assertion fails if the answer is wrong but not marked as failed."""
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


def settled_outcome(task, alpha, branch):
    """Return the word of the table, which is "unsettled" if the answer depends on the number of points."""
    first, second = (outcome(task, alpha, branch, points, 8) for points in POINTS)
    return first if first == second else "unsettled"


def main():
    """Write the table, and print how often each answer occurs."""
    rows = []
    for (name, changes), branch in product(TASKS.items(), BRANCHES):
        answers = {f"α = {alpha:g}": settled_outcome(Task(**changes), alpha, branch) for alpha in ALPHAS}
        rows.append({"task and branch": f"{name}, {branch}", **answers})
        print(*rows[-1].values(), sep=" | ", flush=True)
    covered().to_csv(COVERED, index=False)
    table = pd.DataFrame(rows)
    table.to_csv(TABLE, index=False)
    print(table.filter(like="α").stack().value_counts().to_string())


if __name__ == "__main__":
    main()
