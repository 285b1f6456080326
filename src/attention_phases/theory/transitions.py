"""The two thresholds in sample complexity: alpha_c(omega) and alpha_l(omega) (paper, Section 5)."""

from dataclasses import dataclass
from math import sqrt

import numpy as np
import scipy.optimize

from ..errors import check_choice
from .baseline import linear_baseline
from .fixed_point import solve
from .quadrature import POINTS, SCRAMBLES

KINDS = ("critical", "linear")
SMALLEST, LARGEST = 0.2, 16.0  # range of alpha searched
COARSE_POINTS = 2**10
SETTLED = 0.1  # a Newton step this small, in standard errors, ends the search
NEWTON_STEPS = 6


@dataclass(frozen=True)
class Threshold:
    """A root in alpha. `converged` is False where there is none in the range searched."""

    alpha: float
    stderr: float
    converged: bool


def threshold(task, kind, points=POINTS, scrambles=SCRAMBLES, seed=0):
    """Sample complexity of a transition.

    Parameters
    ----------
    task : Task
    kind : {"critical", "linear"}
        alpha_c, where the training losses of the semantic and the positional branch cross; or alpha_l,
        where the semantic test error meets that of the linear baseline.
    points, scrambles, seed : int
        Quadrature, see `gaussian_points`.

    Returns
    -------
    Threshold
    """
    gap = {"critical": _training_gap, "linear": _test_gap}[check_choice("kind", kind, KINDS)]
    coarse = {"points": min(points, COARSE_POINTS), "scrambles": scrambles, "seed": seed}
    bracket = _bracket(lambda alpha: gap(task, alpha, {}, coarse)[0])
    if bracket is None:
        return Threshold(np.nan, np.nan, False)
    alpha = scipy.optimize.brentq(lambda alpha: gap(task, alpha, {}, coarse)[0], *bracket, xtol=1e-3)
    starts, fine = {}, {"points": points, "scrambles": scrambles, "seed": seed}
    for _ in range(NEWTON_STEPS):
        value, slope, stderr, exists = gap(task, alpha, starts, fine)
        step, error = value / slope, stderr / abs(slope)
        alpha -= step
        if abs(step) <= SETTLED * error:
            return Threshold(float(alpha), float(error), exists)
    return Threshold(float(alpha), float(error), False)


def _bracket(gap):
    """Two neighbours on a doubling grid between which `gap` falls through zero, or None."""
    left = SMALLEST
    while left < LARGEST:
        if gap(left) > 0 >= gap(2 * left):
            return left, 2 * left
        left *= 2
    return None


def _follow(task, alpha, branches, starts, quadrature):
    """Solutions at `alpha`, from those in `starts`, which are replaced."""
    for branch in branches:
        starts[branch] = solve(task, alpha, branch, start=starts.get(branch), **quadrature)
    return [starts[branch] for branch in branches]


def _training_gap(task, alpha, starts, quadrature):
    """Semantic less positional training loss, its slope in alpha, its error, and whether both branches exist.

    The scrambles serve both branches, and most of the error cancels in the difference.
    """
    semantic, positional = _follow(task, alpha, ("semantic", "positional"), starts, quadrature)
    value = semantic.free_energy - positional.free_energy
    slope = semantic.train_slope - positional.train_slope
    energies = semantic.energies - positional.energies
    stderr = np.std(energies, ddof=1) / sqrt(len(energies))
    return value, slope, stderr, semantic.converged and positional.converged


def _test_gap(task, alpha, starts, quadrature):
    """Semantic test error less that of the linear baseline, its slope in alpha, its error, and whether it exists."""
    (semantic,) = _follow(task, alpha, ("semantic",), starts, quadrature)
    value = semantic.test_mse - linear_baseline(task)
    return value, semantic.test_slope, semantic.stderr["test_mse"], semantic.converged
