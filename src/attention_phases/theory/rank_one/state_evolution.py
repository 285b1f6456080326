"""The state evolution of the rank-one student, one step of it (Result 4.2, Eqs. 7 to 14).

Order parameters, with their scales: ``q = sigma^2 |Q|^2/d``, ``m = Q.1/d``,
``theta = sigma^2 Q.Q*/d`` and ``V = sigma^2 chi``. On the semantic branch m = 0, on the positional branch theta = 0.
"""

from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from ...task import Task
from ..quadrature import over_scrambles
from .prox import scramble_means


class Overlaps(NamedTuple):
    """A point of the state evolution; each entry a float, or an array with one value a scramble."""

    q: Any
    m: Any
    theta: Any
    V: Any

    def named(self, variance: float, flat: bool = False) -> dict:
        """Return q, m, theta and V by name; see `GeneralOverlaps.named`, whose arguments change nothing here."""
        return self._asdict()


class Hats(NamedTuple):
    """The conjugates of the overlaps (Eq. 7); each entry a float, or an array with one value a scramble."""

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


def average(task: Task, overlaps: Overlaps, points, lowest=None, anew=True) -> Averages:
    """Return the averages over the fields at given overlaps, for each scramble.

    Parameters
    ----------
    task : Task
    overlaps : Overlaps
    points : (scrambles, N, 4) array
        From `gaussian_points`.
    lowest : (scrambles, N, 2, 2) array, optional
        The two lowest minima of each point, see `warm.Net`.
    anew : bool
        Search for the minima and keep them in `lowest`; otherwise start from those that are there.

    Returns
    -------
    Averages of (scrambles,) arrays
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
    """Return the factor by which one step of the map multiplies a small overlap that `overlaps` hold at zero.

    Above 1 the solution is a saddle: a student near the semantic one leaves it towards the positions, or one near
    the positional one towards the teacher. The derivative at zero is taken by parts, like V_hat and for its reason.

    `overlap` is "m" or "theta". The result is a float or a (scrambles,) array, as the entries of `averages`.
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
