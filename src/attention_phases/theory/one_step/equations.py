"""The state evolution with one step of replica symmetry breaking: a valley of many minima.

The minima have the mutual overlap q0 and the size q1; gap = q1 - q0. Minima of the risk R are weighted by exp(-y R).
The outer fields are those of `standard` with q0 instead of q. Around each of them, inner fields
``w = w0 + sqrt(gap) z``, z ~ N(0, 1), have the weight exp(-y M(w)), M the Moreau envelope. ``<.>`` is the weighted mean
over the inner fields, E the mean over the outer fields, and r = (h* - w)/V. At gap = 0 this is
`standard`, for any y.
"""

from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from ...task import Task
from ..kernels.two_tokens import one_step_means
from ..quadrature import over_scrambles
from ..standard import unfitted, unread

RADII, ANGLES = 3, 6  # of the inner points


class Valley(NamedTuple):
    """Order parameters at y: gap = q1 - q0, and those of `Overlaps` with q0 instead of q; floats, or one a scramble."""

    q0: Any
    gap: Any
    m: Any
    theta: Any
    V: Any
    y: Any

    @property
    def share(self):
        """gap/q1."""
        return self.gap / (self.q0 + self.gap)


class InnerAverages(NamedTuple):
    """Expectations over the fields; each entry a float, or an array with one value a scramble."""

    pull: np.ndarray  # E[<r_1> - <r_2>]
    power: np.ndarray  # E<|r|^2>
    mean_power: np.ndarray  # E|<r>|^2
    teacher_noise: np.ndarray  # E[<r> . zeta]
    outer_noise: np.ndarray  # E[<r> . xi]
    inner_noise: np.ndarray  # E<r . z>
    fitted_loss: np.ndarray  # E<ell(h*)>
    free: np.ndarray  # E[-(1/y) log of the mean of exp(-y M) over z]; E<M> at y = 0


class ValleyHats(NamedTuple):
    """The conjugates of the order parameters; each entry a float, or an array with one value a scramble."""

    q0: Any
    q1: Any
    m: Any
    theta: Any
    V: Any


def inner_points(radii: int = RADII, angles: int = ANGLES) -> np.ndarray:
    """Return points of the plane, on circles, and their weights under the normal law: (radii * angles, 3).

    The radii are Gauss-Laguerre's; every other circle is turned by half a step. A kink of M is a line, and the
    circles, turned by another angle around each outer field, meet it as often as they should.
    """
    squares, weights = np.polynomial.laguerre.laggauss(radii)
    turns = 2 * np.pi * (np.arange(angles) + np.arange(radii)[:, None] % 2 / 2) / angles
    circles = np.sqrt(2 * squares)[:, None]
    shares = np.broadcast_to(weights[:, None] / angles, turns.shape)
    return np.stack([circles * np.cos(turns), circles * np.sin(turns), shares], axis=-1).reshape(-1, 3)


def average(task: Task, valley: Valley, points, inner=None) -> InnerAverages:
    """Return the averages at given order parameters for each scramble of points (scrambles, N, 6), as such arrays.

    `inner` (K, 3) is from `inner_points`.
    """
    (a11, a12), (a21, a22) = task.matrix
    variance = task.sigma**2
    inner = inner_points() if inner is None else inner
    arguments = (inner, *valley, task.omega, variance, a11 - a12, a22 - a21)
    means = np.array(over_scrambles(one_step_means, zip(points), *arguments))
    means[:, 6:] += unfitted(task)
    return InnerAverages(*means.T)


def conjugates(task: Task, alpha: float, valley: Valley, averages: InnerAverages) -> ValleyHats:
    """Return the conjugates from the averages at `valley`.

    V_hat = -alpha E<div r> is integrated by parts over the outer and the inner fields, in the shares of their
    variances: ``V_hat = alpha y (P1 - P0 q0/q1) - alpha E<r . (sqrt(q0) xi + sqrt(gap) z)>/q1 + theta theta_hat/q1``.
    """
    q0, gap, m, theta, _, y = valley
    theta_hat = (theta != 0) * alpha * averages.teacher_noise / unread(task, q0, theta)
    weighted = y * ((q0 + gap) * averages.power - q0 * averages.mean_power)
    noise = sqrt(q0) * averages.outer_noise + sqrt(gap) * averages.inner_noise
    return ValleyHats(
        q0=alpha * averages.mean_power,
        q1=alpha * averages.power,
        m=(m != 0) * alpha * averages.pull,
        theta=theta_hat,
        V=(alpha * (weighted - noise) + theta * theta_hat) / (q0 + gap),
    )


def denominators(task: Task, y: float, hats: ValleyHats) -> tuple:
    """Return D, and D0 = D - y sigma^2 (q1_hat - q0_hat); the bounds only keep a wild step inside the domain."""
    D = np.maximum(task.lam + task.sigma**2 * hats.V, 1e-3 * task.lam)
    return D, np.maximum(D - y * task.sigma**2 * (hats.q1 - hats.q0), 1e-3 * D)


def update(task: Task, y: float, hats: ValleyHats) -> Valley:
    """Return the order parameters after one step, from the conjugates."""
    variance = task.sigma**2
    D, D0 = denominators(task, y, hats)
    signal = variance * hats.q0 + hats.m**2 + variance**2 * hats.theta**2
    gap = variance**2 * (hats.q1 - hats.q0) / (D * D0)
    return Valley(variance * signal / D0**2, gap, hats.m / D0, variance**2 * hats.theta / D0, variance / D, y)


def potential(task: Task, alpha: float, valley: Valley, hats: ValleyHats, free):
    """Return Phi(y), stationary in all order parameters and conjugates at a solution; `free` is of `InnerAverages`."""
    q0, gap, m, theta, V, y = valley
    D, D0 = denominators(task, y, hats)
    signal = task.sigma**2 * hats.q0 + hats.m**2 + task.sigma**4 * hats.theta**2
    entropy = np.log(D0 / D) / (2 * y) if y > 0 else -(task.sigma**2) * (hats.q1 - hats.q0) / (2 * D)
    coupling = m * hats.m + theta * hats.theta + (hats.q1 * V - (q0 + gap) * hats.V) / 2
    return alpha * free + entropy - signal / (2 * D0) + coupling + y * ((q0 + gap) * hats.q1 - q0 * hats.q0) / 2


def energy(task: Task, alpha: float, valley: Valley, averages: InnerAverages):
    """Return e(y) = alpha E<ell(h*)> + lambda q1/(2 sigma^2), which is d(y Phi)/dy at a solution."""
    return alpha * averages.fitted_loss + task.lam * (valley.q0 + valley.gap) / (2 * task.sigma**2)
