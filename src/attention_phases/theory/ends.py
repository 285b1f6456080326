"""The alphas at which a branch of solutions ends, or turns from a minimum into a saddle.

`baseline.divergence_omega` finds the ends along omega.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import pairwise
from math import exp, isnan, log, tanh
from typing import Any, NamedTuple

import numpy as np

from ..errors import LIMITS_NOTE, BadInput, check_choice
from ..measured import NO_VALUE, Measured
from ..quadrature import SCRAMBLES, gaussian_points, pool, usual_points
from ..task import Task
from .branch import BranchMap, Net, polish
from .branches import MINIMA, Branch, follow
from .equations import Overlaps, Scalars, average
from .setting import Setting
from .solver import BRANCH_END, NO_CONVERGENCE, NO_RESOLUTION, STEP, Solution, derivatives, solve
from .thresholds import LARGEST, MIDDLE_POINTS, SMALLEST

# The equations are solved at these values of the overlap that defines a branch. `APPROACH` leads towards the end of the
# branch, and alpha is extrapolated from `END_OVERLAPS`.
APPROACH = (1.0, 0.7, 0.5, 0.4)
END_OVERLAPS = (0.3, 0.2, 0.15, 0.1)
LARGEST_END_ERROR = 0.2  # an end with a larger relative error counts as not found
# The end of each branch that `spinodal` returns: the semantic minimum starts at some alpha, and the positional minimum
# stops at some alpha, if at all.
BORDERS = {"semantic": "start", "positional": "stop"}
# Multiplying the fields of a branch by these factors gives the fields of its mirror image, in which the overlap that
# defines the branch has the opposite sign.
MIRROR = {"semantic": np.array([1.0, 1.0, -1.0, -1.0]), "positional": -np.ones(4)}


def branch_end(
    task: Task, branch: str, alpha: float, start: Scalars, report: Any = None, **quadrature: Any
) -> Measured:
    """Return the alpha at which the overlap that defines a branch of the standard student vanishes.

    The branch ends there. The overlap is theta on the semantic branch and m on the positional branch. Where it
    vanishes, the branch meets the symmetric branch. The result is NaN if the solver fails or if the relative error
    exceeds `LARGEST_END_ERROR`.

    Near its end the branch is better parametrised by the overlap than by alpha. For several small values of
    ``x = theta/sqrt(rho q)``, or ``m/sqrt(q)``, the fixed-point equations are solved for q, V and alpha. By symmetry
    alpha is a function of ``x^2``. A straight line in ``x^2``, fitted to the last few values, gives alpha at x = 0.

    Every quadrature point is used together with its mirror image. Otherwise the asymmetry of the points would be
    divided by x and hide the result. Tasks with clusters are not covered, because clusters along a teacher have no
    mirror image.

    Args:
        branch: "semantic" or "positional"
        alpha, start: a point on the branch, not far from its end, and the overlaps at this point
        report: as for `solve`
        quadrature: points, scrambles and seed, as for `gaussian_points`
    """
    nets = gaussian_points(**quadrature)
    model = BranchMap(task, alpha, branch)
    net = Net(np.concatenate([nets, nets * MIRROR[branch]], axis=1), model.fields, report)
    log_q, log_V, own = model.pack(Overlaps.of(*start))
    unknown = np.array([log_q, log_V, log(alpha)])

    def at(own, unknown, anew=False):
        """Return how far one iteration moves a point.

        The result is the mean over scrambles and the value for each scramble.

        own: the coordinate of the point that is zero on the other branch
        unknown: log q, log V and log alpha
        """
        model = BranchMap(task, exp(unknown[2]), branch)
        point = np.array([*unknown[:2], own])
        moves = model.step(point, net.averages(model, point, anew)) - point
        return moves.mean(axis=0), moves

    limits = []
    first = tanh(own) if branch == "semantic" else own
    for x in (*(x for x in APPROACH if x < first), *END_OVERLAPS):
        own = np.arctanh(x) if branch == "semantic" else x
        unknown, moves = polish(partial(at, own), unknown, maxfev=60, xtol=1e-6, eps=STEP / 10)
        if np.abs(moves.mean(axis=0)).max() > 0.1 * x:
            return NO_VALUE
        if x in END_OVERLAPS:
            slopes = derivatives(lambda unknown, own=own: at(own, unknown)[0], unknown)
            limits.append(exp(unknown[2]) * (1 + np.linalg.solve(-slopes, moves.T)[2]))  # one alpha for each scramble
    # The errors grow like 1/x as x shrinks, so each point has the weight x.
    end = Measured.mean(np.polyfit(np.square(END_OVERLAPS), limits, 1, w=END_OVERLAPS)[1])
    return end if end.error <= LARGEST_END_ERROR * end.value else NO_VALUE


def branch_ends(
    task: Task, branch: str, alphas: Sequence[float], solutions: Branch, **quadrature: Any
) -> dict[str, tuple[Measured, str]]:
    """Return the smallest and the largest alpha at which a branch exists.

    The result is a dictionary with the keys "start" and "stop". An end outside the range of `alphas` is left out. Each
    end is a pair: its alpha, and the reason why no solution was found at the next alpha beyond it. If `branch_end`
    finds no end there, or one too far away, the end is placed halfway between the last alpha with a solution and the
    next alpha. Its error is then half of their distance, and the reason is "did not settle".
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
            ends[side] = end, BRANCH_END if cause == NO_RESOLUTION else cause  # the extrapolation shows an end
            if not abs(end.value - middle) <= 2 * step + min(3 * end.error, 2 * step):  # NaN or too far away
                ends[side] = Measured(middle, step / 2), NO_CONVERGENCE
    return ends


class Spinodal(NamedTuple):
    """The range of alpha in which a branch exists, and the range in which it is a minimum.

    The semantic branch exists (is a minimum) from the given alpha on, and the positional branch up to it. A value is
    NaN if there is no such limit among the alphas searched, or if there are too few quadrature points to find it;
    `reason` says which.
    """

    exists: Measured  #: alpha at which the branch ends
    minimum: Measured  #: alpha at which the branch becomes a saddle
    reason: str  #: why there is no end or why it is unknown; empty if there is one


def spinodal(
    task: Task,
    branch: str,
    points: int | None = None,
    scrambles: int = SCRAMBLES,
    seed: int = 0,
    report: Callable[[int], object] | None = None,
) -> Spinodal:
    """Return the alpha at which a branch of the standard student ends, and the alpha at which it becomes a saddle.

    >>> from attention_phases import Task, spinodal
    >>> limits = spinodal(Task(omega=0.3), "semantic", points=512, scrambles=8)
    >>> limits.exists.value < limits.minimum.value < 1.0
    True

    Args:
        branch: "semantic" or "positional"
        points, scrambles, seed: as for `solve`; the positional branch needs at least 2048 points, because the proximal
            points of its sentences jump
        report: function that is called with 1 after each average, of which there are some hundreds
    """
    check_choice("branch", branch, MINIMA)
    if not Setting(task).fast:
        raise BadInput("task", task, "of one teacher and without clusters, with one law of the tokens" + LIMITS_NOTE)
    points = usual_points("solution") if points is None else points
    alphas = np.geomspace(SMALLEST, LARGEST, 25).tolist()
    quadrature: dict[str, Any] = {"scrambles": scrambles, "seed": seed, "report": report}
    if branch == "positional" and points < MIDDLE_POINTS:
        return Spinodal(NO_VALUE, NO_VALUE, f"{NO_RESOLUTION} by {points} points; try {MIDDLE_POINTS}")
    solutions = follow(task, branch, alphas, min(points, MIDDLE_POINTS), **quadrature)
    ends = branch_ends(task, branch, alphas, solutions, points=points, **quadrature)
    end, _ = ends.get(BORDERS[branch], (NO_VALUE, ""))
    least = border(task, branch, solutions, end, points=points, **quadrature) if solutions else end
    lasts = least.value > alphas[-1]  # a limit extrapolated beyond the range searched does not count
    reason = ""
    if np.isnan(end.value):
        edge = (max if branch == "positional" else min)(solutions, default=None)
        place = f"alpha = {edge:.4g}, the end of the range" if edge else f"no alpha from {SMALLEST} to {LARGEST}"
        reason = f"no end of the {branch} branch was found: it exists at {place}"
        reason += ", and is a minimum beyond the largest alpha searched" if lasts else ""
    return Spinodal(end, NO_VALUE if lasts else least, reason)


def gain_crossing(
    branch: str,
    alphas: Iterable[float],
    gain: Callable[[float], float],
    solution_at: Callable[[float], Solution],
    beyond: bool = False,
) -> Measured:
    """Return the alpha at which a branch turns from a saddle into a minimum, or NaN if it never does.

    The turning point is where the gain passes 1 (the gain of the overlap that is zero on the branch). The function
    looks for two neighbouring alphas, the outer one a saddle and the inner one a minimum. It draws the secant through
    their gains, solves at its crossing, and draws the secant again.

    Args:
        branch: searched from its largest alpha if "positional", from its smallest if "semantic"
        alphas: alphas at which the branch is known
        gain: the gain at an alpha; a rough value is enough, because it only selects the neighbours
        solution_at: the solution at an alpha
        beyond: if the outermost solutions are minima, also search outside the alphas, at most one step away
    """
    ordered = sorted(alphas, reverse=branch == "positional")
    pairs = (pair for pair in pairwise(ordered) if gain(pair[1]) <= 1 and (beyond or gain(pair[0]) > 1))
    pair = next(pairs, None)
    if pair is None:
        return NO_VALUE
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
    return crossing if inside and limit == crossing.value > 0 else NO_VALUE


def _secant(nearer: Solution, farther: Solution) -> Measured:
    """Return the alpha at which the straight line through the gains of two solutions equals 1."""
    slope = (nearer.gain - farther.gain) / (nearer.alpha - farther.alpha)
    return Measured(float(nearer.alpha + (1 - nearer.gain) / slope), float(nearer.stderr["gain"] / abs(slope)))


def stability_limit(task: Task, branch: str, solutions: Branch, report: Any = None, **quadrature: Any) -> Measured:
    """Return the alpha at which a branch of the standard student turns from a saddle into a minimum.

    It is NaN if the branch ends as a minimum or is a saddle throughout. See `gain_crossing` for the method.

    solutions: from `follow`; the result may lie up to one step of alpha outside them
    report, quadrature: as for `solve`
    """
    nets = gaussian_points(**quadrature)
    known = {alpha: Overlaps.of(*solution.overlaps) for alpha, solution in solutions.items()}

    def gain(alpha):
        model = BranchMap(task, alpha, branch)
        averages = pool(average(model.setting, known[alpha], nets))
        return float(model.gain(model.pack(known[alpha]), averages))

    def solution_at(alpha):
        nearest = min(known, key=lambda other: abs(other - alpha))
        return solve(task, alpha, branch, **quadrature, start=known[nearest], report=report)

    return gain_crossing(branch, known, gain, solution_at, beyond=True)


def border(task: Task, branch: str, solutions: Branch, end: Measured, **quadrature: Any) -> Measured:
    """Return the spinodal of a branch: the alpha at which it stops being a minimum.

    There the branch either ends or, before it ends, becomes a saddle.

    Args:
        branch: "semantic" (a minimum from the spinodal on) or "positional" (a minimum up to the spinodal)
        solutions, quadrature: as for `stability_limit`
        end: alpha at which the branch ends on that side
    """
    limit = stability_limit(task, branch, solutions, **quadrature)
    inside = limit.value > end.value if branch == "semantic" else limit.value < end.value
    return limit if inside or isnan(end.value) else end
