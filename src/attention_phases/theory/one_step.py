"""Solutions with one step of replica symmetry breaking, their ground state, and how far it moves alpha_c.

Sigma(y) = y (e - Phi) = y^2 dPhi/dy counts the minima of training loss e(y), as the logarithm of their number over d.
The lowest ones are where Sigma is zero, at the maximum of Phi(y). Shifts from replica symmetry are small: they are
formed on the same points.
"""

from dataclasses import dataclass, field
from math import exp, log, sqrt

import numpy as np
import scipy.optimize

from ..errors import check_choice, check_positive, check_real
from .fixed_point import NEAR, SMALLEST_OVERLAP, STEP, TOLERANCE, UNRESOLVED, Evolution, solve
from .one_step_evolution import InnerAverages, Valley, average, conjugates, energy, potential, update
from .quadrature import SCRAMBLES, gaussian_points
from .state_evolution import Overlaps
from .transitions import threshold

BRANCHES = ("semantic", "positional")
POINTS = 2**12
FEW = 2**9  # points a scramble on which a root is sought; on all points it is then near
START = 0.5  # y times the training loss where the ground state is sought
SMALLEST_GAP = 1e-4  # over q, under which the minima are one
WIDENINGS = 60  # iterations of the gap alone
NEWTON_STEPS = 6
CHORDS = 3  # steps on all points, with the derivatives on few


@dataclass(frozen=True)
class OneStep:
    """A solution at one alpha.

    Attributes
    ----------
    valley : Valley
        With gap = 0 where the only solution found is the replica-symmetric one; y is then 0 if none was given.
    phi, energy, complexity : float
        Phi(y); e = d(y Phi)/dy, the training loss of the minima; Sigma. At the ground state Sigma = 0 and e = Phi.
    shift : float
        Phi less the replica-symmetric training loss.
    slope : float
        dPhi/dalpha at fixed y; at the ground state that of its energy.
    residual : float
        Largest change of a coordinate (log q0, log V, the own overlap, log gap) under one more step, and at the
        ground state of dPhi/dy over Phi^2.
    converged : bool
    iterations : int
        Evaluations of the map.
    stderr : dict
        Standard errors of q0, q1, m, theta, V, y, phi, energy, complexity and shift over the scrambles.
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
    converged: bool
    iterations: int
    stderr: dict
    shifts: np.ndarray = field(repr=False)


def one_step(task, alpha, branch, y=None, points=POINTS, scrambles=SCRAMBLES, seed=0):
    """Solution at `y`, or the ground state, on one branch.

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
        Quadrature of the outer fields, see `gaussian_points`.

    Returns
    -------
    OneStep
    """
    alpha = check_positive("alpha", alpha)
    check_choice("branch", branch, BRANCHES)
    if y is not None:
        y = check_real("y", y, "a finite number >= 0", lambda v: v >= 0)
    nets = gaussian_points(points, scrambles, seed, dimensions=6)
    few = nets[:, :FEW]
    symmetric = solve(task, alpha, branch, points, scrambles, seed)
    if not symmetric.converged:
        return _unbroken(symmetric, y)
    first = START / symmetric.train_loss if y is None else y
    valley = _widen(task, alpha, symmetric.overlaps, first, few)
    if valley.gap == 0:
        return _unbroken(symmetric, y)
    at = _Broken(task, alpha, branch, valley.y)
    x = _polish(at, at.coordinates(valley), few)
    if y is None:
        at.y, x = None, np.array([*x, log(valley.y)])
    x, slopes = _root(at, x, few, nets)
    share = at.valley(x).gap / (at.valley(x).q0 + at.valley(x).gap)
    beside = _Symmetric(task, alpha, branch, share)
    u, _ = _root(beside, beside.evolution.coordinates(symmetric.overlaps), few, nets)
    return _describe(at, x, slopes, beside, u, nets)


def _widen(task, alpha, overlaps, y, nets):
    """The gap at given overlaps, from copies that share half of what the teacher leaves free; zero if it vanishes."""
    q, m, theta, V = overlaps
    largest = q - theta**2 / task.sigma**2
    gap = largest / 2
    for _ in range(WIDENINGS):
        valley = Valley(q - gap, gap, m, theta, V, y)
        averages = _pool(average(task, valley, nets))
        last, gap = gap, min(update(task, y, conjugates(task, alpha, valley, averages)).gap, 0.9 * largest)
        if gap < SMALLEST_GAP * q:
            return Valley(q, 0.0, m, theta, V, y)
        if abs(gap / last - 1) < STEP:
            break
    return Valley(q - gap, gap, m, theta, V, y)


class _Broken:
    """The equations of one branch, at a y or of the ground state (None), as displacements of coordinates.

    Coordinates: those of `Evolution` with q0 for q, log gap, and log y at the ground state.
    """

    def __init__(self, task, alpha, branch, y):
        self.task, self.alpha, self.y, self.calls = task, alpha, y, 0
        self.evolution = Evolution(task, alpha, branch)

    def coordinates(self, valley):
        """Without that of y."""
        q0, gap, m, theta, V, _ = valley
        return np.array([*self.evolution.coordinates(Overlaps(q0, m, theta, V)), np.log(gap)])

    def valley(self, x):
        q0, m, theta, V = self.evolution.overlaps(x[:3])
        gap, *y = (exp(min(max(each, -40.0), 40.0)) for each in x[3:])
        return Valley(q0, gap, m, theta, V, *(y or [self.y]))

    def averages(self, x, nets):
        self.calls += 1
        return average(self.task, self.valley(x), nets)

    def measure(self, x, averages):
        """Displacement, then Phi and e, as rows."""
        valley = self.valley(x)
        hats = conjugates(self.task, self.alpha, valley, averages)
        phi = potential(self.task, self.alpha, valley, hats, averages.free)
        e = energy(self.task, self.alpha, valley, averages)
        moved = self.coordinates(update(self.task, valley.y, hats))
        ends = [(e - phi) / (valley.y * phi**2)] if self.y is None else []
        return np.array([*(moved.T - x[: len(moved)]).T, *ends, phi, e])

    def displacement(self, x, nets):
        return self.measure(x, _pool(self.averages(x, nets)))[:-2]


class _Symmetric(_Broken):
    """The equations of section 4 of the paper on the points of the broken ones, the fields split in the same shares."""

    def __init__(self, task, alpha, branch, share):
        super().__init__(task, alpha, branch, 0.0)
        self.share = share  # gap/q1

    def coordinates(self, valley):
        q0, gap, m, theta, V, _ = valley
        return self.evolution.coordinates(Overlaps(q0 + gap, m, theta, V))

    def valley(self, x):
        q, m, theta, V = self.evolution.overlaps(x)
        return Valley((1 - self.share) * q, self.share * q, m, theta, V, 0.0)


def _root(equations, x, few, nets):
    """Root by Newton's method on few points, then on all with the derivatives of `measure` on few, which it returns.

    Central differences over a long step: the prox jumps.
    """
    for _ in range(NEWTON_STEPS):
        sides = [[equations.measure(x + side, _pool(equations.averages(x + side, few))) for side in (shift, -shift)]
                 for shift in STEP * np.eye(len(x))]  # fmt: skip
        slopes = np.array([(above - below) / (2 * STEP) for above, below in sides]).T
        move = np.linalg.solve(slopes[:-2], equations.displacement(x, few))
        x = x - move / max(1.0, np.abs(move).max())
        if np.abs(move).max() < NEAR:
            break
    for _ in range(CHORDS):
        x = x - np.linalg.solve(slopes[:-2], equations.displacement(x, nets))
    return x, slopes


def _describe(at, x, slopes, beside, u, nets):
    """Everything that is said of a root `x` of the pooled averages, and of the replica-symmetric one `u` beside it.

    The error bars are made as in `fixed_point`; Phi is stationary, at the ground state in y too.
    """
    averages, others = at.averages(x, nets), beside.averages(u, nets)
    each = at.measure(x, averages)  # (displacement, Phi, e; scrambles)
    *displacement, phi, e = at.measure(x, _pool(averages))
    loss = beside.measure(u, _pool(others))[-2]
    moves = np.linalg.solve(slopes[:-2], each.mean(axis=1)[:-2, None] - each[:-2])
    valley = at.valley(x)

    def scatter(values):
        return float(np.std(values, ddof=1) / sqrt(len(nets)))

    moved = Valley(*np.transpose([at.valley(x + move) for move in moves.T]))
    spread = {name: value for name, value in moved._asdict().items() if name != "gap"} | {"q1": moved.q0 + moved.gap}
    spread["phi"] = at.alpha * averages.free
    spread["energy"] = at.alpha * averages.fitted_loss + slopes[-1] @ moves
    spread["complexity"] = moved.y * (e - phi) + valley.y * (spread["energy"] - spread["phi"])
    spread["shift"] = spread["phi"] - at.alpha * others.moreau
    errors = np.std(moves, axis=1, ddof=1) / sqrt(len(nets))
    left = np.abs(np.linalg.solve(slopes[:-2], displacement))
    residual = np.abs(displacement).max()
    exists = valley.gap > SMALLEST_GAP * valley.q0 and abs(x[2]) > max(SMALLEST_OVERLAP, 3 * errors[2])
    return OneStep(
        valley=valley,
        phi=phi,
        energy=e,
        complexity=valley.y * (e - phi),
        shift=phi - loss,
        slope=float(averages.free.mean()),
        residual=float(residual),
        converged=bool((residual <= TOLERANCE or (left <= UNRESOLVED * errors).all()) and exists),
        iterations=at.calls + beside.calls,
        stderr={name: scatter(values) for name, values in spread.items()},
        shifts=spread["shift"] - spread["shift"].mean(),
    )


def _polish(equations, x, nets):
    options = {"eps": 1e-6, "xtol": TOLERANCE, "maxfev": 60, "factor": 0.1}  # as in `fixed_point`
    return scipy.optimize.root(equations.displacement, x, args=(nets,), method="hybr", options=options).x


def _unbroken(found, y):
    """A replica-symmetric solution as one of these."""
    q, m, theta, V = found.overlaps
    same = {"q0": "q", "q1": "q", "m": "m", "theta": "theta", "V": "V", "phi": "train_loss", "energy": "train_loss"}
    return OneStep(
        valley=Valley(q, 0.0, m, theta, V, y or 0.0),
        phi=found.train_loss,
        energy=found.train_loss,
        complexity=0.0,
        shift=0.0,
        slope=found.train_slope,
        residual=found.residual,
        converged=found.converged,
        iterations=found.iterations,
        stderr={name: found.stderr[known] for name, known in same.items()} | dict(y=0.0, complexity=0.0, shift=0.0),
        shifts=np.zeros(len(found.energies)),
    )


def _pool(averages):
    return InnerAverages(*(float(each.mean()) for each in averages))
