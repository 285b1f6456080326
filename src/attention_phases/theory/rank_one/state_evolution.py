"""The state evolution of the rank-one student, one step of it (Result 4.2, Eqs. 7 to 14).

Order parameters, with their scales: ``q = sigma^2 |Q|^2/d``, ``m = Q.1/d``,
``theta = sigma^2 Q.Q*/d`` and ``V = sigma^2 chi``. On the semantic branch m = 0, on the positional branch theta = 0.
"""

from math import sqrt
from typing import NamedTuple

import numpy as np

from ..quadrature import over_scrambles
from .prox import scramble_means


class Overlaps(NamedTuple):
    """A point of the state evolution."""

    q: float
    m: float
    theta: float
    V: float


class Averages(NamedTuple):
    """Expectations over the fields, each a float or one value a scramble; r = (h* - w)/V."""

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


def average(task, overlaps, points, minima=None, anew=True):
    """Averages over the fields at given overlaps, for each scramble.

    Parameters
    ----------
    task : Task
    overlaps : Overlaps
    points : (scrambles, N, 4) array
        From `gaussian_points`.
    minima : (scrambles, N, 2, 2) array, optional
        The two lowest minima of each point, see `warm.Net`.
    anew : bool
        Search for the minima and keep them there, or start from those that are there.

    Returns
    -------
    Averages of (scrambles,) arrays
    """
    (a11, a12), (a21, a22) = task.matrix
    variance = task.sigma**2
    arguments = (*overlaps, task.omega, variance, a11 - a12, a22 - a21)
    if minima is None:
        minima = np.empty((*points.shape[:2], 2, 2))
    means = over_scrambles(scramble_means, zip(points, minima), anew, *arguments)
    # Rows of Y sum to 1 + omega (A_a1 + A_a2 - 1), rows of S to 1: the part of the loss no student can fit.
    means[:, 4:7] += variance * task.omega**2 * ((a11 + a12 - 1) ** 2 + (a21 + a22 - 1) ** 2) / 4
    return Averages(*means.T)


def conjugates(task, alpha, overlaps, averages):
    """The hatted parameters (Eq. 7) from averages at `overlaps`.

    V_hat takes the noise form, E[r . xi] after integration by parts: where the prox jumps, the mean of its
    derivative misses the jumps. An overlap that the branch holds at zero keeps its conjugate at zero.
    """
    q, m, theta, _ = overlaps
    theta_hat = (theta != 0) * alpha * averages.teacher_noise / sqrt(task.sigma**2 - theta**2 / q)
    return Overlaps(
        q=alpha * averages.power,
        m=(m != 0) * alpha * averages.pull,
        theta=theta_hat,
        V=-alpha * averages.student_noise / sqrt(q) + theta * theta_hat / q,
    )


def gain(task, alpha, overlaps, averages, overlap):
    """By how much one step of the map multiplies a small overlap that `overlaps` hold at zero.

    Above 1 the solution is a saddle: a student near the semantic one leaves it towards the positions, or one near
    the positional one towards the teacher. The derivative at zero is taken by parts, like V_hat and for its reason.

    Parameters
    ----------
    task : Task
    alpha : float
    overlaps : Overlaps
    averages : Averages
    overlap : {"m", "theta"}

    Returns
    -------
    float or (scrambles,) array
    """
    D = task.lam + task.sigma**2 * conjugates(task, alpha, overlaps, averages).V
    if overlap == "m":
        return alpha * averages.pull_slope / D
    return alpha * task.sigma**2 * (averages.teacher_slope - averages.student_noise) / (sqrt(overlaps.q) * D)


def update(task, hats):
    """New overlaps from the conjugates (Eq. 8)."""
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


def free_energy(task, alpha, overlaps, hats, moreau):
    """Zero-temperature free energy (Eq. 108), stationary in all overlaps and conjugates at a fixed point.

    There it equals the training loss, alpha E[ell(h*)] + lambda q/(2 sigma^2).
    """
    variance = rho = task.sigma**2
    D = task.lam + variance * hats.V
    field = variance * hats.q + hats.m**2 + variance * rho * hats.theta**2
    coupling = (hats.q * overlaps.V - hats.V * overlaps.q) / 2 + hats.m * overlaps.m + hats.theta * overlaps.theta
    return alpha * moreau + coupling - field / (2 * D)
