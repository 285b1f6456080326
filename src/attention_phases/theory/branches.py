"""A branch of solutions along alpha, by continuation."""

import pandas as pd

from .fixed_point import solve
from .quadrature import POINTS, SCRAMBLES

MEASURED = ("train_loss", "test_mse", "replicon")


def branch_along(task, branch, alphas, points=POINTS, scrambles=SCRAMBLES, seed=0):
    """Solutions of one branch at several alpha, each started from the one before.

    Parameters
    ----------
    task : Task
    branch : {"semantic", "positional", "symmetric"}
    alphas : sequence of float
        Followed downwards, the way along which a branch ends.
    points, scrambles, seed : int
        Quadrature, see `gaussian_points`.

    Returns
    -------
    pandas.DataFrame
        By ascending alpha: alpha, q, m, theta, V, train_loss, test_mse, replicon, and the standard error of
        each but alpha as "q_error" and so on. Where the branch does not exist there is no row.
    """
    rows, last = [], None
    for alpha in sorted(alphas, reverse=True):
        found = solve(task, alpha, branch, points, scrambles, seed, start=last)
        if not found.converged:
            break
        last = found
        values = {**found.overlaps._asdict(), **{name: getattr(found, name) for name in MEASURED}}
        rows.append({"alpha": alpha, **values, **{f"{name}_error": found.stderr[name] for name in values}})
    return pd.DataFrame(rows[::-1])

