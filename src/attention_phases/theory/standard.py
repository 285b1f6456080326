"""The state evolution of the standard student, one step of it (Result 4.2, Eqs. 7 to 14), and its branches.

Order parameters, with their scales: ``q = sigma^2 |Q|^2/d``, ``m = Q.1/d``,
``theta = sigma^2 Q.Q*/d`` and ``V = sigma^2 chi``. On the semantic branch m = 0, on the positional branch theta = 0.
These are the equations of `variants` for one column and two independent tokens, on the faster kernel.
"""

from dataclasses import dataclass
from math import exp, sqrt, tanh
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..errors import check_choice
from ..task import Task
from .kernels.two_tokens import scramble_means
from .quadrature import over_scrambles
from .warm import Rough

HELD = {"semantic": ("m",), "positional": ("theta",), "symmetric": ("m", "theta")}  # at zero
# Coordinates beyond these belong to no solution. The bounds keep a wild step of the solver within the range of exp and
# artanh.
FARTHEST = (40.0, 40.0, 15.0)


class Overlaps(NamedTuple):
    """A point of the state evolution; a first axis of each entry may count scrambles.

    Of the standard student they are scalars, with the scales above. Of `variants` they are q and V (r, r), m and theta
    (r,) of r columns of weights, without sigma^2.
    """

    q: Any
    m: Any
    theta: Any
    V: Any


class Hats(NamedTuple):
    """The conjugates of the overlaps (Eq. 7), shaped like them, but for the m of `variants`: (L, r)."""

    q: Any
    m: Any
    theta: Any
    V: Any


class Averages(NamedTuple):
    """Expectations over the fields, with r = (h* - w)/V; each entry a float, or an array with one value a scramble."""

    pull: np.ndarray  # E[r_1 - r_2]
    power: np.ndarray  # E[r_1^2 + r_2^2]
    teacher_noise: np.ndarray  # E[r . zeta]
    student_noise: np.ndarray  # E[r . xi]
    fitted_loss: np.ndarray  # E[ell(h*)]
    moreau: np.ndarray  # E[min_h |h - w|^2/(2V) + ell(h)]
    test_loss: np.ndarray  # E[ell(w)]
    response: np.ndarray  # E[|d(h* - w)/dw|_F^2]
    pull_slope: np.ndarray  # d E[r_1 - r_2]/dm, integrated by parts
    teacher_slope: np.ndarray  # E[(r . zeta)(xi . zeta)], of which d E[r . zeta]/d theta at theta = 0 is made


def average(task: Task, overlaps: Overlaps, points: np.ndarray, lowest=None, anew: bool = True) -> Averages:
    """Return the averages over the fields at given overlaps, for each scramble: arrays (scrambles,).

    Args:
        points: (scrambles, N, 4), from `gaussian_points`
        lowest: (scrambles, N, 2, 2), the two lowest minima of each point, see `warm.Net`
        anew: search for the minima and keep them in `lowest`; otherwise start from those that are there
    """
    (a11, a12), (a21, a22) = task.matrix
    variance = task.sigma**2
    arguments = (*overlaps, task.omega, variance, a11 - a12, a22 - a21)
    if lowest is None:
        lowest = np.empty((*points.shape[:2], 2, 2))
    means = np.array(over_scrambles(scramble_means, zip(points, lowest), anew, *arguments))
    means[:, 4:7] += unfitted(task)
    return Averages(*means.T)


def unfitted(task: Task) -> float:
    """Return the part of the loss of a sentence that no student can fit.

    Rows of Y sum to 1 + omega (A_a1 + A_a2 - 1), rows of S to 1.
    """
    (a11, a12), (a21, a22) = task.matrix
    return task.sigma**2 * task.omega**2 * ((a11 + a12 - 1) ** 2 + (a21 + a22 - 1) ** 2) / 4


def unread(task: Task, q: float, theta: float) -> float:
    """Return the standard deviation of the part of a teacher's field that the student's does not tell.

    The bound only keeps a wild step of a solver inside the domain.
    """
    return sqrt(max(task.sigma**2 - theta**2 / q, 1e-9 * task.sigma**2))


def conjugates(task: Task, alpha: float, overlaps: Overlaps, averages: Averages) -> Hats:
    """Return the conjugates (Eq. 7) from the averages at `overlaps`.

    V_hat takes the noise form, E[r . xi] after integration by parts: where the prox jumps, the mean of its
    derivative misses the jumps. The conjugate of an overlap that the branch holds at zero is zero.
    """
    q, m, theta, _ = overlaps
    theta_hat = (theta != 0) * alpha * averages.teacher_noise / unread(task, q, theta)
    return Hats(
        q=alpha * averages.power,
        m=(m != 0) * alpha * averages.pull,
        theta=theta_hat,
        V=-alpha * averages.student_noise / sqrt(q) + theta * theta_hat / q,
    )


def gain(task: Task, alpha: float, overlaps: Overlaps, averages: Averages, overlap: str):
    """Return the factor by which one step of the map multiplies a small `overlap`, "m" or "theta", held at zero.

    Above 1 the solution is a saddle: a student near the semantic one leaves it towards the positions, or one near
    the positional one towards the teacher. The derivative at zero is taken by parts, like V_hat and for its reason.
    """
    D = task.lam + task.sigma**2 * conjugates(task, alpha, overlaps, averages).V
    if overlap == "m":
        return alpha * averages.pull_slope / D
    return alpha * task.sigma**2 * (averages.teacher_slope - averages.student_noise) / (sqrt(overlaps.q) * D)


def update(task: Task, hats: Hats) -> Overlaps:
    """Return the overlaps after one step, from the conjugates (Eq. 8)."""
    variance = rho = task.sigma**2
    # No fixed point has D or q near zero; the bounds only keep a wild first step inside the domain.
    D = np.maximum(task.lam + variance * hats.V, 1e-3 * task.lam)
    signal = hats.m**2 + variance * rho * hats.theta**2
    return Overlaps(
        q=np.maximum(variance * (variance * hats.q + signal) / D**2, 1e-12 * rho),
        m=hats.m / D,
        theta=variance * rho * hats.theta / D,
        V=variance / D,
    )


def free_energy(task: Task, alpha: float, overlaps: Overlaps, hats: Hats, moreau):
    """Return the zero-temperature free energy (Eq. 108), stationary in all overlaps and conjugates at a fixed point.

    There it equals the training loss, ``alpha E[ell(h*)] + lambda q/(2 sigma^2)``. `moreau` is E[Moreau envelope].
    """
    variance = rho = task.sigma**2
    D = task.lam + variance * hats.V
    field = variance * hats.q + hats.m**2 + variance * rho * hats.theta**2
    coupling = (hats.q * overlaps.V - hats.V * overlaps.q) / 2 + hats.m * overlaps.m + hats.theta * overlaps.theta
    return alpha * moreau + coupling - field / (2 * D)


@dataclass
class StandardBranch:
    """One branch of the standard student at one alpha, as a `solver.Model`.

    Its coordinates are log q, log V and, for the overlap that the branch is named after, artanh(theta/sqrt(rho q)) or
    m/sqrt(q): every point is admissible.
    """

    task: Task
    alpha: float
    branch: str

    fields: ClassVar[int] = 2
    dimensions: ClassVar[int] = 4
    own: ClassVar[slice] = slice(2, None)

    def __post_init__(self) -> None:
        check_choice("branch", self.branch, tuple(HELD))

    @property
    def rough(self) -> Rough:
        """How to come near the fixed point; on the positional branch the eigenvalues of the map reach -10."""
        return Rough(points=2**10, kept=0.5 if self.branch == "semantic" else 0.9, near=1e-3)

    def start(self) -> Overlaps:
        """Return overlaps inside the basin of the branch: close to the teacher, or to the positional encoding."""
        rho = self.task.sigma**2
        V = 0.5 * rho / (self.task.lam * max(1.0, self.alpha))
        return {
            "semantic": Overlaps(q=0.8 * rho, m=0.0, theta=0.7 * rho, V=V),
            "positional": Overlaps(q=0.2 * rho, m=sqrt(rho) / 2, theta=0.0, V=V),
            "symmetric": Overlaps(q=0.2 * rho, m=0.0, theta=0.0, V=V),
        }[self.branch]

    def pack(self, overlaps: Overlaps) -> np.ndarray:
        """Return the coordinates (n,) of overlaps, or (scrambles, n) of arrays of them."""
        q, m, theta, V = overlaps
        own = {
            "semantic": [np.arctanh(theta / np.sqrt(self.task.sigma**2 * q))],
            "positional": [m / np.sqrt(q)],
            "symmetric": [],
        }
        return np.array([np.log(q), np.log(V), *own[self.branch]]).T

    def unpack(self, x: np.ndarray) -> Overlaps:
        """Return the overlaps at coordinates x (n,)."""
        log_q, log_V, *own = (min(max(value, -most), most) for value, most in zip(x.tolist(), FARTHEST))
        q, V = exp(log_q), exp(log_V)
        m = sqrt(q) * own[0] if self.branch == "positional" else 0.0
        theta = sqrt(self.task.sigma**2 * q) * tanh(own[0]) if self.branch == "semantic" else 0.0
        return Overlaps(q, m, theta, V)

    def average(self, x: np.ndarray, points: np.ndarray, lowest: np.ndarray, anew: bool) -> Averages:
        """Return the averages at x for each scramble."""
        return average(self.task, self.unpack(x), points, lowest, anew)

    def hats(self, x: np.ndarray, averages: Averages) -> Hats:
        """Return the conjugates from the averages at x."""
        return conjugates(self.task, self.alpha, self.unpack(x), averages)

    def step(self, x: np.ndarray, averages: Averages) -> np.ndarray:
        """Return the coordinates after one step of the map from x, whose averages are given."""
        return self.pack(update(self.task, self.hats(x, averages)))

    def gain(self, x: np.ndarray, averages: Averages):
        """Return the gain of the overlap that the branch holds at zero, the larger one of two."""
        gains = [gain(self.task, self.alpha, self.unpack(x), averages, name) for name in HELD[self.branch]]
        return np.maximum(gains[0], gains[-1])

    def observables(self, x: np.ndarray, averages: Averages) -> dict:
        """Return test_mse, replicon and gain at x."""
        replicon = self.alpha * averages.response
        return {"test_mse": averages.test_loss, "replicon": replicon, "gain": self.gain(x, averages)}

    def losses(self, x: np.ndarray, averages: Averages) -> tuple:
        """Return ``alpha E[ell(h*)] + lambda q/(2 sigma^2)`` (Eq. 14) and the free energy (Eq. 108) at x."""
        overlaps, hats = self.unpack(x), self.hats(x, averages)
        penalty = self.task.lam * overlaps.q / (2 * self.task.sigma**2)
        free = free_energy(self.task, self.alpha, overlaps, hats, averages.moreau)
        return self.alpha * averages.fitted_loss + penalty, free
