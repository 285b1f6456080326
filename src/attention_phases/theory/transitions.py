"""The two thresholds in sample complexity: alpha_c(omega) and alpha_l(omega) (paper, Section 5)."""

from dataclasses import dataclass
from math import sqrt

import numpy as np
import scipy.optimize

from ..errors import check_choice
from .baseline import linear_baseline
from .fixed_point import solve
from .quadrature import SCRAMBLES

KINDS = ("critical", "linear")
SMALLEST, LARGEST = 0.2, 12.8  # range of alpha searched
POINTS = 2**13  # a crossing needs fewer than the overlaps: much of its error cancels between the branches
COARSE_POINTS = 2**8
ROUGH, SETTLED = 2e-2, 3e-3  # in alpha: where Newton's method takes over, and the step that ends it
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
    fine = {"points": points, "scrambles": scrambles, "seed": seed}
    coarse = {**fine, "points": min(points, COARSE_POINTS)}
    alpha = _near(lambda alpha: gap(task, alpha, {}, coarse)[0])
    if alpha is None:
        return Threshold(np.nan, np.nan, False)
    starts = {}
    for _ in range(NEWTON_STEPS):
        value, slope, stderr, exists = gap(task, alpha, starts, fine)
        step, error = value / slope, stderr / abs(slope)
        alpha -= step
        if abs(step) <= SETTLED:  # Newton's next step would be of the order of this one squared
            return Threshold(float(alpha), float(error), exists)
    return Threshold(float(alpha), float(error), False)


def _near(gap):
    """Close to where `gap` falls through zero, between neighbours of a doubling grid; None if it does not."""
    left = SMALLEST
    above = gap(left)
    while left < LARGEST:
        below = gap(2 * left)
        if above > 0 >= below:
            return scipy.optimize.brentq(gap, left, 2 * left, xtol=ROUGH)
        left, above = 2 * left, below
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
