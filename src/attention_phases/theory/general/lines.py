"""What theory says of another architecture along one line of alpha: branches and thresholds."""

from itertools import pairwise

import numpy as np
import scipy.optimize

from ..baseline import general_linear_baseline
from ..branches import follow
from ..lines import THRESHOLD_POINTS, near
from ..thresholds import BRANCHES, KINDS, threshold
from .fixed_point import solver, standard_error

SAID = ("train_loss", "test_mse", "gain")


def general_line(line):
    """Rows of a `cells.ArchitectureLineCell`.

    Parameters
    ----------
    line : ArchitectureLineCell

    Returns
    -------
    list of dict
        Each with `what` and `alpha`: "baseline"; one row for each alpha of each of its branches,
        as from `general_row`; and with `alpha_error`, where there is one (on a line with alphas: between these),
        "critical", "linear", and "semantic limit" or "positional limit", as from `limit`.
    """
    task, architecture = line.task(), line.architecture()
    solve = solver(architecture)
    quadrature = {"scrambles": line.scrambles, "seed": line.seed}
    found = {
        branch: follow(task, branch, line.alphas, line.points, **quadrature, solve=solve) if line.alphas else {}
        for branch in line.branches
    }
    rows = [{"what": "baseline", "test_mse": general_linear_baseline(task, architecture)}]
    for branch, solutions in found.items():
        if between := limit(task, branch, solutions, line.points, **quadrature, solve=solve):
            rows.append({"what": f"{branch} limit", "alpha": between[0], "alpha_error": between[1]})
            if architecture.form == "rank2" and "semantic" in found:
                # Here one branch leaves the other continuously; before, asymmetry of the points would show as theta.
                found["semantic"] = {alpha: each for alpha, each in found["semantic"].items() if alpha > between[0]}
    for branch, solutions in found.items():
        rows += [{"what": branch, "alpha": alpha, **general_row(task, each)} for alpha, each in solutions.items()]
    for kind in KINDS:
        if not set(BRANCHES[kind]) <= set(line.branches):
            continue
        start = near(kind, found, rows[0]["test_mse"]) if line.alphas else None
        if line.alphas and start is None:
            continue  # a search over all alpha takes longer than the line
        points = THRESHOLD_POINTS * line.points
        each = threshold(task, kind, points, **quadrature, near=start, architecture=architecture)
        if each.converged:
            rows.append({"what": kind, "alpha": each.alpha, "alpha_error": each.stderr})
    return rows


def limit(task, branch, solutions, points, solve, **quadrature):
    """Where a branch turns between saddle and minimum: the gain of what it holds at zero passes 1.

    Parameters
    ----------
    task : Task
    branch : str
    solutions : dict of GeneralSolution
        By ascending alpha.
    points : int
    solve : callable
    **quadrature
        `scrambles` and `seed`.

    Returns
    -------
    alpha, stderr : float
        None where no two neighbours differ in this.
    """
    alphas = list(solutions)
    for pair in pairwise(alphas):
        if (solutions[pair[0]].gain > 1) != (solutions[pair[1]].gain > 1):
            break
    else:
        return None
    start = solutions[pair[1]].overlaps
    gains = {}

    def excess(alpha):
        gains[alpha] = solve(task, alpha, branch, points, **quadrature, start=start)
        return gains[alpha].gain - 1

    root = scipy.optimize.brentq(excess, *pair, xtol=1e-3)
    nearest = min(gains, key=lambda alpha: abs(alpha - root))
    slope = (excess(pair[1]) - excess(pair[0])) / (pair[1] - pair[0])
    return root, float(gains[nearest].stderr["gain"] / abs(slope))


def general_row(task, found):
    """Overlaps, losses and gain, if any, of a `GeneralSolution` with errors, named as in `general_simulation`."""
    values = flat_overlaps(task.sigma**2, *(each[None] for each in found.overlaps))
    shifted = flat_overlaps(task.sigma**2, *(found.spread[name] for name in found.overlaps._fields))
    said = {name: getattr(found, name) for name in SAID if np.isfinite(getattr(found, name))}
    row = {name: float(each[0]) for name, each in values.items()} | said
    return row | {f"{name}_error": float(standard_error((found.spread | shifted)[name])) for name in row}


def flat_overlaps(variance, q, mu, theta, chi=None):
    """Overlaps by name, of several points at once; the marks of the positions have one column.

    q, m and theta (and V, for one column of weights) carry sigma^2 as in the solvable case: the trace of q, and norms
    over the columns. With more than one column q_11, m_1, theta_1 and so on stand beside them, without sigma^2.
    """
    r = q.shape[-1]
    if r == 1:
        found = {"q": variance * q[:, 0, 0], "m": mu[:, 0, 0], "theta": variance * theta[:, 0]}
        return found if chi is None else found | {"V": variance * chi[:, 0, 0]}
    found = {
        "q": variance * np.trace(q, axis1=1, axis2=2),
        "m": np.linalg.norm(mu[:, 0], axis=1),
        "theta": variance * np.linalg.norm(theta, axis=1),
    }
    found |= {f"q_{i + 1}{j + 1}": q[:, i, j] for i in range(r) for j in range(i, r)}
    each = {"m": mu[:, 0], "theta": theta}
    return found | {f"{name}_{i + 1}": values[:, i] for name, values in each.items() for i in range(r)}
