"""Where a branch ends in alpha, and where it turns from a minimum into a saddle. In omega: `baseline.diverges_at`."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import pairwise
from math import exp, isnan, log, tanh
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..errors import COVERED, BadInput, check_choice, check_kind
from ..measured import UNKNOWN, Measured
from ..quadrature import SCRAMBLES, gaussian_points, pool, usual_points
from ..task import Task
from .branch import BranchMap, Net, polish
from .branches import MINIMA, Branch, follow
from .equations import Overlaps, Scalars, average
from .setting import Setting
from .solver import ENDED, STEP, UNSEEN, UNSETTLED, Solution, derivatives, solve
from .thresholds import LARGEST, MIDDLE_POINTS, SMALLEST

if TYPE_CHECKING:
    import pandas as pd

APPROACH = (1.0, 0.7, 0.5, 0.4)  # a branch's own overlap on the way to its end
NEAR_END = (0.3, 0.2, 0.15, 0.1)  # and where alpha is extrapolated from
UNSURE = 0.2  # an end whose error is a larger share of it is none
BORDERS = {"semantic": "start", "positional": "stop"}  # where the minima begin and end, if they do at an alpha
# Factors that turn the fields of a branch into those of its mirror image, with the sign of its own overlap changed.
MIRROR = {"semantic": np.array([1.0, 1.0, -1.0, -1.0]), "positional": -np.ones(4)}


def branch_end(
    task: Task,
    branch: str,
    alpha: float,
    start: Scalars,
    points: int | None = None,
    scrambles: int = SCRAMBLES,
    seed: int = 0,
    report: Callable[[int], object] | None = None,
) -> Measured:
    """Return the alpha where the own overlap of a branch of the standard student goes to zero.

    NaN if the solver fails, or the error is a larger share of it than `UNSURE`. There the branch leaves the symmetric
    one. Close to its end a branch has its overlap as the better parameter: for given ``x = theta/sqrt(rho q)``, or
    ``m/sqrt(q)``, the fixed point is solved for q, V and alpha. By symmetry alpha depends on ``x^2``, and a straight
    line in it, through the last few x, gives alpha at zero. The points are used with their mirror image, without which
    their own asymmetry would be divided by x. Clusters are left out: of those along a teacher there is no such image.

    Args:
        branch: "semantic" or "positional"
        alpha, start: where on the branch to start, not far from the end, and the overlaps there
        points, scrambles, seed: quadrature, see `gaussian_points`; by default `usual_points` of "solution"
        report: as for `solve`
    """
    nets = gaussian_points(usual_points("solution") if points is None else points, scrambles, seed)
    model = BranchMap(task, alpha, branch)
    net = Net(np.concatenate([nets, nets * MIRROR[branch]], axis=1), model.fields, report)
    log_q, log_V, own = model.pack(Overlaps.of(*start))
    unknown = np.array([log_q, log_V, log(alpha)])

    def at(own, unknown, anew=False):
        """Displacement, with alpha as an unknown in the place of the own overlap: pooled, and of each scramble."""
        model = BranchMap(task, exp(unknown[2]), branch)
        point = np.array([*unknown[:2], own])
        moves = model.step(point, net.averages(model, point, anew)) - point
        return moves.mean(axis=0), moves

    limits = []
    first = tanh(own) if branch == "semantic" else own
    for x in (*(x for x in APPROACH if x < first), *NEAR_END):
        own = np.arctanh(x) if branch == "semantic" else x
        unknown, moves = polish(partial(at, own), unknown, maxfev=60, xtol=1e-6, eps=STEP / 10)
        if np.abs(moves.mean(axis=0)).max() > 0.1 * x:
            return UNKNOWN
        if x in NEAR_END:
            slopes = derivatives(lambda unknown, own=own: at(own, unknown)[0], unknown)
            limits.append(exp(unknown[2]) * (1 + np.linalg.solve(-slopes, moves.T)[2]))  # one for each scramble
    # The errors grow like 1/x as x shrinks.
    end = Measured.mean(np.polyfit(np.square(NEAR_END), limits, 1, w=NEAR_END)[1])
    return end if end.error <= UNSURE * end.value else UNKNOWN


def branch_ends(
    task: Task, branch: str, alphas: Sequence[float], solutions: Branch, **quadrature: Any
) -> dict[str, tuple[Measured, str]]:
    """Return (alpha, reason of the solution beyond) of each end of a branch within the alphas, by "start" and "stop".

    Where `branch_end` finds none, or another one, the end is known to a step of the alphas.
    """
    if not solutions:
        return {}
    first, last = alphas.index(min(solutions)), alphas.index(max(solutions))
    ends = {}
    for side, within, beyond in (("start", first, first - 1), ("stop", last, last + 1)):
        if 0 <= beyond < len(alphas):
            inside, outside = alphas[within], alphas[beyond]
            middle, step = (inside + outside) / 2, abs(inside - outside)
            end, cause = branch_end(task, branch, inside, solutions[inside].overlaps, **quadrature), solutions.stopped
            cause = cause[outside].partition(":")[0]
            ends[side] = end, ENDED if cause == UNSEEN else cause  # by extrapolation it has
            if not abs(end.value - middle) <= 2 * step + min(3 * end.error, 2 * step):  # NaN, or another end
                ends[side] = Measured(middle, step / 2), UNSETTLED
    return ends


class Spinodal(NamedTuple):
    """From which alpha on, or up to which for the positional branch, a branch exists, and is a minimum.

    Both are NaN where that is so at all alphas searched, or at none, or not seen by too few points: see `reason`.
    """

    exists: Measured  #: the alpha where the branch ends
    minimum: Measured  #: that where it becomes a saddle
    reason: str  #: why there is no end, or why it is not known; else empty


def spinodal(
    task: Task,
    branch: str,
    points: int | None = None,
    scrambles: int = SCRAMBLES,
    seed: int = 0,
    report: Callable[[int], object] | None = None,
) -> Spinodal:
    """Return where a branch of the standard student ends in alpha, and where it becomes a saddle.

    >>> from attention_phases import Task, spinodal
    >>> limits = spinodal(Task(omega=0.3), "semantic", points=512, scrambles=8)
    >>> limits.exists.value < limits.minimum.value < 1.0
    True

    Args:
        branch: "semantic" or "positional"
        points, scrambles, seed: as for `solve`; of the positional branch, whose sentences jump, 2048 points at least
        report: called with 1 after each average, of which there are some hundreds
    """
    check_kind("report", report, Callable | None)
    check_choice("branch", branch, MINIMA)
    if Setting(task).dimensions != len(MIRROR[branch]):
        raise BadInput("task", task, "of one teacher and without clusters" + COVERED)
    points = usual_points("solution") if points is None else points
    alphas = np.geomspace(SMALLEST, LARGEST, 25).tolist()
    quadrature: dict[str, Any] = {"scrambles": scrambles, "seed": seed}
    if branch == "positional" and points < MIDDLE_POINTS:
        return Spinodal(UNKNOWN, UNKNOWN, f"{UNSEEN} by {points} points; try {MIDDLE_POINTS}")
    quadrature["report"] = report
    solutions = follow(task, branch, alphas, min(points, MIDDLE_POINTS), **quadrature)
    ends = branch_ends(task, branch, alphas, solutions, points=points, **quadrature)
    end, _ = ends.get(BORDERS[branch], (UNKNOWN, ""))
    least = border(task, branch, solutions.table, end, points=points, **quadrature) if solutions else end
    lasts = least.value > alphas[-1]  # by extrapolation, which does not say where it ceases
    reason = ""
    if np.isnan(end.value):
        edge = (max if branch == "positional" else min)(solutions, default=None)
        reason = f"it is there at alpha = {edge:.4g}" if edge else f"it is at none from {SMALLEST} to {LARGEST}"
        reason += ", and a minimum beyond the largest alpha searched" if lasts else ""
        reason = f"no end of the {branch} branch: {reason}"
    return Spinodal(end, UNKNOWN if lasts else least, reason)


def gain_crossing(
    branch: str,
    alphas: Iterable[float],
    gain: Callable[[float], float],
    solution_at: Callable[[float], Solution],
    beyond: bool = False,
) -> Measured:
    """Return the alpha where a branch turns from a saddle into a minimum: the gain of what it holds at zero passes 1.

    Of two neighbouring alphas, the outer one a saddle and the inner one a minimum, the secant gives the crossing; it
    is drawn again through the solution there. NaN if there is no crossing.

    Args:
        branch: looked at from its largest alpha if "positional", else from its smallest
        alphas, gain: on the branch, and the gain at each, good enough to choose the neighbours
        solution_at: the solution at any alpha
        beyond: where the outermost solutions are minima, look outside, by one step of the alphas at most
    """
    ordered = sorted(alphas, reverse=branch == "positional")
    pairs = (pair for pair in pairwise(ordered) if gain(pair[1]) <= 1 and (beyond or gain(pair[0]) > 1))
    pair = next(pairs, None)
    if pair is None:
        return UNKNOWN
    near, far = sorted(map(solution_at, pair), key=lambda solution: abs(solution.gain - 1))
    step = abs(near.alpha - far.alpha)
    crossing = _secant(near, far)
    limit = float(np.clip(crossing.value, near.alpha - step, near.alpha + step))
    if limit > 0:
        solution = solution_at(limit)
        if solution.converged:
            return _secant(solution, max(near, far, key=lambda other: abs(other.alpha - limit)))
    reach = 3 * crossing.error
    inside = min(pair) - reach < crossing.value < max(pair) + reach
    return crossing if inside and limit == crossing.value > 0 else UNKNOWN


def _secant(nearer: Solution, farther: Solution) -> Measured:
    """Where the line through the gains of two solutions is 1."""
    slope = (nearer.gain - farther.gain) / (nearer.alpha - farther.alpha)
    return Measured(float(nearer.alpha + (1 - nearer.gain) / slope), float(nearer.stderr["gain"] / abs(slope)))


def stability_limit(task: Task, branch: str, table: "pd.DataFrame", report: Any = None, **quadrature: Any) -> Measured:
    """Return the alpha where a branch of the standard student turns from a saddle into a minimum; see `gain_crossing`.

    NaN if the branch ends as a minimum, or is a saddle all along.

    table: of the branch, with alpha, q, m, theta and V. The limit may be beyond its end by one step of its alphas.
    report, quadrature: as for `solve`
    """
    nets = gaussian_points(**quadrature)
    columns = table[["alpha", *Overlaps._fields]].to_numpy().tolist()
    known = {alpha: Overlaps.of(*overlaps) for alpha, *overlaps in columns}

    def gain(alpha):
        model = BranchMap(task, alpha, branch)
        averages = pool(average(model.setting, known[alpha], nets))
        return float(model.gain(model.pack(known[alpha]), averages))

    def solution_at(alpha):
        nearest = min(known, key=lambda other: abs(other - alpha))
        return solve(task, alpha, branch, **quadrature, start=known[nearest], report=report)

    return gain_crossing(branch, known, gain, solution_at, beyond=True)


def border(task: Task, branch: str, table: "pd.DataFrame", end: Measured, **quadrature: Any) -> Measured:
    """Return the spinodal of a branch, where it ceases to be a minimum: it ends there, or becomes a saddle before.

    Args:
        branch: "semantic", a minimum from this alpha on, or "positional", a minimum up to it
        table: as for `stability_limit`, as is the quadrature
        end: where the branch ends on that side
    """
    limit = stability_limit(task, branch, table, **quadrature)
    inside = limit.value > end.value if branch == "semantic" else limit.value < end.value
    return limit if inside or isnan(end.value) else end
