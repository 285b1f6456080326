"""The two thresholds in sample complexity: alpha_c(omega) and alpha_l(omega) (paper, Section 5)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from math import nan
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy.optimize

from ..errors import check_choice
from ..measured import standard_error
from ..model.architectures import Architecture
from ..task import Task
from .baseline import linear_baseline
from .branches import solve_from
from .quadrature import SCRAMBLES, usual_points
from .solution import Solution

# The branches that each threshold compares; the linear one compares a single branch with the linear model.
THRESHOLDS = {"critical": ("semantic", "positional"), "linear": ("semantic",)}
SMALLEST, LARGEST = 0.2, 12.8  # range of alpha searched
# Points a scramble to find the crossing, and to come so near that one step on all points ends it.
ROUGH_POINTS, MIDDLE_POINTS = 2**8, 2**11
ROUGH, SETTLED = 2e-2, 3e-3  # in alpha: where Newton's method takes over, and the step that ends it
NEWTON_STEPS = 6


@dataclass(frozen=True)
class Threshold:
    """A threshold in alpha.

    Attributes
    ----------
    alpha, stderr : float
        NaN if no crossing was found.
    converged : bool
        False where there is no root in the range searched, or a branch does not reach it.
    solutions : dict of Solution
        The branches within one Newton step of the root.
    """

    alpha: float
    stderr: float
    converged: bool
    solutions: Mapping[str, Solution] = field(repr=False)


class Gap(NamedTuple):
    """What falls through zero at a threshold: its value at one alpha, derivative in alpha and standard error."""

    value: float
    slope: float
    stderr: float
    solutions: Mapping[str, Solution]  # by branch, all at the same alpha

    @classmethod
    def of(cls, solutions: Mapping[str, Solution], baseline: float) -> "Gap":
        """Return the gap between the free energies of two solutions, or the test errors of one and the linear model."""
        semantic, *others = solutions.values()
        if not others:
            return cls(semantic.test_mse - baseline, semantic.test_slope, semantic.stderr["test_mse"], solutions)
        (positional,) = others
        # The scrambles serve both branches, and most of the error cancels in the difference.
        error = standard_error(semantic.energies - positional.energies)
        value, slope = semantic.free_energy - positional.free_energy, semantic.train_slope - positional.train_slope
        return cls(value, slope, error, solutions)

    @property
    def alpha(self) -> float:
        return self.solutions["semantic"].alpha

    @property
    def exists(self) -> bool:
        """Whether all branches do."""
        return all(each.converged for each in self.solutions.values())


def threshold(
    task: Task, kind: str, points: int | None = None, scrambles=SCRAMBLES, seed=0, near: Threshold | None = None,
    architecture: Architecture | None = None, report: Callable[[int], object] | None = None,
) -> Threshold:  # fmt: skip
    """Return the sample complexity of a transition.

    Parameters
    ----------
    task : Task
    kind : {"critical", "linear"}
        alpha_c, where the training losses of the semantic and the positional branch cross; or alpha_l,
        where the semantic test error meets that of the linear baseline.
    points, scrambles, seed : int
        Quadrature, see `gaussian_points`; by default `usual_points` of "threshold".
    near : Threshold, optional
        The same transition of a similar task, from which to start instead of a search.
    architecture : Architecture, optional
        As for `solve`.
    report : callable, optional
        Called with the points of each evaluation, which cost about as much time.

    Returns
    -------
    Threshold

    Raises
    ------
    BadInput
        A parameter is outside its range.
    """
    branches = THRESHOLDS[check_choice("kind", kind, tuple(THRESHOLDS))]
    points = usual_points("threshold", architecture) if points is None else points
    baseline = linear_baseline(task, architecture)
    options = {"scrambles": scrambles, "seed": seed, "architecture": architecture}

    def at(alpha: float, points: int, near: Mapping[str, Solution]) -> Gap:
        """The gap at alpha, from the solutions `near`."""
        if report:
            report(points)
        found = {each: solve_from(near.get(each), task, alpha, each, points=points, **options) for each in branches}
        return Gap.of(found, baseline)

    if near is not None and near.converged:
        alpha, solutions = near.alpha, near.solutions
    else:
        near, crossing = None, _search(lambda alpha, near: at(alpha, min(points, ROUGH_POINTS), near))
        if crossing is None:
            return Threshold(nan, nan, False, {})
        alpha, solutions = crossing
    for count in sorted({min(points, MIDDLE_POINTS), points}):
        for _ in range(NEWTON_STEPS):
            here = at(alpha, count, solutions)
            solutions, step = here.solutions, here.value / here.slope
            alpha = max(alpha - step, SMALLEST)
            settled = abs(step) <= SETTLED  # Newton's next step would be of the order of this one squared
            if settled or not here.exists:
                break
    converged = bool(settled and here.exists)
    if near is not None and not converged:
        return threshold(task, kind, points, **options, report=report)
    return Threshold(float(alpha), float(here.stderr / abs(here.slope)), converged, solutions)


def _search(at: Callable[[float, Mapping], Gap]):
    """Where the gap falls through zero, to `ROUGH`, and the last solutions on the way; None if it does not fall.

    The sign change is looked for between neighbours of a doubling grid, whose steps are too long to follow a branch.
    """
    left = at(SMALLEST, {})
    while left.alpha < LARGEST:
        right = at(2 * left.alpha, {})
        if left.value > 0 >= right.value:
            return _bisect(at, left, right)
        left = right
    return None


def _bisect(at, *ends):
    """The end of `_search` between two gaps: each evaluation starts from the solutions of the one before."""
    known = {each.alpha: each for each in ends}  # in the order of evaluation

    def value(alpha):
        if alpha not in known:
            known[alpha] = at(alpha, [*known.values()][-1].solutions)
        return known[alpha].value

    alpha = float(scipy.optimize.brentq(value, *known, xtol=ROUGH))  # type: ignore[arg-type]
    return alpha, [*known.values()][-1].solutions


def loss_gap(found: Mapping[float, Solution], positional: Mapping[float, Solution]) -> pd.DataFrame:
    """Return by how much the training loss of one branch exceeds that of the positional one, where both exist.

    Both are solutions by alpha, from `branches.follow` on the same points. The columns are alpha, train_loss,
    train_loss_error, and the gain of the first branch; above 1 it is a saddle.
    """
    gaps = {
        alpha: Gap.of({"semantic": found[alpha], "positional": positional[alpha]}, nan)
        for alpha in found
        if alpha in positional
    }
    rows = [(alpha, gap.value, gap.stderr, found[alpha].gain) for alpha, gap in gaps.items()]
    return pd.DataFrame(rows, columns=["alpha", "train_loss", "train_loss_error", "gain"])


def falls(x: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return where values (n,) at growing x (n,) fall through zero, by linear interpolation: growing, maybe none."""
    before = np.flatnonzero((values[:-1] > 0) & (values[1:] <= 0))
    share = values[before] / (values[before] - values[before + 1])
    return x[before] + share * (x[before + 1] - x[before])


def seen_between(kind: str, found: Mapping[str, Mapping[float, Solution]], baseline: float) -> Threshold | None:
    """Return a guess for `threshold` to start from, where the gap changes its sign among known solutions.

    The solutions are found[branch][alpha], `baseline` the test error of the linear model. The guess is linear
    interpolation, without an error; None where no sign change is seen.
    """
    branches = THRESHOLDS[kind]
    alphas = sorted(set.intersection(*(set(found[branch]) for branch in branches)), reverse=True)
    gaps = [Gap.of({branch: found[branch][alpha] for branch in branches}, baseline) for alpha in alphas]
    for right, left in pairwise(gaps):
        if left.value > 0 >= right.value:
            nearest = left if left.value < -right.value else right
            alpha = left.alpha + (right.alpha - left.alpha) * left.value / (left.value - right.value)
            return Threshold(alpha, nan, True, nearest.solutions)
    return None
