"""The state evolution on 144 points: the kind of quadrature that the published theory curves were computed with.

A cubature of degree 7 in four dimensions, as the product of Stroud's twelve points for the normal law in the plane
(E_2^{r^2} 7-1), once for xi and once for zeta. Which rule of that degree was used is not published: this one gives the
published overlaps at alpha = 2, omega = 0.3 to two parts in a thousand.
"""

from dataclasses import dataclass
from math import isfinite, sqrt

import numpy as np

from .baseline import linear_baseline
from .quadrature import gaussian_points
from .rank_one.state_evolution import Averages, Overlaps, average, conjugates, update
from .thresholds import threshold

DAMPING, STEPS, SETTLED = 0.9, 2000, 1e-7
MANY = (2**12, 8)  # points and scrambles of the exact losses
AROUND = np.linspace(-0.25, 0.25, 6)  # relative to the converged threshold, where the coarse one is looked for


@dataclass(frozen=True)
class Coarse:
    """A fixed point on the 144 points.

    Attributes
    ----------
    overlaps : Overlaps
    train_loss, test_mse : float
        By the same rule.
    exact_train_loss, exact_test_mse : float
        What these overlaps give when the losses alone are integrated on many points.
    change : float
        Largest relative change of an overlap in the last damped step; where the prox jumps on one of so few points, the
        iteration may never settle.
    """

    overlaps: Overlaps
    train_loss: float
    test_mse: float
    exact_train_loss: float
    exact_test_mse: float
    change: float


def plane_rule():
    """Stroud's rule for the normal law in the plane, exact to degree 7: points (12, 2) and weights (12,).

    On three orbits of four points each; orbit k has the points 4 k to 4 k + 3.
    """
    root = sqrt(5)
    axis, near, far = sqrt(6), sqrt((9 - 3 * root) / 4), sqrt((9 + 3 * root) / 4)
    diagonal = np.array([(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)])
    axes = np.array([(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)])
    shares = [1 / 36, (5 + 2 * root) / 45, (5 - 2 * root) / 45]
    return np.concatenate([axis * axes, near * diagonal, far * diagonal]), np.repeat(shares, 4)


def product_rule():
    """The 144 points of (xi_1, xi_2, zeta_1, zeta_2) in nine orbits, (9, 16, 4), and the weight of each orbit, (9,)."""
    points, weights = (each.reshape(3, 4, -1) for each in plane_rule())
    orbits = [
        np.concatenate([np.repeat(points[i], 4, axis=0), np.tile(points[j], (4, 1))], axis=1)
        for i in range(3)
        for j in range(3)
    ]
    return np.array(orbits), np.outer(weights.sum(1), weights.sum(1)).ravel()


def solve_coarsely(task, alpha, start):
    """Fixed point on the 144 points, by damped iteration from `start`.

    Parameters
    ----------
    task : Task
    alpha : float
    start : Overlaps
        A converged solution of a branch, say; an overlap that it holds at zero stays there.

    Returns
    -------
    Coarse
    """
    points, weights = product_rule()
    overlaps = Overlaps(*start)
    for _ in range(STEPS):
        averages = Averages(*(weights @ each for each in average(task, overlaps, points)))
        new = update(task, conjugates(task, alpha, overlaps, averages))
        change = max(abs(b / a - 1) for a, b in zip(overlaps, new) if a) * (1 - DAMPING)
        overlaps = Overlaps(*(DAMPING * a + (1 - DAMPING) * b for a, b in zip(overlaps, new)))
        if change < SETTLED:
            break
    exact = average(task, overlaps, gaussian_points(*MANY))
    penalty = task.lam * overlaps.q / (2 * task.sigma**2)
    return Coarse(
        overlaps=overlaps,
        train_loss=alpha * averages.fitted_loss + penalty,
        test_mse=float(averages.test_loss),
        exact_train_loss=alpha * exact.fitted_loss.mean() + penalty,
        exact_test_mse=exact.test_loss.mean(),
        change=change,
    )


def coarse_threshold(task, kind, converged):
    """alpha_c or alpha_l on the 144 points.

    Parameters
    ----------
    task : Task
    kind : {"critical", "linear"}
    converged : Threshold
        The same on many points, around which it is looked for.

    Returns
    -------
    rule, exact : float
        With the losses by the rule, and with the exact losses of the rule's overlaps; by interpolation in alpha, NaN
        where they do not cross within a quarter of the converged alpha.
    """
    alphas = converged.alpha * (1 + AROUND)
    starts = {branch: each.overlaps for branch, each in converged.solutions.items()}
    gaps = []
    for alpha in alphas:
        found = {branch: solve_coarsely(task, alpha, start) for branch, start in starts.items()}
        starts = {branch: each.overlaps for branch, each in found.items()}
        semantic = found["semantic"]
        if kind == "critical":
            positional = found["positional"]
            gaps.append((
                semantic.train_loss - positional.train_loss,
                semantic.exact_train_loss - positional.exact_train_loss,
            ))  # fmt: skip
        else:
            gaps.append(np.subtract((semantic.test_mse, semantic.exact_test_mse), linear_baseline(task)))
    return tuple(_fall(alphas, each) for each in np.transpose(gaps))


def coarse_line(cell):
    """Rows of a `cells.RuleCell`.

    Returns
    -------
    list of dict
        For each threshold that exists, `what`: "critical" or "linear", `alpha` and `alpha_error` on many points, `rule`
        and `exact` as `coarse_threshold` gives them, where there is a crossing.
    """
    task, rows = cell.task, []
    for kind in ("critical", "linear"):
        converged = threshold(task, kind, cell.points, cell.scrambles, cell.seed)
        if converged.converged:
            found = dict(zip(("rule", "exact"), coarse_threshold(task, kind, converged)))
            row = {"what": kind, "alpha": converged.alpha, "alpha_error": converged.stderr}
            rows.append(row | {name: value for name, value in found.items() if isfinite(value)})
    return rows


def _fall(alphas, gaps):
    falls = np.flatnonzero((gaps[:-1] > 0) & (gaps[1:] <= 0))
    if not len(falls):
        return float("nan")
    i = falls[0]
    return float(np.interp(0.0, [gaps[i + 1], gaps[i]], [alphas[i + 1], alphas[i]]))
