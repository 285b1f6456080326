"""A branch of solutions along alpha, by continuation, and where it ends."""

from functools import partial
from math import exp, log, sqrt, tanh

import numpy as np
import pandas as pd

from .quadrature import POINTS, SCRAMBLES, gaussian_points
from .rank_one.fixed_point import FIELDS, STEP, Evolution, solve
from .warm import Net, polish

MEASURED = ("train_loss", "test_mse", "replicon")
# Where among ascending alphas a branch is entered, as shares of their number; it may not reach all of them.
ENTRIES = {"semantic": (1.0,), "positional": (0.25, 1.0), "symmetric": (1.0,)}
APPROACH = (1.0, 0.7, 0.5, 0.4)  # a branch's own overlap on the way to its end
NEAR_END = (0.3, 0.2, 0.15, 0.1)  # and where alpha is extrapolated from
# What turns the fields of a branch into those of its mirror image, with the sign of its own overlap changed.
MIRROR = {"semantic": np.array([1.0, 1.0, -1.0, -1.0]), "positional": -np.ones(4)}


def follow(task, branch, alphas, points=POINTS, scrambles=SCRAMBLES, seed=0, solve=solve):
    """Solutions of one branch at several alpha, each started from its neighbour.

    Parameters
    ----------
    task : Task
    branch : {"semantic", "positional", "symmetric"}
    alphas : sequence of float
        The branch is entered at the largest, the positional one at the lower quartile, and followed from there.
    points, scrambles, seed : int
        Quadrature, see `gaussian_points`.
    solve : callable
        `fixed_point.solve`, or that of another architecture from `general.fixed_point.solver`.

    Returns
    -------
    dict of Solution
        By ascending alpha; where the branch does not exist there is no entry.
    """
    alphas = sorted(alphas)
    found = {}
    for share in ENTRIES[branch]:
        entry = round(share * (len(alphas) - 1))
        first = solve(task, alphas[entry], branch, points, scrambles, seed)
        if not first.converged:
            continue
        found[alphas[entry]] = first
        for onward in (alphas[:entry][::-1], alphas[entry + 1 :]):
            last = first
            for alpha in onward:
                last = solve(task, alpha, branch, points, scrambles, seed, start=last.overlaps)
                if not last.converged:  # stuck at a jump, more often than at an end
                    last = solve(task, alpha, branch, points, scrambles, seed)
                if not last.converged:
                    break
                found[alpha] = last
        break
    return dict(sorted(found.items()))


def branch_along(task, branch, alphas, points=POINTS, scrambles=SCRAMBLES, seed=0):
    """Table of one branch; the parameters are those of `follow`.

    Returns
    -------
    pandas.DataFrame
        By ascending alpha: alpha, q, m, theta, V, train_loss, test_mse, replicon, and the standard error of
        each but alpha as "q_error" and so on. Where the branch does not exist there is no row.
    """
    found = follow(task, branch, alphas, points, scrambles, seed)
    return pd.DataFrame([{"alpha": alpha, **as_row(each)} for alpha, each in found.items()])


def as_row(found):
    """Overlaps, losses and replicon of a solution, each with its standard error."""
    values = {**found.overlaps._asdict(), **{name: getattr(found, name) for name in MEASURED}}
    return {**values, **{f"{name}_error": found.stderr[name] for name in values}}


def branch_end(task, branch, alpha, start, points=POINTS, scrambles=SCRAMBLES, seed=0):
    """Where the own overlap of a branch goes to zero: there it leaves the symmetric branch.

    Close to its end a branch has its overlap as the better parameter: for given
    ``x = theta/sqrt(rho q)``, or ``m/sqrt(q)``, the fixed point is solved for q, V and alpha. By symmetry
    alpha depends on ``x^2``, and a straight line in it, through the last few x, gives alpha at zero.
    The points are used with their mirror image, without which their own asymmetry would be divided by x.

    Parameters
    ----------
    task : Task
    branch : {"semantic", "positional"}
    alpha : float
    start : Overlaps
        On the branch at `alpha`, not far from the end.
    points, scrambles, seed : int
        Quadrature, see `gaussian_points`.

    Returns
    -------
    alpha, stderr : float
        NaN where the solver failed.
    """
    nets = gaussian_points(points, scrambles, seed)
    net = Net(np.concatenate([nets, nets * MIRROR[branch]], axis=1), FIELDS)
    log_q, log_V, own = Evolution(task, alpha, branch).coordinates(start)
    unknown = np.array([log_q, log_V, log(alpha)])

    def at(own, unknown, anew=False):
        """Displacement, with alpha as an unknown in the place of the own overlap: pooled, and of each scramble."""
        evolution = Evolution(task, exp(unknown[2]), branch)
        point = np.array([*unknown[:2], own])
        each = evolution.step(point, evolution.averages(point, net, anew)) - point[:, None]
        return each.mean(axis=1), each

    limits = []
    for x in (*(x for x in APPROACH if x < overlap(branch, own)), *NEAR_END):
        own = np.arctanh(x) if branch == "semantic" else x
        unknown, each = polish(partial(at, own), unknown, maxfev=60, xtol=1e-6, eps=STEP / 10)
        if np.abs(each.mean(axis=1)).max() > 0.1 * x:
            return np.nan, np.nan
        if x in NEAR_END:
            slopes = [at(own, unknown + shift)[0] - at(own, unknown - shift)[0] for shift in STEP * np.eye(3)]
            moves = np.linalg.solve(-np.transpose(slopes) / (2 * STEP), each)
            limits.append(exp(unknown[2]) * (1 + moves[2]))  # one for each scramble
    # The errors grow like 1/x as x shrinks.
    intercepts = np.polyfit(np.square(NEAR_END), limits, 1, w=NEAR_END)[1]
    return float(intercepts.mean()), float(intercepts.std(ddof=1) / sqrt(scrambles))


def overlap(branch, own):
    """The own overlap x of a branch from its coordinate."""
    return tanh(own) if branch == "semantic" else own
