"""Where a branch ends, and where it turns from a minimum into a saddle."""

from collections.abc import Callable, Iterable
from functools import partial
from itertools import pairwise
from math import exp, log, nan, tanh

import numpy as np
import pandas as pd

from ..measured import standard_error
from ..task import Task
from .quadrature import SCRAMBLES, gaussian_points, pool, usual_points
from .rank_one.branch import RankOneBranch
from .rank_one.state_evolution import Overlaps, average
from .solution import Solution
from .solver import STEP, derivatives, solve
from .warm import Net, polish

APPROACH = (1.0, 0.7, 0.5, 0.4)  # a branch's own overlap on the way to its end
NEAR_END = (0.3, 0.2, 0.15, 0.1)  # and where alpha is extrapolated from
# Factors that turn the fields of a branch into those of its mirror image, with the sign of its own overlap changed.
MIRROR = {"semantic": np.array([1.0, 1.0, -1.0, -1.0]), "positional": -np.ones(4)}
NOWHERE = nan, nan


def branch_end(
    task: Task, branch: str, alpha: float, start: Overlaps, points: int | None = None, scrambles=SCRAMBLES, seed=0
) -> tuple[float, float]:
    """Return where the own overlap of a branch goes to zero: there it leaves the symmetric branch.

    Close to its end a branch has its overlap as the better parameter: for given
    ``x = theta/sqrt(rho q)``, or ``m/sqrt(q)``, the fixed point is solved for q, V and alpha. By symmetry
    alpha depends on ``x^2``, and a straight line in it, through the last few x, gives alpha at zero.
    The points are used with their mirror image, without which their own asymmetry would be divided by x.

    Parameters
    ----------
    task : Task
    branch : {"semantic", "positional"}
        Of the standard student.
    alpha : float
    start : Overlaps
        On the branch at `alpha`, not far from the end.
    points, scrambles, seed : int
        Quadrature, see `gaussian_points`; by default `usual_points` of "solution".

    Returns
    -------
    alpha, stderr : float
        NaN where the solver failed.
    """
    nets = gaussian_points(usual_points("solution") if points is None else points, scrambles, seed)
    model = RankOneBranch(task, alpha, branch)
    net = Net(np.concatenate([nets, nets * MIRROR[branch]], axis=1), model.fields)
    log_q, log_V, own = model.pack(start)
    unknown = np.array([log_q, log_V, log(alpha)])

    def at(own, unknown, anew=False):
        """Displacement, with alpha as an unknown in the place of the own overlap: pooled, and of each scramble."""
        model = RankOneBranch(task, exp(unknown[2]), branch)
        point = np.array([*unknown[:2], own])
        each = model.step(point, net.averages(model, point, anew)) - point
        return each.mean(axis=0), each

    limits = []
    first = tanh(own) if branch == "semantic" else own
    for x in (*(x for x in APPROACH if x < first), *NEAR_END):
        own = np.arctanh(x) if branch == "semantic" else x
        unknown, each = polish(partial(at, own), unknown, maxfev=60, xtol=1e-6, eps=STEP / 10)
        if np.abs(each.mean(axis=0)).max() > 0.1 * x:
            return NOWHERE
        if x in NEAR_END:
            slopes = derivatives(lambda unknown, own=own: at(own, unknown)[0], unknown)
            limits.append(exp(unknown[2]) * (1 + np.linalg.solve(-slopes, each.T)[2]))  # one for each scramble
    # The errors grow like 1/x as x shrinks.
    intercepts = np.polyfit(np.square(NEAR_END), limits, 1, w=NEAR_END)[1]
    return float(intercepts.mean()), standard_error(intercepts)


def gain_crossing(
    branch: str, alphas: Iterable[float], gain: Callable[[float], float], at: Callable[[float], Solution], beyond=False
) -> tuple[float, float]:
    """Return where a branch turns from a saddle into a minimum: the gain of what it holds at zero passes 1.

    Of two neighbouring alphas, the outer one a saddle and the inner one a minimum, the secant gives the crossing; it
    is drawn again through the solution there.

    Parameters
    ----------
    branch : {"semantic", "positional", "symmetric"}
        Looked at from its largest alpha if "positional", else from its smallest.
    alphas, gain : iterable of float, callable
        On the branch, and the gain at each, good enough to choose the neighbours.
    at : callable
        The solution at any alpha.
    beyond : bool
        Where the outermost solutions are minima, look for the crossing outside, by one step of the alphas at most.

    Returns
    -------
    alpha, stderr : float
        NaN if there is no crossing.
    """
    ordered = sorted(alphas, reverse=branch == "positional")
    pairs = (pair for pair in pairwise(ordered) if gain(pair[1]) <= 1 and (beyond or gain(pair[0]) > 1))
    if (pair := next(pairs, None)) is None:
        return NOWHERE
    near, far = sorted(map(at, pair), key=lambda each: abs(each.gain - 1))
    step = abs(near.alpha - far.alpha)
    guess, error = _secant(near, far)
    limit = float(np.clip(guess, near.alpha - step, near.alpha + step))
    if limit > 0 and (here := at(limit)).converged:
        return _secant(here, max(near, far, key=lambda each: abs(each.alpha - limit)))
    inside = min(pair) - 3 * error < guess < max(pair) + 3 * error
    return (guess, error) if inside and limit == guess > 0 else NOWHERE


def _secant(nearer, farther):
    """Where the line through the gains of two solutions is 1, and its standard error."""
    slope = (nearer.gain - farther.gain) / (nearer.alpha - farther.alpha)
    return float(nearer.alpha + (1 - nearer.gain) / slope), float(nearer.stderr["gain"] / abs(slope))


def stability_limit(
    task: Task, branch: str, table: pd.DataFrame, points: int = 2**11, scrambles=SCRAMBLES, seed=0
) -> tuple[float, float]:
    """Return where a branch of the standard student turns from a saddle into a minimum, from a table of its overlaps.

    Parameters
    ----------
    task : Task
    branch : {"semantic", "positional"}
        Looked at from its smallest, or its largest, alpha.
    table : pandas.DataFrame
        The branch, with alpha, q, m, theta and V. The limit may be beyond its end by one step of its alphas.
    points, scrambles, seed : int
        Quadrature, see `gaussian_points`.

    Returns
    -------
    alpha, stderr : float
        NaN if the branch ends as a minimum, or is a saddle all along.
    """
    nets = gaussian_points(points, scrambles, seed)
    known = {alpha: Overlaps(*each) for alpha, *each in table[["alpha", *Overlaps._fields]].to_numpy().tolist()}

    def gain(alpha):
        model = RankOneBranch(task, alpha, branch)
        return float(model.gain(model.pack(known[alpha]), pool(average(task, known[alpha], nets))))

    def at(alpha):
        nearest = min(known, key=lambda other: abs(other - alpha))
        return solve(task, alpha, branch, points, scrambles, seed, start=known[nearest])

    return gain_crossing(branch, known, gain, at, beyond=True)


def border(
    task: Task, branch: str, table: pd.DataFrame, end: tuple[float, float], **quadrature: int
) -> tuple[float, float]:
    """Return up to where a branch is a minimum: it ends there, or becomes a saddle before.

    Parameters
    ----------
    task, table
        As for `stability_limit`.
    branch : {"semantic", "positional"}
        Its lower border, or its upper one.
    end : (float, float)
        Where the branch ends on that side, and the standard error.
    **quadrature
        `points`, `scrambles` and `seed` of `stability_limit`.

    Returns
    -------
    alpha, stderr : float
    """
    limit = stability_limit(task, branch, table, **quadrature)
    inside = limit[0] > end[0] if branch == "semantic" else limit[0] < end[0]
    return limit if inside else end
