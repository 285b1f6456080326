"""The state evolution on 144 points: the kind of quadrature that the published theory curves were computed with.

A cubature of degree 7 in four dimensions, as the product of Stroud's twelve points for the normal law in the plane
(E_2^{r^2} 7-1), once for xi and once for zeta. Which rule of that degree was used is not published: this one gives the
published overlaps at alpha = 2, omega = 0.3 to two parts in a thousand.
"""

from math import nan, sqrt
from typing import NamedTuple

import numpy as np

from attention_phases.task import Task
from attention_phases.theory.baseline import linear_baseline
from attention_phases.theory.equations import Averages, Overlaps, Scalars, average, conjugates, penalty, update
from attention_phases.theory.quadrature import gaussian_points
from attention_phases.theory.setting import Setting
from attention_phases.theory.thresholds import Threshold, falls

DAMPING, STEPS, SETTLED = 0.9, 2000, 1e-7
MANY = (2**12, 8)  # points and scrambles of the exact losses
AROUND = np.linspace(-0.25, 0.25, 6)  # relative to the converged threshold, where the coarse one is looked for


class Coarse(NamedTuple):
    """A fixed point on the 144 points, with its losses by the same rule, and exactly: on many points."""

    overlaps: Scalars
    train_loss: np.ndarray  # (rule, exact)
    test_mse: np.ndarray  # (rule, exact)
    # Largest relative change of an overlap in the last damped step; where the prox jumps on one of so few points, the
    # iteration may never settle.
    change: float


def plane_rule() -> tuple[np.ndarray, np.ndarray]:
    """Return Stroud's rule for the normal law in the plane, exact to degree 7: points (12, 2) and weights (12,).

    It has three orbits of four points each; orbit k has the points 4 k to 4 k + 3.
    """
    root = sqrt(5)
    axis, near, far = sqrt(6), sqrt((9 - 3 * root) / 4), sqrt((9 + 3 * root) / 4)
    diagonal = np.array([(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)])
    axes = np.array([(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)])
    shares = [1 / 36, (5 + 2 * root) / 45, (5 - 2 * root) / 45]
    return np.concatenate([axis * axes, near * diagonal, far * diagonal]), np.repeat(shares, 4)


def product_rule() -> tuple[np.ndarray, np.ndarray]:
    """Return the 144 points (xi_1, xi_2, zeta_1, zeta_2) in nine orbits (9, 16, 4), and each orbit's weight (9,)."""
    points, weights = plane_rule()
    orbits, shares = points.reshape(3, 4, 2), weights.reshape(3, 4).sum(axis=1)
    products = [
        np.concatenate([np.repeat(first, 4, axis=0), np.tile(second, (4, 1))], axis=1)
        for first in orbits
        for second in orbits
    ]
    return np.array(products), np.outer(shares, shares).ravel()


def solve_coarsely(task: Task, alpha: float, start: Scalars) -> Coarse:
    """Return the fixed point on the 144 points, by damped iteration from `start`.

    An overlap that the start holds at zero stays there.
    """
    (points, weights), setting = product_rule(), Setting(task)
    overlaps = Overlaps.of(*start)
    for _ in range(STEPS):
        averages = Averages(*(np.tensordot(weights, values, 1) for values in average(setting, overlaps, points)))
        hats = conjugates(setting, alpha, overlaps, averages)
        new = update(setting, hats)
        change = max(abs(after / before - 1).max() for before, after in zip(overlaps, new) if before.any())
        change *= 1 - DAMPING
        overlaps = Overlaps(*(DAMPING * before + (1 - DAMPING) * after for before, after in zip(overlaps, new)))
        if change < SETTLED:
            break
    exact = average(setting, overlaps, gaussian_points(*MANY))
    fitted_losses = np.array([averages.fitted_loss, exact.fitted_loss.mean()])
    return Coarse(
        overlaps=overlaps.scalars,
        train_loss=alpha * fitted_losses + penalty(setting, hats),
        test_mse=np.array([averages.test_loss, exact.test_loss.mean()]),
        change=change,
    )


def coarse_threshold(task: Task, kind: str, converged: Threshold) -> tuple[float, float]:
    """Return alpha_c or alpha_l on the 144 points: with the losses by the rule, and with the exact losses.

    By interpolation in alpha; NaN where the losses do not cross within a quarter of the `converged` alpha.

    Args:
        kind: "critical" or "linear"
        converged: the same threshold on many points, around which it is looked for
    """
    alphas = converged.alpha.value * (1 + AROUND)
    starts = {branch: solution.overlaps for branch, solution in converged.solutions.items()}
    gaps = []
    for alpha in alphas:
        solutions = {branch: solve_coarsely(task, alpha, start) for branch, start in starts.items()}
        starts = {branch: solution.overlaps for branch, solution in solutions.items()}
        if kind == "critical":
            gaps.append(solutions["semantic"].train_loss - solutions["positional"].train_loss)
        else:
            gaps.append(solutions["semantic"].test_mse - linear_baseline(task))
    by_rule, exact = (falls(alphas, of_kind) for of_kind in np.transpose(gaps))
    return by_rule[0] if len(by_rule) else nan, exact[0] if len(exact) else nan
