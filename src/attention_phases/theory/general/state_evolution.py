"""The state evolution in general: L tokens, r columns of weights, any bilinear score and token covariance.

Results 4.2 and C.2 for one teacher vector. Scales, without sigma^2: q = W^T W/d (r, r), theta = W^T Q*/d (r,), chi
(r, r), and m = u mu (L, r) with the marks u (L, p) of the positions, whose Gram matrix is P = u u^T.
"""

from typing import NamedTuple

import numpy as np

from ..quadrature import over_scrambles
from .prox import scramble_means


class Setting(NamedTuple):
    """What the equations need of a task and an architecture."""

    omega: float
    lam: float
    covariance: np.ndarray  # C (L, L)
    score: np.ndarray  # M (r, r)
    marks: np.ndarray  # u (L, p)
    matrix: np.ndarray  # A (L, L)

    @classmethod
    def of(cls, task, architecture):
        """The setting of one of the solved architectures."""
        marks = architecture.positions[:, None]
        covariance, matrix = architecture.covariance(task), architecture.attention(task)
        return cls(task.omega, task.lam, covariance, architecture.score, marks, matrix)


class GeneralOverlaps(NamedTuple):
    """A point of the state evolution."""

    q: np.ndarray  # (r, r)
    mu: np.ndarray  # (p, r)
    theta: np.ndarray  # (r,)
    chi: np.ndarray  # (r, r)


class Averages(NamedTuple):
    """Expectations over the fields, with g = C^-1 (h* - w) chi^-1; the first axis may count scrambles."""

    power: np.ndarray  # E[g^T C g] (r, r)
    noise: np.ndarray  # E[g^T n] (r, r), of the noise n of the cavity fields: w = n root(q)^T + m
    pull: np.ndarray  # E[g] (L, r)
    teacher_noise: np.ndarray  # E[g^T n_y] (r,), of the teacher's own noise
    fitted_loss: np.ndarray  # E[ell(h*)]
    moreau: np.ndarray
    test_loss: np.ndarray  # E[ell(w)]
    teacher_slope: np.ndarray  # E[g^T n_y (C^-1 n_y)^T n] (r, r)
    score: np.ndarray  # E[g s^T] (L r, L r), s = root(C)^-1 (n - n_y t^T/rest): what a shift of w brings, by parts


def average(setting, overlaps, points, minima=None, anew=True):
    """Averages over the fields at given overlaps, for each scramble of `points` (scrambles, N, L (r + 1)).

    The two lowest minima of each point, (scrambles, N, 2, L r), are searched for `anew` and kept in `minima`, or the
    averages start from those that are there, see `warm.Net`.
    """
    C, M = setting.covariance, setting.score
    count, r = len(C), len(M)
    root, root_C = np.linalg.cholesky(overlaps.q), np.linalg.cholesky(C)
    aligned, rest = _teacher(root, overlaps.theta)
    A = np.kron(np.linalg.inv(C), np.linalg.inv(overlaps.chi))
    reach = np.sqrt(np.outer(np.diag(C), np.diag(overlaps.chi)).ravel())
    arguments = (root, setting.marks @ overlaps.mu, aligned, rest, A, reach, C, root_C, M, setting.omega,
                 setting.matrix)  # fmt: skip
    if minima is None:
        minima = np.empty((*points.shape[:2], 2, count * r))
    rows = over_scrambles(scramble_means, zip(points, minima), anew, *arguments)
    shapes = [(r, r), (r, r), (count, r), (r,), (), (), (), (r, r), (count * r, count * r)]
    parts = np.split(rows, np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1], axis=1)
    return Averages(*(part.reshape(len(rows), *shape) for part, shape in zip(parts, shapes)))


def _teacher(root, theta):
    """The teacher's field in units of the cavity fields' noise, and of its own."""
    aligned = np.linalg.solve(root, theta)
    return aligned, np.sqrt(1 - aligned @ aligned)


def conjugates(setting, alpha, overlaps, averages):
    """The hatted parameters from averages at `overlaps`, in the noise form (see `state_evolution.conjugates`).

    Gaussian integration by parts turns E[g^T n] and E[g^T n_y] into the means of the derivatives of g by w and y.
    The field `mu` of the result is m_hat (L, r), and `chi` is V_hat.
    """
    root = np.linalg.cholesky(overlaps.q)
    aligned, rest = _teacher(root, overlaps.theta)
    theta = alpha * averages.teacher_noise / rest
    chi = np.linalg.solve(root.T, (theta[..., :, None] * aligned - alpha * averages.noise).swapaxes(-1, -2))
    return GeneralOverlaps(alpha * averages.power, alpha * averages.pull, theta, 0.5 * (chi + chi.swapaxes(-1, -2)))


def gains(setting, alpha, overlaps, averages):
    """What one step of the map multiplies small overlaps by, theta and mu, where `overlaps` hold them at zero.

    With an eigenvalue above 1 the solution is a saddle, see `state_evolution.gain`. The derivatives are taken by
    parts, like V_hat. For mu there is one kind of mark, p = 1.

    Returns
    -------
    theta, mu : (r, r) arrays, with the leading axis of `averages`
    """
    count, r = len(setting.covariance), len(setting.score)
    root = np.linalg.cholesky(overlaps.q)
    response = update(setting, conjugates(setting, alpha, overlaps, averages)).chi
    theta = averages.teacher_slope - averages.noise
    marks = setting.marks[:, 0]
    score = averages.score.reshape(*averages.score.shape[:-2], count, r, count, r)
    whitened = np.linalg.solve(np.linalg.cholesky(setting.covariance), marks)
    mu = np.einsum("a,...akbl,b->...kl", marks, score, whitened)
    return tuple(alpha * response @ each @ np.linalg.inv(root) for each in (theta, mu))


def update(setting, hats):
    """New overlaps from the conjugates."""
    # No fixed point has a stiffness or a q near zero; the bounds only keep a wild step where the equations make sense.
    lam, identity = setting.lam, np.eye(len(setting.score))
    stiffness, axes = np.linalg.eigh(lam * identity + hats.chi)
    X = axes / np.maximum(stiffness, 1e-3 * lam)[..., None, :] @ axes.swapaxes(-1, -2)
    along = setting.marks.T @ hats.mu  # u^T m_hat (p, r)
    field = hats.q + hats.theta[..., :, None] * hats.theta[..., None, :] + along.swapaxes(-1, -2) @ along
    return GeneralOverlaps(
        q=X @ field @ X + 1e-12 * identity,
        mu=along @ X,
        theta=(X @ hats.theta[..., None])[..., 0],
        chi=X,
    )


def free_energy(setting, alpha, overlaps, hats, moreau):
    """Zero-temperature free energy, stationary in all overlaps and conjugates; at a fixed point the training loss."""
    X = np.linalg.inv(setting.lam * np.eye(len(setting.score)) + hats.chi)
    along = setting.marks.T @ hats.mu
    field = hats.q + np.outer(hats.theta, hats.theta) + along.T @ along
    coupling = 0.5 * np.trace(overlaps.chi @ hats.q) - 0.5 * np.trace(hats.chi @ overlaps.q)
    coupling += (along * overlaps.mu).sum() + hats.theta @ overlaps.theta
    return alpha * moreau + coupling - 0.5 * np.trace(X @ field)
