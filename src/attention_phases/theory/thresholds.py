"""The two thresholds in sample complexity: alpha_c(omega) and alpha_l(omega) (paper, Section 5)."""

from dataclasses import dataclass, field
from functools import cache
from math import sqrt

import numpy as np
import scipy.optimize

from ..errors import check_choice
from .baseline import general_linear_baseline, linear_baseline
from .general.fixed_point import solver
from .quadrature import SCRAMBLES
from .rank_one.fixed_point import solve

KINDS = ("critical", "linear")
BRANCHES = {"critical": ("semantic", "positional"), "linear": ("semantic",)}
SMALLEST, LARGEST = 0.2, 12.8  # range of alpha searched
GENERAL_POINTS = 2**11  # of other architectures
POINTS = 2**13  # a crossing needs fewer than the overlaps: much of its error cancels between the branches
# To find the crossing, and to come so near that one step on all points ends it.
ROUGH_POINTS, MIDDLE_POINTS = 2**8, 2**11
ROUGH, SETTLED = 2e-2, 3e-3  # in alpha: where Newton's method takes over, and the step that ends it
NEWTON_STEPS = 6


@dataclass(frozen=True)
class Threshold:
    """A root in alpha.

    Attributes
    ----------
    alpha, stderr : float
    converged : bool
        False where there is no root in the range searched, or a branch does not reach it.
    solutions : dict of Solution
        The branches within one Newton step of the root.
    """

    alpha: float
    stderr: float
    converged: bool
    solutions: dict = field(repr=False)


def threshold(task, kind, points=POINTS, scrambles=SCRAMBLES, seed=0, near=None, architecture=None, report=None):
    """Sample complexity of a transition.

    Parameters
    ----------
    task : Task
    kind : {"critical", "linear"}
        alpha_c, where the training losses of the semantic and the positional branch cross; or alpha_l,
        where the semantic test error meets that of the linear baseline.
    points, scrambles, seed : int
        Quadrature, see `gaussian_points`.
    near : Threshold, optional
        The same transition of a similar task, to start from in place of a search.
    architecture : Architecture, optional
        Other than the standard one.
    report : callable, optional
        Called with the points of each evaluation, which cost about as much time.

    Returns
    -------
    Threshold
    """
    gap = _Gap(task, check_choice("kind", kind, KINDS), scrambles, seed, architecture, report)
    if near is not None and near.converged:
        gap.solutions = dict(near.solutions)
        alpha = near.alpha
    else:
        alpha = _search(gap, min(points, ROUGH_POINTS))
        if alpha is None:
            return Threshold(np.nan, np.nan, False, {})
    for count in sorted({min(points, MIDDLE_POINTS), points}):
        for _ in range(NEWTON_STEPS):
            value, slope, stderr = gap(alpha, count)
            step = value / slope
            alpha = max(alpha - step, SMALLEST)
            settled = abs(step) <= SETTLED  # Newton's next step would be of the order of this one squared
            if settled or not gap.exists:
                break
    if near is not None and not (settled and gap.exists):
        return threshold(task, kind, points, scrambles, seed, architecture=architecture, report=report)
    return Threshold(float(alpha), float(stderr / abs(slope)), bool(settled and gap.exists), gap.solutions)


def _search(gap, points):
    """Close to where the gap falls through zero, between neighbours of a doubling grid; None if it does not."""
    value = cache(lambda alpha: gap(alpha, points)[0])
    left = SMALLEST
    while left < LARGEST:
        gap.solutions = {}  # the steps are too long to follow a branch
        value(2 * left)
        if value(left) > 0 >= value(2 * left):
            return scipy.optimize.brentq(value, left, 2 * left, xtol=ROUGH)
        left *= 2
    return None


class _Gap:
    """What falls through zero at a threshold, evaluated from the solutions at the alpha before."""

    def __init__(self, task, kind, scrambles, seed, architecture, report):
        self.task, self.kind, self.solutions, self.report = task, kind, {}, report or (lambda points: None)
        self.solve, self.baseline = solve, linear_baseline(task)
        if architecture is not None:
            self.solve, self.baseline = solver(architecture), general_linear_baseline(task, architecture)
        self.quadrature = {"scrambles": scrambles, "seed": seed}

    @property
    def exists(self):
        return all(each.converged for each in self.solutions.values())

    def __call__(self, alpha, points):
        """Gap, its slope in alpha and its error."""
        for branch in BRANCHES[self.kind]:
            self.solutions[branch] = self._solve(alpha, branch, points)
        self.report(points)
        semantic = self.solutions["semantic"]
        if self.kind == "linear":
            value = semantic.test_mse - self.baseline
            return value, semantic.test_slope, semantic.stderr["test_mse"]
        positional = self.solutions["positional"]
        # The scrambles serve both branches, and most of the error cancels in the difference.
        energies = semantic.energies - positional.energies
        return (
            semantic.free_energy - positional.free_energy,
            semantic.train_slope - positional.train_slope,
            np.std(energies, ddof=1) / sqrt(len(energies)),
        )

    def _solve(self, alpha, branch, points):
        start = self.solutions.get(branch)
        if start is not None and start.converged:
            found = self.solve(self.task, alpha, branch, points, start=start.overlaps, **self.quadrature)
            if found.converged:
                return found
        return self.solve(self.task, alpha, branch, points, **self.quadrature)
