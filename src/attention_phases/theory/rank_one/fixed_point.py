"""Fixed points of the state evolution, with error bars: the two branches of minima (Result 4.2)."""

from dataclasses import dataclass, field
from math import exp, sqrt, tanh

import numpy as np

from ...errors import check_choice, check_positive
from ..quadrature import POINTS, SCRAMBLES, gaussian_points
from ..warm import Net, polish
from .state_evolution import Averages, Overlaps, average, conjugates, free_energy, gain, update

BRANCHES = ("semantic", "positional", "symmetric")
HELD = {"semantic": ("m",), "positional": ("theta",), "symmetric": ("m", "theta")}  # at zero
TOLERANCE = 1e-6  # on the residual
# Where the prox jumps, averages over N points move in steps of order 1/N and may step over the fixed point. The
# distance that is left is no error of the solution as long as it is below this share of the error bar.
UNRESOLVED = 0.2
SMALLEST_OVERLAP = 1e-2  # theta/sqrt(rho q), or m/sqrt(q), under which a branch has ended
# Coordinates beyond these are of no solution; they keep a wild step of the solver among numbers: exp and artanh.
FARTHEST = (40.0, 40.0, 15.0)
DAMPING = 0.9  # share of the old value: the map's eigenvalues reach -10 on the positional branch
DAMPED_STEPS = 400
COARSE = (16, 2**10)  # scrambles and points that bring the iteration near a fixed point
NEAR = 1e-3  # largest change at which the damped iteration hands over
FIELDS = 2  # of a sentence
# For central differences, in the coordinates of the map: as the prox jumps, a point of N moves an average by a step,
# and the noise of the derivatives grows like 1/sqrt(N STEP).
STEP = 1e-2


@dataclass(frozen=True)
class Solution:
    """A fixed point at one alpha.

    Attributes
    ----------
    overlaps : Overlaps
    train_loss, test_mse : float
        epsilon_t (Eq. 14) and epsilon_g (Eq. 10).
    free_energy : float
        The training loss by its other formula: the two differ by the residual only.
    train_slope, test_slope : float
        Their derivatives in alpha. The first is E[Moreau envelope], for the free energy is stationary.
    replicon : float
        ``Lambda = alpha E|d(h* - w)/dw|_F^2`` (Appendix B.5).
    gain : float
        Of the overlap that the branch holds at zero (`state_evolution.gain`), the larger one where it holds both;
        a solution with a gain above 1 is a saddle.
    residual : float
        Largest relative change of an overlap under one more step.
    converged : bool
        The residual is at most 1e-6, or leaves a distance to the fixed point of at most a fifth of every
        coordinate's standard error; the branch's own overlap is not zero within its error; and it is no saddle
        in the coordinates of its branch, from which every damped iteration leaves. The overlap that the branch holds
        at zero is another matter, see `gain`.
    iterations : int
        Evaluations of the state-evolution map.
    stderr : dict
        Standard errors of q, m, theta, V, train_loss, test_mse, replicon and gain over the scrambles.
    energies : (scrambles,) array
        Each scramble's free energy less their mean: the error of a difference of training losses is in them.
    """

    overlaps: Overlaps
    train_loss: float
    test_mse: float
    free_energy: float
    train_slope: float
    test_slope: float
    replicon: float
    gain: float
    residual: float
    converged: bool
    iterations: int
    stderr: dict
    energies: np.ndarray = field(repr=False)


def solve(task, alpha, branch, points=POINTS, scrambles=SCRAMBLES, seed=0, start=None):
    """Fixed point of the state evolution on one branch.

    A damped iteration on few points comes near it, Powell's hybrid method on all points ends it.

    Parameters
    ----------
    task : Task
    alpha : float > 0
        Sample complexity.
    branch : {"semantic", "positional", "symmetric"}
        m = 0 and theta > 0; theta = 0 and m > 0; or m = theta = 0, from which the other two branch off.
    points, scrambles, seed : int
        Quadrature, see `gaussian_points`.
    start : Overlaps, optional
        Nearby on the same branch; the damped iteration is then left out.

    Returns
    -------
    Solution
        `converged` is False where the branch does not exist or the solver failed.
    """
    alpha = check_positive("alpha", alpha)
    check_choice("branch", branch, BRANCHES)
    if task.sigma**2 == 0:
        raise FloatingPointError(f"the square of sigma = {task.sigma} is no number above 0")
    nets = gaussian_points(points, scrambles, seed)
    evolution = Evolution(task, alpha, branch)
    if start is not None:
        near = evolution.coordinates(start)
    else:
        few = Net(nets[: COARSE[0], : COARSE[1]], FIELDS)
        near, _ = evolution.polish(_damped(evolution, few), few)
    net = Net(nets, FIELDS)
    return _describe(evolution, *evolution.polish(near, net), net)


class Evolution:
    """The map of one branch in its free coordinates: log q, log V and the branch's own overlap.

    The overlap enters as artanh(theta/sqrt(rho q)), or m/sqrt(q), so that every point is admissible.
    """

    def __init__(self, task, alpha, branch):
        self.task, self.alpha, self.branch, self.calls = task, alpha, branch, 0

    def coordinates(self, overlaps):
        q, m, theta, V = overlaps
        own = {
            "semantic": [np.arctanh(theta / np.sqrt(self.task.sigma**2 * q))],
            "positional": [m / np.sqrt(q)],
            "symmetric": [],
        }
        return np.array([np.log(q), np.log(V), *own[self.branch]])

    def overlaps(self, x):
        log_q, log_V, *own = (min(max(each, -most), most) for each, most in zip(x.tolist(), FARTHEST))
        q, V = exp(log_q), exp(log_V)
        m = sqrt(q) * own[0] if self.branch == "positional" else 0.0
        theta = sqrt(self.task.sigma**2 * q) * tanh(own[0]) if self.branch == "semantic" else 0.0
        return Overlaps(q, m, theta, V)

    def averages(self, x, net, anew=False):
        """Of each scramble, `anew` by a search; without it from the minima of the last one, if that is near."""
        self.calls += 1
        return average(self.task, self.overlaps(x), net.points, net.minima, net.search_at(x, anew))

    def step(self, x, averages):
        return self.coordinates(update(self.task, conjugates(self.task, self.alpha, self.overlaps(x), averages)))

    def gain(self, x, averages):
        held = [gain(self.task, self.alpha, self.overlaps(x), averages, name) for name in HELD[self.branch]]
        return np.maximum(held[0], held[-1])

    def displacement(self, x, net, anew=False):
        averages = self.averages(x, net, anew)
        return self.step(x, _pool(averages)) - x, averages

    def polish(self, x, net):
        """The fixed point near x, and its averages by a search."""
        return polish(lambda x, anew: self.displacement(x, net, anew), x, maxfev=60, xtol=TOLERANCE / 10)


def _pool(averages):
    return Averages(*(float(each.mean()) for each in averages))


def _damped(evolution, net):
    """Damped iteration from inside the branch's basin: close to the teacher, or to the positional encoding."""
    rho = evolution.task.sigma**2
    V = 0.5 * rho / (evolution.task.lam * max(1.0, evolution.alpha))
    x = evolution.coordinates(
        {
            "semantic": Overlaps(q=0.8 * rho, m=0.0, theta=0.7 * rho, V=V),
            "positional": Overlaps(q=0.2 * rho, m=sqrt(rho) / 2, theta=0.0, V=V),
            "symmetric": Overlaps(q=0.2 * rho, m=0.0, theta=0.0, V=V),
        }[evolution.branch]
    )
    for _ in range(DAMPED_STEPS):
        move, _ = evolution.displacement(x, net)
        x = x + (1 - DAMPING) * move
        if np.abs(move).max() < NEAR:
            break
    return x


def _describe(evolution, x, averages, net):
    """Everything that is said of a fixed point `x` of the pooled averages, which a search has given.

    Scramble k alone has its fixed point at x + (1 - J)^-1 (F_k(x) - x), to first order: the spread of these
    gives the error bars. The free energy is stationary, so its own spread at x is enough.
    """
    task, alpha = evolution.task, evolution.alpha
    pooled = _pool(averages)
    image = evolution.step(x, pooled)
    changes = []
    for shift in STEP * np.eye(len(x)):
        above, below = (_pool(evolution.averages(x + side, net)) for side in (shift, -shift))
        moved = evolution.step(x + shift, above) - evolution.step(x - shift, below)
        gained = evolution.gain(x + shift, above) - evolution.gain(x - shift, below)
        changes.append([*moved, gained, *np.subtract(above, below)])
    slopes = np.array(changes).T / (2 * STEP)  # of the map, of the gain, of the averages
    jacobian, gain_slopes, slopes = slopes[: len(x)], slopes[len(x)], Averages(*slopes[len(x) + 1 :])
    scatter = evolution.step(x, averages) - image[:, None]
    response = np.eye(len(x)) - jacobian
    moves = np.linalg.solve(response, scatter)  # (coordinates, scrambles)
    above, below = (Evolution(task, alpha * (1 + side), evolution.branch).step(x, pooled) for side in (STEP, -STEP))
    drift = (above - below) / (2 * alpha * STEP)

    overlaps = evolution.overlaps(x)
    energies = alpha * (averages.moreau - pooled.moreau)
    spread = dict(zip(Overlaps._fields, np.transpose([evolution.overlaps(x + move) for move in moves.T])))
    spread["train_loss"] = energies
    spread["test_mse"] = averages.test_loss + slopes.test_loss @ moves
    spread["replicon"] = alpha * (averages.response + slopes.response @ moves)
    spread["gain"] = evolution.gain(x, averages) + gain_slopes @ moves
    stderr = {name: float(np.std(each, ddof=1) / sqrt(len(net))) for name, each in spread.items()}

    errors = np.std(moves, axis=1, ddof=1) / sqrt(len(net))
    residual = np.abs(image - x).max()
    settled = residual <= TOLERANCE or (np.abs(np.linalg.solve(response, image - x)) <= UNRESOLVED * errors).all()
    exists = (np.abs(x[2:]) > np.maximum(SMALLEST_OVERLAP, 3 * errors[2:])).all()
    stable = (np.linalg.eigvals(jacobian).real < 1).all()
    return Solution(
        overlaps=overlaps,
        train_loss=alpha * pooled.fitted_loss + task.lam * overlaps.q / (2 * task.sigma**2),
        test_mse=pooled.test_loss,
        free_energy=free_energy(task, alpha, overlaps, conjugates(task, alpha, overlaps, pooled), pooled.moreau),
        train_slope=pooled.moreau,
        test_slope=float(slopes.test_loss @ np.linalg.solve(response, drift)),
        replicon=alpha * pooled.response,
        gain=float(evolution.gain(x, pooled)),
        residual=float(residual),
        converged=bool(settled and exists and stable),
        iterations=evolution.calls,
        stderr=stderr,
        energies=energies,
    )
