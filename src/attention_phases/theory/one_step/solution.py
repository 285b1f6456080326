"""Solutions with one step of replica symmetry breaking, and their ground state.

Sigma(y) = y (e - Phi) = y^2 dPhi/dy counts the minima of training loss e(y), as the logarithm of their number over d.
The lowest ones are where Sigma is zero, at the maximum of Phi(y). They are found there, because Phi is stationary in
all order parameters and known much better than its derivative. Differences are formed on the same points.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import exp, log

import numpy as np

from ...errors import check_choice, check_positive, check_real
from ...measured import standard_error
from ...task import Task
from ..branches import MINIMA
from ..quadrature import SCRAMBLES, gaussian_points, pool, usual_points
from ..rank_one.state_evolution import Overlaps
from ..solution import ENDED, UNSETTLED, Solution
from ..solver import STEP, TOLERANCE, solve
from ..warm import powell
from .root import FEW, Broken, Root, Symmetric
from .state_evolution import Valley, average, conjugates, update

# Why a solution failed, beside the reasons of `solution`.
NO_MAXIMUM = "no maximum of Phi found"
CLOSED = "gap has closed"
DOUBLINGS = 3  # of y, and halvings, from the inverse of the training loss
SMALLEST_GAP = 1e-4  # over q, under which the minima are one
WIDENINGS = 60  # iterations of the gap alone


@dataclass(frozen=True)
class OneStep:
    """A solution with one step of replica symmetry breaking at one alpha.

    Attributes
    ----------
    valley : Valley
        With gap = 0 if only the replica-symmetric solution was found; y is then 0 unless it was given.
    phi, energy, complexity : float
        Phi(y); e = d(y Phi)/dy, the training loss of the minima; Sigma. At the ground state Phi is the training loss
        of the lowest minima, and Sigma is zero within its error.
    shift : float
        Phi less the replica-symmetric training loss.
    slope : float
        dPhi/dalpha.
    residual : float
        Largest change of a coordinate (log q0, log V, the own overlap, log gap) under one more step of the map.
    reason : str
        Why the solution failed; empty if it converged. `UNSETTLED` and `ENDED` as for `Solution`, also of the
        replica-symmetric solution from which it starts; `CLOSED`: the iteration came to a gap of zero, although it
        opened at first; `NO_MAXIMUM`: Phi was not seen to fall on both sides of a ground state.
    iterations : int
        Evaluations of the map.
    stderr : dict
        Standard errors of q0, q1, m, theta, V, y, phi, energy, complexity and shift over the scrambles; energy and
        complexity are those at `y`, whatever its own error.
    shifts : (scrambles,) array
        Each scramble's shift less their mean.
    """

    valley: Valley
    phi: float
    energy: float
    complexity: float
    shift: float
    slope: float
    residual: float
    reason: str
    iterations: int
    stderr: dict
    shifts: np.ndarray = field(repr=False)

    @property
    def converged(self) -> bool:
        """Whether there is no `reason` against the solution."""
        return not self.reason

    @property
    def solved(self) -> bool:
        """Whether the equations hold, be it at a y where Phi was not seen to have its maximum."""
        return self.reason in ("", NO_MAXIMUM)


@np.errstate(all="ignore")  # only the result has to be finite; a search that fails says why
def one_step(
    task: Task, alpha: float, branch: str, y: float | None = None, points: int | None = None, scrambles=SCRAMBLES,
    seed=0, report: Callable[[], object] | None = None,
) -> OneStep:  # fmt: skip
    """Return the solution at `y`, or the ground state, on one branch.

    Parameters
    ----------
    task : Task
    alpha : float > 0
        Sample complexity.
    branch : {"semantic", "positional"}
    y : float >= 0, optional
        Conjugate to the risk. At 0 nothing is weighted: q1 and the other overlaps are the replica-symmetric ones,
        and sqrt(2 gap/q1) is the distance at which two copies of message passing settle (`copies`).
    points, scrambles, seed : int
        Quadrature of the outer fields, see `gaussian_points`; by default `usual_points` of "one step". The noise of Phi
        grows with y: where Phi gains less than about 5e-7 the maximum is not seen with the usual number of points, but
        with four times as many.
    report : callable, optional
        Called after each root, which take about as much time: two at a given y, six for most ground states.

    Returns
    -------
    OneStep

    Raises
    ------
    BadInput
        A parameter is outside its range.
    """
    alpha = check_positive("alpha", alpha)
    check_choice("branch", branch, MINIMA)
    if y is not None:
        y = check_real("y", y, "a finite number >= 0", lambda v: v >= 0)
    points = usual_points("one step") if points is None else points
    nets = gaussian_points(points, scrambles, seed, dimensions=6)
    symmetric = solve(task, alpha, branch, points, scrambles, seed)
    if not symmetric.converged:
        return _unbroken(symmetric, y)
    first = 1 / symmetric.train_loss if y is None else y
    valley = _widen(task, alpha, symmetric.overlaps, first, nets[:, :FEW])
    if valley.gap == 0:
        return _unbroken(symmetric, y)
    report = report or (lambda: None)
    start = Broken(task, alpha, branch, first)
    few = powell(lambda x: start.pooled(x, nets[:, :FEW])[:-2], start.pack(valley), maxfev=60, xtol=TOLERANCE)
    found = Root(Broken(task, alpha, branch, first), few.x, nets)
    report()
    tried, drift, turns, reason = [found], np.zeros(len(found.x)), np.zeros(scrambles), ""
    if y is None and found.settled:
        found, tried, drift, turns, reason = _highest(found, nets, report)
    valley = found.valley
    share, (q, _, theta, _) = valley.gap / (valley.q0 + valley.gap), symmetric.overlaps
    if not (1 - share) * q * task.sigma**2 > theta**2:  # the search ran off to a gap too large for any student
        return replace(_unbroken(symmetric, y), reason=UNSETTLED)
    beside = Symmetric(task, alpha, branch, share)
    beside = Root(beside, beside.model.pack(symmetric.overlaps), nets)
    report()
    calls = start.calls + sum(each.equations.calls for each in [*tried, beside])
    return _describe(found, beside, drift, turns, calls, reason)


def _widen(task: Task, alpha: float, overlaps: Overlaps, y: float, nets) -> Valley:
    """Given overlaps with the gap to which copies come that share half of what the teacher leaves free, or zero."""
    q, m, theta, V = overlaps
    largest = q - theta**2 / task.sigma**2
    gap = largest / 2
    for _ in range(WIDENINGS):
        valley = Valley(q - gap, gap, m, theta, V, y)
        hats = conjugates(task, alpha, valley, pool(average(task, valley, nets)))
        last, gap = gap, float(min(update(task, y, hats).gap, 0.9 * largest))
        if gap < SMALLEST_GAP * q:
            return Valley(q, 0.0, m, theta, V, y)
        if abs(gap / last - 1) < STEP:
            break
    return Valley(q - gap, gap, m, theta, V, y)


def _highest(found, nets, report):
    """The root at the y of the largest Phi, from the root at another y.

    A parabola through three y, each twice the one before, gives that y.

    Returns
    -------
    found, tried : Root, list of Root
        The root, or the last one if there is no maximum; and all that were computed.
    drift, turns : (4,), (scrambles,) arrays
        Derivative of the coordinates by log y; deviation of log y in each scramble.
    reason : str
        `NO_MAXIMUM`, or empty.
    """
    first, middle, by_doubling = found.equations, 0, {0: found}

    def at(y, near):
        root = Root(Broken(first.task, first.alpha, first.branch, y), near.x, nets)
        report()
        return root

    while True:
        for side in (middle - 1, middle + 1):
            if side not in by_doubling:
                by_doubling[side] = at(first.y * 2.0**side, by_doubling[middle])
        below, here, above = (by_doubling[middle + side] for side in (-1, 0, 1))
        known = below.settled and above.settled
        if known and here.phi >= max(below.phi, above.phi):
            break
        middle += 1 if above.phi > below.phi else -1
        if abs(middle) > DOUBLINGS or not known:
            return here, [*by_doubling.values()], np.zeros(len(here.x)), np.zeros(len(nets)), NO_MAXIMUM
    curvature = (above.phi - 2 * here.phi + below.phi) / log(2) ** 2
    tilts = first.alpha * (above.averages.free - below.averages.free) / log(4)
    top = at(here.equations.y * exp(-(above.phi - below.phi) / log(4) / curvature), here)
    return top, [*by_doubling.values(), top], (above.x - below.x) / log(4), -(tilts - tilts.mean()) / curvature, ""


def _describe(found, beside, drift, turns, calls, reason):
    """The `OneStep` at a root, with the replica-symmetric root `beside` it; for the rest see `_highest`."""
    equations, valley = found.equations, found.valley
    moves = found.moves + drift[:, None] * turns
    moved = Valley(*np.transpose([equations.unpack(found.x + move) for move in moves.T]))
    spread = {name: getattr(moved, name) for name in ("q0", "m", "theta", "V")}
    spread |= {"q1": moved.q0 + moved.gap, "y": valley.y * turns}
    spread["phi"] = equations.alpha * found.averages.free
    spread["energy"] = equations.alpha * found.averages.fitted_loss + found.slopes[-1] @ found.moves
    spread["complexity"] = valley.y * (spread["energy"] - spread["phi"])
    spread["shift"] = spread["phi"] - equations.alpha * beside.averages.moreau
    if not found.settled or not beside.settled:
        reason = UNSETTLED
    elif not found.present:
        reason = ENDED
    elif valley.gap < SMALLEST_GAP * valley.q0:
        reason = CLOSED
    return OneStep(
        valley=valley,
        phi=found.phi,
        energy=found.energy,
        complexity=valley.y * (found.energy - found.phi),
        shift=found.phi - beside.phi,
        slope=float(found.averages.free.mean()),
        residual=found.residual,
        reason=reason,
        iterations=calls,
        stderr={name: standard_error(values) for name, values in spread.items()},
        shifts=spread["shift"] - spread["shift"].mean(),
    )


def _unbroken(found: Solution, y: float | None) -> OneStep:
    """A replica-symmetric solution as a `OneStep` without a gap."""
    (q, m, theta, V), stderr = found.overlaps, found.stderr
    same = {"q0": "q", "q1": "q", "m": "m", "theta": "theta", "V": "V", "phi": "train_loss", "energy": "train_loss"}
    return OneStep(
        valley=Valley(q, 0.0, m, theta, V, y or 0.0),
        phi=found.train_loss,
        energy=found.train_loss,
        complexity=0.0,
        shift=0.0,
        slope=found.train_slope,
        residual=found.residual,
        reason=found.reason,
        iterations=found.iterations,
        stderr={name: stderr[known] for name, known in same.items()} | dict(y=0.0, complexity=0.0, shift=0.0),
        shifts=np.zeros(len(found.energies)),
    )
