"""The thresholds in sample complexity: alpha_c(omega) and alpha_l(omega) (paper, Section 5).

A student of rank 2 and a teacher of several columns have a third threshold, "second".
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan, nan
from typing import Any, NamedTuple

import numpy as np

from ..errors import BadInput, check_choice, check_kind
from ..measured import NO_VALUE, Measured, standard_error
from ..model.architectures import STANDARD, Architecture
from ..quadrature import SCRAMBLES, usual_points
from ..records import origin_of
from ..task import Task
from .baseline import linear_baseline
from .branches import solve_from
from .setting import Setting
from .solver import Solution

# The branches that each threshold compares. For the threshold "linear", one branch is compared with the linear model.
COMPARED_BRANCHES = {"critical": ("semantic", "positional"), "linear": ("semantic",), "second": ("both", "semantic")}
SMALLEST, LARGEST = 0.2, 12.8  # range of alpha in which thresholds are searched for
SEARCH_RANGE = f"between alpha = {SMALLEST} and {LARGEST}"
# Numbers of points per scramble for the search and for the first stage of Newton's method. The second stage uses all
# points.
ROUGH_POINTS, MIDDLE_POINTS = 2**8, 2**11
# The smallest steps in alpha: of the search, of Newton's method on some of the points, and of Newton's method on all
# points.
ROUGH_STEP, MIDDLE_STEP, LAST_STEP = 2e-2, 5e-2, 3e-3
NEWTON_STEPS = 10  # largest number of Newton steps in each stage


@dataclass(frozen=True)
class Threshold:
    """A threshold in alpha with its standard error, which is NaN if the threshold is only a guess.

    `alpha` is `NO_VALUE` if there is no root in the range searched, or if a branch does not reach it. The `reason` then
    says which. The solutions are within one Newton step of the root.
    """

    alpha: Measured  #: the threshold with its standard error
    solutions: Mapping[str, Solution] = field(repr=False)  #: solutions by branch
    reason: str = ""  #: why there is no threshold; empty if there is one
    origin: dict[str, Any] = field(default_factory=dict, repr=False)  #: task, quadrature and code, see `origin_of`

    @property
    def exists(self) -> bool:
        """Whether the threshold was found."""
        return not isnan(self.alpha.value)


NO_THRESHOLD = Threshold(NO_VALUE, {})


class Gap(NamedTuple):
    """The difference of two losses or test errors that changes sign at a threshold, evaluated at one alpha.

    The difference becomes negative as alpha grows.
    """

    value: float  #: difference of two losses or test errors
    slope: float  #: derivative of the difference with respect to alpha
    stderr: float  #: standard error of the difference
    solutions: Mapping[str, Solution]  #: by branch, all at the same alpha

    @classmethod
    def of(cls, solutions: Mapping[str, Solution], baseline: float) -> "Gap":
        """Return the gap between the free energies of two branches, or between a test error and the baseline.

        The test error is used if there is only one branch.
        """
        first, *others = solutions.values()
        if not others:
            return cls(first.test_mse - baseline, first.test_slope, first.stderr["test_mse"], solutions)
        (second,) = others
        # Both branches use the same scrambles, so most of the error cancels in the difference.
        error = standard_error(first.spread["train_loss"] - second.spread["train_loss"])
        value, slope = first.free_energy - second.free_energy, first.train_slope - second.train_slope
        return cls(value, slope, error, solutions)

    @property
    def alpha(self) -> float:
        """The alpha at which the solutions were computed."""
        return next(iter(self.solutions.values())).alpha

    @property
    def exists(self) -> bool:
        """Whether the solutions of all branches converged."""
        return all(solution.converged for solution in self.solutions.values())


# A function of alpha, the number of points per scramble, and solutions to start from. It returns the gap.
GapAt = Callable[[float, int, Mapping[str, Solution]], Gap]


def threshold(
    task: Task,
    kind: str,
    points: int | None = None,
    scrambles: int = SCRAMBLES,
    seed: int = 0,
    near: Threshold = NO_THRESHOLD,
    architecture: Architecture = STANDARD,
    report: Callable[[int], object] | None = None,
) -> Threshold:
    """Return the alpha at which a transition occurs, with its standard error.

    >>> from attention_phases import Task, threshold
    >>> place = threshold(Task(omega=0.3), "critical", points=256)
    >>> place.exists, 1.1 < place.alpha.value < 1.4
    (True, True)

    Args:
        kind: "critical", alpha_c, where the training losses of the semantic and the positional branch cross;
            "linear", alpha_l, where the semantic test error equals the test error of the linear baseline; or "second",
            for rank 2, where following two columns of the teacher has a lower training loss than following one column
            and the positions
        points, scrambles, seed: quadrature, see `gaussian_points`; the default of points is that of "threshold" in
            `usual_points`
        near: the same transition of a similar task, from which the computation starts instead of a search
        architecture: as for `solve`
        report: function that is called with the points of each evaluation; the time grows in proportion to them
    """
    check_kind("near", near, Threshold)
    check_kind("report", report, Callable | None)
    branches = COMPARED_BRANCHES[check_choice("kind", kind, tuple(COMPARED_BRANCHES))]
    fast = Setting(task, architecture).fast
    if kind == "second" and not (architecture.rotates and len(task.teachers) > 1):
        raise BadInput("kind = 'second' needs a student of rank 2 and several teachers; else use critical or linear")
    points = usual_points("threshold", fast) if points is None else points
    baseline = linear_baseline(task, architecture) if kind == "linear" else nan
    options = {"scrambles": scrambles, "seed": seed, "architecture": architecture}

    def gap_at(alpha: float, points: int, known: Mapping[str, Solution]) -> Gap:
        if report:
            report(points)
        solutions = {
            branch: solve_from(known.get(branch), task, alpha, branch, points=points, **options) for branch in branches
        }
        return Gap.of(solutions, baseline)

    place = _refine(gap_at, near, points) if near.exists else near
    if not place.exists:
        rough = _search(gap_at, min(points, ROUGH_POINTS))
        place = _refine(gap_at, rough, points) if rough.exists else rough
    return replace(place, origin=origin_of(task=task, kind=kind, points=points, **options))


def _refine(gap_at: GapAt, guess: Threshold, points: int) -> Threshold:
    """Refine a guess of a threshold by Newton's method, first on some quadrature points and then on all.

    A step out of the interval in which the gap changes sign is replaced by a bisection of the interval. Otherwise
    Newton's method would step over the beginning of a branch, where the branch bends strongly.
    """
    alpha, known = guess.alpha.value, guess.solutions
    for count in sorted({min(points, MIDDLE_POINTS), points}):
        low, high = SMALLEST, np.inf
        for _ in range(NEWTON_STEPS):
            gap = gap_at(alpha, count, known)
            known, step = gap.solutions if gap.exists else known, gap.value / gap.slope
            low, high = (low, alpha) if gap.exists and gap.value <= 0 else (alpha, high)
            # The next step of Newton's method would be of the order of this step squared.
            settled = gap.exists and min(abs(step), high - low) <= (LAST_STEP if count == points else MIDDLE_STEP)
            alpha = max(alpha - step, SMALLEST)
            if high < np.inf and not (gap.exists and low <= alpha <= high):
                alpha = (low + high) / 2
            if settled or not (gap.exists or high < np.inf):
                break
    if not settled:
        why = [
            _missing_branch(branch, [solution]) for branch, solution in gap.solutions.items() if not solution.converged
        ]
        return Threshold(NO_VALUE, {}, "; ".join(why) or f"Newton's method did not settle near alpha = {alpha:.4g}")
    return Threshold(Measured(float(alpha), float(gap.stderr / abs(gap.slope))), known)


def _search(gap_at: GapAt, points: int) -> Threshold:
    """Search the range of alpha for a sign change of the gap, and return a guess of the threshold.

    The guess is accurate to `ROUGH_STEP`. If there is none, the result has the reason.

    The sign change is searched for between neighbours of a doubling grid. Its steps are too long to follow a branch, so
    each solution starts anew.
    """
    tried = [gap_at(SMALLEST, points, {})]
    while tried[-1].alpha < LARGEST:
        tried.append(gap_at(2 * tried[-1].alpha, points, {}))
        left, right = tried[-2:]
        if left.value > 0 >= right.value:
            return _bisect(gap_at, points, left, right)
    for branch in tried[0].solutions:
        found = [gap.solutions[branch] for gap in tried]
        if not any(solution.converged for solution in found):
            return Threshold(NO_VALUE, {}, _missing_branch(branch, found))
    return Threshold(NO_VALUE, {}, f"the two quantities that it compares do not cross {SEARCH_RANGE}")


def _missing_branch(branch: str, solutions: Sequence[Solution]) -> str:
    """Return an error message for a branch that was not found, with the alphas at which it was searched for."""
    where = f"at alpha = {solutions[0].alpha:.4g}" if len(solutions) == 1 else SEARCH_RANGE
    return f"no {branch} branch {where}: {solutions[-1].reason}"


def _bisect(gap_at: GapAt, points: int, left: Gap, right: Gap) -> Threshold:
    """Find the sign change of the gap between two alphas by Brent's method, to `ROUGH_STEP`.

    Each evaluation starts from the solutions of the previous one.
    """
    from scipy.optimize import brentq  # slow to import

    known = {left.alpha: left, right.alpha: right}  # gaps in the order of evaluation

    def value_at(alpha):
        if alpha not in known:
            known[alpha] = gap_at(alpha, points, [*known.values()][-1].solutions)
        return known[alpha].value

    alpha = float(brentq(value_at, left.alpha, right.alpha, xtol=ROUGH_STEP))  # pyright: ignore[reportArgumentType]
    return Threshold(Measured(alpha, nan), [*known.values()][-1].solutions)


def falls(x: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the x at which linearly interpolated values change from positive to negative.

    The values (..., n) are given at increasing x (n,). The results (..., n - 1) are between neighbouring x. They
    are NaN where the values do not fall through zero.
    """
    here, there = values[..., :-1], values[..., 1:]
    with np.errstate(divide="ignore", invalid="ignore"):  # places where the values do not fall may divide by zero
        return np.where((here > 0) & (there <= 0), x[:-1] + here / (here - there) * np.diff(x), np.nan)


def last_fall(x: np.ndarray, values: np.ndarray) -> Any:
    """Return the last of the `falls`, or NaN if there is none.

    If two students are compared, they may be the same student below a threshold. Their difference is then noise and
    crosses zero by chance. Above the threshold, the difference is noisy only where some students are unfinished.
    """
    return np.fmax.reduce(falls(x, values), axis=-1, initial=np.nan)


def guess_from_known(kind: str, branches: Mapping[str, Mapping[float, Solution]], baseline: float) -> Threshold:
    """Guess a threshold from known solutions: the largest alpha at which two losses or two test errors cross.

    The difference is a `Gap`, and the guess is the largest alpha at which it becomes negative. The solutions are
    branches[branch][alpha], and `baseline` is the test error of the linear model.
    """
    compared = COMPARED_BRANCHES[kind]
    alphas = sorted(set.intersection(*(set(branches[branch]) for branch in compared)))
    gaps = [Gap.of({branch: branches[branch][alpha] for branch in compared}, baseline) for alpha in alphas]
    alpha = float(last_fall(np.array(alphas), np.array([gap.value for gap in gaps])))
    if isnan(alpha):
        return NO_THRESHOLD
    nearest = min(gaps, key=lambda gap: abs(gap.alpha - alpha))
    return Threshold(Measured(alpha, nan), nearest.solutions)
