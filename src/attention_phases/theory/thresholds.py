"""The two thresholds in sample complexity: alpha_c(omega) and alpha_l(omega) (paper, Section 5)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan, nan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..errors import BadInput, check_choice, check_kind
from ..measured import UNKNOWN, Measured, standard_error
from ..model.architectures import STANDARD, Architecture
from ..quadrature import SCRAMBLES, usual_points
from ..records import origin_of
from ..task import Task
from .baseline import linear_baseline
from .branches import solve_from
from .setting import Setting
from .solver import Solution

if TYPE_CHECKING:
    import pandas as pd

# The branches that each threshold compares; the linear one compares a single branch with the linear model.
COMPARED_BRANCHES = {"critical": ("semantic", "positional"), "linear": ("semantic",), "second": ("both", "semantic")}
SMALLEST, LARGEST = 0.2, 12.8  # range of alpha searched
SEARCHED = f"between alpha = {SMALLEST} and {LARGEST}"
# Points a scramble to find the crossing, and to come so near that one step on all points ends it.
ROUGH_POINTS, MIDDLE_POINTS = 2**8, 2**11
# In alpha: where Newton's method takes over, the step that ends it on some of the points, and on all.
ROUGH_STEP, NEAR_STEP, LAST_STEP = 2e-2, 5e-2, 3e-3
NEWTON_STEPS = 10


@dataclass(frozen=True)
class Threshold:
    """A threshold in alpha, or a guess of one, whose error is NaN.

    `alpha` is `UNKNOWN` where there is no root in the range searched, or a branch does not reach it; the `reason` says
    which. The solutions, by branch, are within one Newton step of the root.
    """

    alpha: Measured  #: with its standard error
    solutions: Mapping[str, Solution] = field(repr=False)  #: by branch
    reason: str = ""  #: why there is none
    origin: dict[str, Any] = field(default_factory=dict, repr=False)  #: task, quadrature and code, see `origin_of`

    @property
    def exists(self) -> bool:
        """Whether there is one."""
        return not isnan(self.alpha.value)


NOWHERE = Threshold(UNKNOWN, {})


class Gap(NamedTuple):
    """What falls through zero at a threshold: its value at one alpha, derivative in alpha and standard error."""

    value: float  #: of what falls
    slope: float  #: its derivative in alpha
    stderr: float  #: its standard error
    solutions: Mapping[str, Solution]  #: by branch, all at the same alpha

    @classmethod
    def of(cls, solutions: Mapping[str, Solution], baseline: float) -> "Gap":
        """Return the gap between the free energies of two solutions, or the test errors of one and the linear model."""
        first, *others = solutions.values()
        if not others:
            return cls(first.test_mse - baseline, first.test_slope, first.stderr["test_mse"], solutions)
        (second,) = others
        # The scrambles serve both branches, and most of the error cancels in the difference.
        error = standard_error(first.spread["train_loss"] - second.spread["train_loss"])
        value, slope = first.free_energy - second.free_energy, first.train_slope - second.train_slope
        return cls(value, slope, error, solutions)

    @property
    def alpha(self) -> float:
        """Where it is."""
        return next(iter(self.solutions.values())).alpha

    @property
    def exists(self) -> bool:
        """Whether all branches do."""
        return all(solution.converged for solution in self.solutions.values())


# The gap at an alpha, on a number of points a scramble, from solutions nearby.
GapAt = Callable[[float, int, Mapping[str, Solution]], Gap]


def threshold(
    task: Task,
    kind: str,
    points: int | None = None,
    scrambles: int = SCRAMBLES,
    seed: int = 0,
    near: Threshold = NOWHERE,
    architecture: Architecture = STANDARD,
    report: Callable[[int], object] | None = None,
) -> Threshold:
    """Return the sample complexity of a transition.

    >>> from attention_phases import Task, threshold
    >>> place = threshold(Task(omega=0.3), "critical", points=256)
    >>> place.exists, 1.1 < place.alpha.value < 1.4
    (True, True)

    Args:
        kind: "critical", alpha_c, where the training losses of the semantic and the positional branch cross; or
            "linear", alpha_l, where the semantic test error meets that of the linear baseline; or "second", of rank 2,
            where the training loss of following two columns of the teacher falls below that of one and the positions
        points, scrambles, seed: quadrature, see `gaussian_points`; by default `usual_points` of "threshold"
        near: the same transition of a similar task, from which to start instead of a search
        architecture: as for `solve`
        report: called with the points of each evaluation, which cost about as much time
    """
    check_kind("near", near, Threshold)
    check_kind("report", report, Callable | None)
    branches = COMPARED_BRANCHES[check_choice("kind", kind, tuple(COMPARED_BRANCHES))]
    fast = Setting(task, architecture).fast
    if kind == "second" and not (architecture.rotates and len(task.teachers) > 1):
        raise BadInput("kind", kind, "critical or linear, but for students of rank 2 and several teachers")
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
    asked = {"task": task, "kind": kind, "points": points, **options}
    return replace(place, origin=origin_of(**asked))


def _refine(gap_at: GapAt, guess: Threshold, points: int) -> Threshold:
    """The threshold by Newton's method from a guess, on some of the points and then on all.

    A step out of the range in which the gap falls through zero halves that range instead: a branch that has just begun
    bends, and Newton's method would step over its beginning.
    """
    alpha, known = guess.alpha.value, guess.solutions
    for count in sorted({min(points, MIDDLE_POINTS), points}):
        low, high = SMALLEST, np.inf
        for _ in range(NEWTON_STEPS):
            gap = gap_at(alpha, count, known)
            known, step = gap.solutions if gap.exists else known, gap.value / gap.slope
            low, high = (low, alpha) if gap.exists and gap.value <= 0 else (alpha, high)
            # Newton's next step would be of the order of this one squared.
            settled = gap.exists and min(abs(step), high - low) <= (LAST_STEP if count == points else NEAR_STEP)
            alpha = max(alpha - step, SMALLEST)
            if high < np.inf and not (gap.exists and low <= alpha <= high):
                alpha = (low + high) / 2
            if settled or not (gap.exists or high < np.inf):
                break
    if not settled:
        why = [_lacking(branch, [solution]) for branch, solution in gap.solutions.items() if not solution.converged]
        return Threshold(UNKNOWN, {}, "; ".join(why) or f"Newton's method did not settle near alpha = {alpha:.4g}")
    return Threshold(Measured(float(alpha), float(gap.stderr / abs(gap.slope))), known)


def _search(gap_at: GapAt, points: int) -> Threshold:
    """A guess, to `ROUGH_STEP`, of where the gap falls through zero; none, and the reason, if it does not fall.

    The sign change is looked for between neighbours of a doubling grid, whose steps are too long to follow a branch.
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
            return Threshold(UNKNOWN, {}, _lacking(branch, found))
    return Threshold(UNKNOWN, {}, f"what it compares does not change its order {SEARCHED}")


def _lacking(branch: str, solutions: Sequence[Solution]) -> str:
    """A line on a branch that has not been found at any of the alphas of its solutions."""
    where = f"at alpha = {solutions[0].alpha:.4g}" if len(solutions) == 1 else SEARCHED
    return f"no {branch} branch {where}: {solutions[-1].reason}"


def _bisect(gap_at: GapAt, points: int, left: Gap, right: Gap) -> Threshold:
    """The guess of `_search` between two gaps: each evaluation starts from the solutions of the one before."""
    from scipy.optimize import brentq  # slow to import

    known = {left.alpha: left, right.alpha: right}  # in the order of evaluation

    def value_at(alpha):
        if alpha not in known:
            known[alpha] = gap_at(alpha, points, [*known.values()][-1].solutions)
        return known[alpha].value

    alpha = float(brentq(value_at, left.alpha, right.alpha, xtol=ROUGH_STEP))  # pyright: ignore[reportArgumentType]
    return Threshold(Measured(alpha, nan), [*known.values()][-1].solutions)


def loss_gap(solutions: Mapping[float, Solution], positional: Mapping[float, Solution]) -> "pd.DataFrame":
    """Return by how much the training loss of one branch exceeds that of the positional one, where both exist.

    Both are solutions by alpha, from `branches.follow` on the same points. The columns are alpha, train_loss,
    train_loss_error, and the gain of the first branch; above 1 it is a saddle.
    """
    import pandas as pd  # slow to import

    rows = []
    for alpha, solution in solutions.items():
        if alpha in positional:
            gap = Gap.of({"semantic": solution, "positional": positional[alpha]}, nan)
            rows.append((alpha, gap.value, gap.stderr, solution.gain))
    return pd.DataFrame(rows, columns=["alpha", "train_loss", "train_loss_error", "gain"])


def falls(x: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return where values (n,) at growing x (n,) fall through zero, by linear interpolation: growing, maybe none."""
    before = np.flatnonzero((values[:-1] > 0) & (values[1:] <= 0))
    share = values[before] / (values[before] - values[before + 1])
    return x[before] + share * (x[before + 1] - x[before])


def seen_between(kind: str, branches: Mapping[str, Mapping[float, Solution]], baseline: float) -> Threshold:
    """Return a guess for `threshold` to start from, where the gap last falls through zero among known solutions.

    The solutions are branches[branch][alpha], `baseline` is the test error of the linear model.
    """
    compared = COMPARED_BRANCHES[kind]
    alphas = sorted(set.intersection(*(set(branches[branch]) for branch in compared)))
    gaps = [Gap.of({branch: branches[branch][alpha] for branch in compared}, baseline) for alpha in alphas]
    crossings = falls(np.array(alphas), np.array([gap.value for gap in gaps]))
    if not len(crossings):
        return NOWHERE
    alpha = float(crossings[-1])
    nearest = min(gaps, key=lambda gap: abs(gap.alpha - alpha))
    return Threshold(Measured(alpha, nan), nearest.solutions)
