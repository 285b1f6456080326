"""Everything that theory says along one line of alpha: branches, where they end, and the two thresholds."""

import json

import numpy as np
import pandas as pd

from ..task import Task
from .baseline import linear_baseline
from .branches import as_row, branch_end, follow
from .quadrature import SCRAMBLES, gaussian_points
from .rank_one.fixed_point import HELD, solve
from .rank_one.state_evolution import Averages, Overlaps, average, gain
from .thresholds import BRANCHES, KINDS, Threshold, threshold

# In the points of the line: a crossing and an end are single numbers, on which more can be spent.
THRESHOLD_POINTS, END_POINTS = 4, 2
MINIMA = ("semantic", "positional")


def theory_line(line):
    """Rows of a `cells.Line`.

    Parameters
    ----------
    line : cells.Line

    Returns
    -------
    list of dict
        Each with `what` and `alpha`. For "semantic", "positional" and, where one of these is missing,
        "symmetric": one row for each alpha, as from `branches.as_row`. For "critical" and "linear", and for
        each end of a minimum within the alphas ("semantic start", "positional stop", ...): alpha and
        `alpha_error`, no row where there is none. Where `branch_end` fails, the end is known to a step of
        the alphas. The first row, "baseline", has the `test_mse` of the linear model.
    """
    task, alphas = line.task(), sorted(line.alphas)
    quadrature = {"scrambles": line.scrambles, "seed": line.seed}
    found = {branch: follow(task, branch, alphas, line.points, **quadrature) if alphas else {} for branch in MINIMA}
    missing = [alpha for alpha in alphas if not all(alpha in each for each in found.values())]
    if missing:
        found["symmetric"] = follow(task, "symmetric", missing, line.points, **quadrature)

    rows = [{"what": "baseline", "test_mse": linear_baseline(task)}]
    for branch, solutions in found.items():
        rows += [{"what": branch, "alpha": alpha, **as_row(each)} for alpha, each in solutions.items()]
    for kind in KINDS:
        if alphas and not all(found[branch] for branch in BRANCHES[kind]):
            continue
        start = near(kind, found, rows[0]["test_mse"])
        each = threshold(task, kind, THRESHOLD_POINTS * line.points, **quadrature, near=start)
        if each.converged:
            rows.append({"what": kind, "alpha": each.alpha, "alpha_error": each.stderr})
    for branch in MINIMA:
        reached = [alphas.index(alpha) for alpha in found[branch]]
        for end, within, beyond in (("start", min(reached), -1), ("stop", max(reached), 1)) if reached else ():
            if 0 <= within + beyond < len(alphas):
                bracket = alphas[within], alphas[within + beyond]
                last = found[branch][bracket[0]].overlaps
                value, error = branch_end(task, branch, bracket[0], last, END_POINTS * line.points, **quadrature)
                step = abs(bracket[0] - bracket[1])
                if not abs(value - sum(bracket) / 2) <= 2 * step + 3 * error:  # NaN, or the other end
                    value, error = sum(bracket) / 2, step / 2
                rows.append({"what": f"{branch} {end}", "alpha": value, "alpha_error": error})
    return rows


def stability_limit(task, branch, table, points=2**11, scrambles=SCRAMBLES, seed=0):
    """Where a branch turns from a saddle into a minimum: the gain of the overlap that it holds at zero passes 1.

    Parameters
    ----------
    task : Task
    branch : {"semantic", "positional"}
        Looked at from its smallest, or its largest, alpha.
    table : pandas.DataFrame
        The branch, with alpha, q, m, theta and V. The limit may lie beyond its end by one step of its alphas.
    points, scrambles, seed : int
        Quadrature, see `gaussian_points`.

    Returns
    -------
    alpha, stderr : float
        NaN if the branch ends as a minimum, or is a saddle all along.
    """
    nets = gaussian_points(points, scrambles, seed)
    known = {}
    for row in table.sort_values("alpha", ascending=branch == "semantic").itertuples():
        known[row.alpha] = Overlaps(row.q, row.m, row.theta, row.V)
        averages = Averages(*(each.mean() for each in average(task, known[row.alpha], nets)))
        if len(known) > 1 and gain(task, row.alpha, known[row.alpha], averages, *HELD[branch]) <= 1:
            break
    else:
        return np.nan, np.nan

    def at(alpha):
        nearest = min(known, key=lambda other: abs(other - alpha))
        return alpha, solve(task, alpha, branch, points, scrambles, seed, start=known[nearest])

    near, far = sorted(map(at, list(known)[-2:]), key=lambda each: abs(each[1].gain - 1))
    limit, error = _secant(near, far)
    step = abs(near[0] - far[0])
    if not abs(limit - near[0]) <= step:
        limit, error = near[0] + np.copysign(step, limit - near[0]), 0.0
    if limit <= 0:
        return np.nan, np.nan
    middle = at(limit)
    if middle[1].converged:
        return _secant(middle, max(near, far, key=lambda each: abs(each[0] - limit)))
    inside = min(near[0], far[0]) - 3 * error < limit < max(near[0], far[0]) + 3 * error
    return (limit, error) if inside and error > 0 else (np.nan, np.nan)


def _secant(nearer, farther):
    """Where the line through two gains is 1."""
    (alpha, found), (other, last) = nearer, farther
    slope = (found.gain - last.gain) / (alpha - other)
    return float(alpha + (1 - found.gain) / slope), float(found.stderr["gain"] / abs(slope))


def border(lines, branch, **quadrature):
    """Up to where a branch is a minimum, along omega: it ends there, or becomes a saddle before.

    Parameters
    ----------
    lines : pandas.DataFrame
        Rows of `theory_line` with the fields of their lines.
    branch : {"semantic", "positional"}
        Its lower border, or its upper one.
    **quadrature
        Of `stability_limit`.

    Returns
    -------
    pandas.DataFrame
        omega as index; alpha and alpha_error.
    """
    end = {"semantic": "semantic start", "positional": "positional stop"}[branch]
    found = {}
    for (omega, sigma, lam, matrix), line in lines.groupby(["omega", "sigma", "lam", "matrix"], observed=True):
        task = Task(omega=omega, sigma=sigma, lam=lam, matrix=json.loads(matrix))
        for ended in line.loc[line["what"] == end, ["alpha", "alpha_error"]].to_numpy():
            limit = stability_limit(task, branch, line[line["what"] == branch], **quadrature)
            inside = limit[0] > ended[0] if branch == "semantic" else limit[0] < ended[0]
            found[omega] = limit if inside else ended
    return pd.DataFrame.from_dict(found, orient="index", columns=["alpha", "alpha_error"]).sort_index()


def near(kind, found, baseline):
    """What `threshold` may start from, where a sign change is seen among the solutions; else None."""
    alphas = sorted(set.intersection(*(set(found[branch]) for branch in BRANCHES[kind])))

    def gap(alpha):
        semantic = found["semantic"][alpha]
        if kind == "linear":
            return semantic.test_mse - baseline
        return semantic.free_energy - found["positional"][alpha].free_energy

    for above, below in zip(alphas[-2::-1], alphas[:0:-1]):
        left, right = gap(above), gap(below)
        if left > 0 >= right:
            nearest = above if left < -right else below
            solutions = {branch: found[branch][nearest] for branch in BRANCHES[kind]}
            return Threshold(above + (below - above) * left / (left - right), np.nan, True, solutions)
    return None
