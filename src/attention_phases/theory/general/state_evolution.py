"""The state evolution in general: L tokens, r columns of weights, any bilinear score and token covariance.

Results 4.2 and C.2 for one teacher vector. Scales, without sigma^2: q = W^T W/d (r, r), theta = W^T Q*/d (r,), chi
(r, r), and m = u mu (L, r) with the marks u (L, p) of the positions, whose Gram matrix is P = u u^T.
"""

from typing import NamedTuple

import numpy as np

from ...model.architectures import Architecture
from ...task import Task
from ..quadrature import over_scrambles
from .prox import Law, scramble_means


class Setting(NamedTuple):
    """What the equations need of a task and an architecture."""

    omega: float
    lam: float
    covariance: np.ndarray  # C (L, L)
    score: np.ndarray  # M (r, r)
    marks: np.ndarray  # u (L, p)
    matrix: np.ndarray  # A (L, L)

    @classmethod
    def of(cls, task: Task, architecture: Architecture) -> "Setting":
        """Return the setting of one of the solved architectures."""
        marks = architecture.positions[:, None]
        covariance, matrix = architecture.covariance(task), architecture.attention(task)
        return cls(task.omega, task.lam, covariance, architecture.score, marks, matrix)


class GeneralOverlaps(NamedTuple):
    """A point of the state evolution, without sigma^2; the first axis of each entry may count scrambles."""

    q: np.ndarray  # (r, r)
    mu: np.ndarray  # (p, r)
    theta: np.ndarray  # (r,)
    chi: np.ndarray  # (r, r)

    def named(self, variance: float, flat: bool = False) -> dict:
        """Return the overlaps by name, for one kind of mark, p = 1.

        With one column of weights they are scalars q, m, theta and V in the units of `rank_one.state_evolution`. With
        more columns they are arrays of these names, without sigma^2, or the scalars of `flat_overlaps` if `flat`.
        """
        if self.q.shape[-1] > 1 and not flat:
            return {"q": self.q, "m": self.mu[..., 0, :], "theta": self.theta, "V": self.chi}
        found = flat_overlaps(variance, self.q, self.mu, self.theta)
        return found if self.q.shape[-1] > 1 else found | {"V": variance * self.chi[..., 0, 0]}


def flat_overlaps(variance: float, q, mu, theta) -> dict:
    """Return the overlaps of weights as scalars by name.

    With one column these are q, m and theta in the units of `rank_one.state_evolution`. With more columns they are the
    trace of sigma^2 q, the norms of m and of sigma^2 theta over the columns, and, without sigma^2, the entries q_11,
    q_12, ..., m_1, ... and theta_1, ...

    Parameters
    ----------
    variance : float
        sigma^2.
    q, mu, theta : arrays
        As in `GeneralOverlaps`, for p = 1; their first axis may count scrambles, as then in the result.
    """
    r, m = q.shape[-1], mu[..., 0, :]
    if r == 1:
        return {"q": variance * q[..., 0, 0], "m": m[..., 0], "theta": variance * theta[..., 0]}
    sizes = {
        "q": variance * np.trace(q, axis1=-2, axis2=-1),
        "m": np.linalg.norm(m, axis=-1),
        "theta": variance * np.linalg.norm(theta, axis=-1),
    }
    sizes |= {f"q_{i + 1}{j + 1}": q[..., i, j] for i in range(r) for j in range(i, r)}
    return sizes | {f"{name}_{i + 1}": each[..., i] for name, each in (("m", m), ("theta", theta)) for i in range(r)}


class GeneralHats(NamedTuple):
    """The conjugates of the overlaps; the first axis of each entry may count scrambles."""

    q: np.ndarray  # (r, r)
    m: np.ndarray  # (L, r)
    theta: np.ndarray  # (r,)
    V: np.ndarray  # (r, r)


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
    score: np.ndarray  # E[g s^T] (L, r, L, r), s = root(C)^-1 (n - n_y t^T/rest): what a shift of w brings, by parts


def average(setting: Setting, overlaps: GeneralOverlaps, points, lowest=None, anew=True) -> Averages:
    """Return the averages over the fields at given overlaps, for each scramble.

    As `rank_one.state_evolution.average`, with `points` (scrambles, N, L (r + 1)) and `lowest` (scrambles, N, 2, L r).
    """
    C, M = setting.covariance, setting.score
    root, root_C = np.linalg.cholesky(overlaps.q), np.linalg.cholesky(C)
    aligned, rest = _teacher(root, overlaps.theta)
    A = np.kron(np.linalg.inv(C), np.linalg.inv(overlaps.chi))
    reach = np.sqrt(np.outer(np.diag(C), np.diag(overlaps.chi)).ravel())
    law = Law(root, setting.marks @ overlaps.mu, aligned, rest, root_C, setting.omega, setting.matrix)
    if lowest is None:
        lowest = np.empty((*points.shape[:2], 2, len(A)))
    means = over_scrambles(scramble_means, zip(points, lowest), anew, law, C, M, A, reach)
    return Averages(*(np.array(each) for each in zip(*means)))


def _teacher(root, theta):
    """The teacher's field in units of the cavity fields' noise (r,), and the standard deviation of the rest of it."""
    aligned = np.linalg.solve(root, theta)
    return aligned, np.sqrt(1 - aligned @ aligned)


def conjugates(alpha: float, overlaps: GeneralOverlaps, averages: Averages) -> GeneralHats:
    """Return the conjugates from the averages at `overlaps`, in the noise form (see `rank_one.state_evolution`).

    Gaussian integration by parts turns E[g^T n] and E[g^T n_y] into the means of the derivatives of g by w and y.
    """
    root = np.linalg.cholesky(overlaps.q)
    aligned, rest = _teacher(root, overlaps.theta)
    theta = alpha * averages.teacher_noise / rest
    V = np.linalg.solve(root.T, (theta[..., :, None] * aligned - alpha * averages.noise).swapaxes(-1, -2))
    return GeneralHats(alpha * averages.power, alpha * averages.pull, theta, 0.5 * (V + V.swapaxes(-1, -2)))


def gains(setting: Setting, alpha: float, overlaps: GeneralOverlaps, averages: Averages) -> tuple:
    """Return the matrices by which one step multiplies small overlaps theta and mu that `overlaps` hold at zero.

    With an eigenvalue above 1 the solution is a saddle, see `rank_one.state_evolution.gain`. The derivatives are
    taken by parts, like V_hat. For mu there is one kind of mark, p = 1.
    Each is an (r, r) array, with the first axis of `averages` if that counts scrambles.
    """
    root = np.linalg.cholesky(overlaps.q)
    response = update(setting, conjugates(alpha, overlaps, averages)).chi
    theta = averages.teacher_slope - averages.noise
    marks = setting.marks[:, 0]
    whitened = np.linalg.solve(np.linalg.cholesky(setting.covariance), marks)
    mu = np.einsum("a,...akbl,b->...kl", marks, averages.score, whitened)
    return tuple(alpha * response @ each @ np.linalg.inv(root) for each in (theta, mu))


def update(setting: Setting, hats: GeneralHats) -> GeneralOverlaps:
    """Return the overlaps after one step, from the conjugates."""
    # No fixed point has a stiffness or a q near zero; the bounds only keep a wild step where the equations make sense.
    lam, identity = setting.lam, np.eye(len(setting.score))
    stiffness, axes = np.linalg.eigh(lam * identity + hats.V)
    X = axes / np.maximum(stiffness, 1e-3 * lam)[..., None, :] @ axes.swapaxes(-1, -2)
    along = setting.marks.T @ hats.m  # u^T m_hat (p, r)
    field = hats.q + hats.theta[..., :, None] * hats.theta[..., None, :] + along.swapaxes(-1, -2) @ along
    return GeneralOverlaps(
        q=X @ field @ X + 1e-12 * identity,
        mu=along @ X,
        theta=(X @ hats.theta[..., None])[..., 0],
        chi=X,
    )


def free_energy(setting: Setting, alpha: float, overlaps: GeneralOverlaps, hats: GeneralHats, moreau) -> float:
    """Return the zero-temperature free energy, stationary in overlaps and conjugates; the training loss if settled.

    `moreau` is E[Moreau envelope].
    """
    X = np.linalg.inv(setting.lam * np.eye(len(setting.score)) + hats.V)
    along = setting.marks.T @ hats.m
    field = hats.q + np.outer(hats.theta, hats.theta) + along.T @ along
    coupling = 0.5 * np.trace(overlaps.chi @ hats.q) - 0.5 * np.trace(hats.V @ overlaps.q)
    coupling += (along * overlaps.mu).sum() + hats.theta @ overlaps.theta
    return alpha * moreau + coupling - 0.5 * np.trace(X @ field)
