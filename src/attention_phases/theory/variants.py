"""The state evolution of any architecture that the theory covers (Results 4.2 and C.2 for one teacher vector).

L tokens, r columns of weights, any bilinear score and token covariance. The scales are those without sigma^2:
q = W^T W/d (r, r), m = W^T 1/d (r,), theta = W^T Q*/d (r,) and V = chi (r, r). With one column, two independent tokens
and the scales of `standard` these are its equations, on a kernel that is five to ten times slower.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..errors import check_choice
from ..model.architectures import Architecture
from ..task import Task
from .kernels.general import Law, scramble_means
from .quadrature import over_scrambles
from .standard import Hats, Overlaps
from .warm import Rough

# Columns that overlap with the teacher, and with the positions, on each branch of each form that the theory covers.
# Where there are two that add up (rank 2), turning them into one another changes nothing; with the teacher's overlap in
# the first, q and V are diagonal by symmetry, which fixes that freedom.
OVERLAPPING = {
    "tied": {"semantic": ((1,), (0,)), "positional": ((0,), (1,)), "symmetric": ((0,), (0,))},
    "rank2": {"semantic": ((1, 0), (0, 1)), "positional": ((0, 0), (0, 1))},
    "untied": {"semantic": ((1, 1), (0, 0)), "positional": ((0, 0), (1, 1)), "symmetric": ((0, 0), (0, 0))},
}
WILDEST = 14.0  # of a logarithm: beyond it the root finder has lost its way


class Setting(NamedTuple):
    """What the equations need of a task and an architecture."""

    omega: float
    lam: float
    covariance: np.ndarray  # C (L, L)
    score: np.ndarray  # M (r, r)
    marks: np.ndarray  # u (L,), of the positions: the means of the fields are u m^T
    matrix: np.ndarray  # A (L, L)

    @classmethod
    def of(cls, task: Task, architecture: Architecture) -> "Setting":
        """Return the setting of one of the solved architectures."""
        covariance, matrix = architecture.covariance(task), architecture.attention(task)
        return cls(task.omega, task.lam, covariance, architecture.score, architecture.positions, matrix)


def name_overlaps(overlaps: Overlaps, variance: float, flat: bool = False) -> dict:
    """Return overlaps by name.

    With one column of weights they are scalars q, m, theta and V in the units of `standard`. With more columns they are
    arrays of these names, without sigma^2, or the scalars of `flat_overlaps` if `flat`.
    """
    q, m, theta, V = overlaps
    if np.ndim(q) < 2 or (q.shape[-1] > 1 and not flat):
        return overlaps._asdict()
    scalars = flat_overlaps(variance, q, m, theta)
    return scalars if q.shape[-1] > 1 else scalars | {"V": variance * V[..., 0, 0]}


def flat_overlaps(variance: float, q: np.ndarray, m: np.ndarray, theta: np.ndarray) -> dict:
    """Return the overlaps of columns of weights as scalars by name.

    With one column these are q, m and theta in the units of `standard`. With more columns they are the trace of
    sigma^2 q, the norms of m and of sigma^2 theta over the columns, and, without sigma^2, the entries q_11,
    q_12, ..., m_1, ... and theta_1, ...
    """
    r = q.shape[-1]
    if r == 1:
        return {"q": variance * q[..., 0, 0], "m": m[..., 0], "theta": variance * theta[..., 0]}
    scalars = {
        "q": variance * np.trace(q, axis1=-2, axis2=-1),
        "m": np.linalg.norm(m, axis=-1),
        "theta": variance * np.linalg.norm(theta, axis=-1),
    }
    scalars |= {f"q_{i + 1}{j + 1}": q[..., i, j] for i in range(r) for j in range(i, r)}
    scalars |= {f"m_{i + 1}": m[..., i] for i in range(r)}
    return scalars | {f"theta_{i + 1}": theta[..., i] for i in range(r)}


class VariantAverages(NamedTuple):
    """Expectations over the fields, with g = C^-1 (h* - w) chi^-1; the first axis may count scrambles."""

    power: np.ndarray  # E[g^T C g] (r, r)
    student_noise: np.ndarray  # E[g^T n] (r, r), of the noise n of the cavity fields: w = n root(q)^T + m
    pull: np.ndarray  # E[g] (L, r)
    teacher_noise: np.ndarray  # E[g^T n_y] (r,), of the teacher's own noise
    fitted_loss: np.ndarray  # E[ell(h*)]
    moreau: np.ndarray
    test_loss: np.ndarray  # E[ell(w)]
    teacher_slope: np.ndarray  # E[g^T n_y (C^-1 n_y)^T n] (r, r)
    score: np.ndarray  # E[g s^T] (L, r, L, r), s = root(C)^-1 (n - n_y t^T/rest): what a shift of w brings, by parts


def average(
    setting: Setting, overlaps: Overlaps, points: np.ndarray, lowest=None, anew: bool = True
) -> VariantAverages:
    """Return the averages over the fields at given overlaps, for each scramble.

    As `standard.average`, with `points` (scrambles, N, L (r + 1)) and `lowest` (scrambles, N, 2, L r).
    """
    C, M = setting.covariance, setting.score
    root, root_C = np.linalg.cholesky(overlaps.q), np.linalg.cholesky(C)
    aligned, rest = _teacher(root, overlaps.theta)
    A = np.kron(np.linalg.inv(C), np.linalg.inv(overlaps.V))
    reach = np.sqrt(np.outer(np.diag(C), np.diag(overlaps.V)).ravel())
    law = Law(root, np.outer(setting.marks, overlaps.m), aligned, rest, root_C, setting.omega, setting.matrix)
    if lowest is None:
        lowest = np.empty((*points.shape[:2], 2, len(A)))
    means = over_scrambles(scramble_means, zip(points, lowest), anew, law, C, M, A, reach)
    return VariantAverages(*(np.array(values) for values in zip(*means)))


def _teacher(root, theta):
    """The teacher's field in units of the cavity fields' noise (r,), and the standard deviation of the rest of it."""
    aligned = np.linalg.solve(root, theta)
    return aligned, np.sqrt(1 - aligned @ aligned)


def conjugates(alpha: float, overlaps: Overlaps, averages: VariantAverages) -> Hats:
    """Return the conjugates from the averages at `overlaps`, in the noise form (see `standard.conjugates`).

    Gaussian integration by parts turns E[g^T n] and E[g^T n_y] into the means of the derivatives of g by w and y.
    """
    root = np.linalg.cholesky(overlaps.q)
    aligned, rest = _teacher(root, overlaps.theta)
    theta = alpha * averages.teacher_noise / rest
    V = np.linalg.solve(root.T, (theta[..., :, None] * aligned - alpha * averages.student_noise).swapaxes(-1, -2))
    return Hats(alpha * averages.power, alpha * averages.pull, theta, 0.5 * (V + V.swapaxes(-1, -2)))


def gains(setting: Setting, alpha: float, overlaps: Overlaps, averages: VariantAverages) -> tuple:
    """Return the matrices (r, r) by which one step multiplies small overlaps theta and m that are held at zero.

    With an eigenvalue above 1 the solution is a saddle, see `standard.gain`. The derivatives are taken by parts, like
    V_hat. The first axis of `averages` may count scrambles.
    """
    root = np.linalg.cholesky(overlaps.q)
    response = update(setting, conjugates(alpha, overlaps, averages)).V
    theta = averages.teacher_slope - averages.student_noise
    whitened = np.linalg.solve(np.linalg.cholesky(setting.covariance), setting.marks)
    m = np.einsum("a,...akbl,b->...kl", setting.marks, averages.score, whitened)
    return tuple(alpha * response @ slope @ np.linalg.inv(root) for slope in (theta, m))


def update(setting: Setting, hats: Hats) -> Overlaps:
    """Return the overlaps after one step, from the conjugates."""
    # No fixed point has a stiffness or a q near zero; the bounds only keep a wild step where the equations make sense.
    lam, identity = setting.lam, np.eye(len(setting.score))
    stiffness, axes = np.linalg.eigh(lam * identity + hats.V)
    X = axes / np.maximum(stiffness, 1e-3 * lam)[..., None, :] @ axes.swapaxes(-1, -2)
    signals = np.stack([setting.marks @ hats.m, hats.theta], axis=-2)  # u^T m_hat above theta_hat (2, r)
    field = hats.q + signals.swapaxes(-1, -2) @ signals
    m, theta = np.moveaxis(signals @ X, -2, 0)
    return Overlaps(q=X @ field @ X + 1e-12 * identity, m=m, theta=theta, V=X)


def free_energy(setting: Setting, alpha: float, overlaps: Overlaps, hats: Hats, moreau) -> float:
    """Return the zero-temperature free energy, stationary in overlaps and conjugates; the training loss if settled.

    `moreau` is E[Moreau envelope].
    """
    X = np.linalg.inv(setting.lam * np.eye(len(setting.score)) + hats.V)
    along = setting.marks @ hats.m
    field = hats.q + np.outer(hats.theta, hats.theta) + np.outer(along, along)
    coupling = 0.5 * np.trace(overlaps.V @ hats.q) - 0.5 * np.trace(hats.V @ overlaps.q)
    coupling += along @ overlaps.m + hats.theta @ overlaps.theta
    return alpha * moreau + coupling - 0.5 * np.trace(X @ field)


@dataclass
class VariantBranch:
    """One branch of one architecture at one alpha, as a `solver.Model`.

    Its coordinates are the Cholesky factors of q and V, with the logarithm of their diagonals;
    ``t artanh(|t|)/|t|`` of the teacher's share t = root(q)^-1 theta of the fields; and m_k/sqrt(q_kk). Every point is
    admissible.
    """

    task: Task
    alpha: float
    branch: str
    architecture: Architecture

    def __post_init__(self) -> None:
        form = check_choice("architecture", self.architecture.form, tuple(OVERLAPPING))
        check_choice("branch", self.branch, tuple(OVERLAPPING[form]))
        teacher, places = OVERLAPPING[form][self.branch]
        self.teacher, self.places, r = np.flatnonzero(teacher), np.flatnonzero(places), self.architecture.rank
        self.lower = np.diag_indices(r) if form == "rank2" else np.tril_indices(r)
        self.logarithmic = self.lower[0] == self.lower[1]
        self.own = slice(2 * len(self.lower[0]), None)
        both = np.eye(r) if form == "rank2" else np.ones((r, r))
        self.masks = Hats(both, np.array(places), np.array(teacher), both)
        self.setting = Setting.of(self.task, self.architecture)
        self.fields = self.architecture.tokens * r
        self.dimensions = self.fields + self.architecture.tokens
        # Where a column overlaps with the positions the map oscillates, and more of the old value has to be kept.
        self.rough = Rough(points=2**8, kept=0.9 if any(places) else 0.5, near=1e-2)

    def start(self) -> Overlaps:
        """Return overlaps inside the basin of the branch: close to the teacher, or to the positional encoding."""
        r = self.architecture.rank
        V = 0.5 / (self.task.lam * max(1.0, self.alpha)) * np.eye(r)
        m, theta = np.zeros(r), np.zeros(r)
        theta[self.teacher], m[self.places] = 0.7, self.task.sigma / 2
        if self.architecture.form == "rank2":
            return Overlaps(np.diag([0.8, 0.2]), m, theta, V)
        size, together = (0.8, 0.9) if self.branch == "semantic" else (0.2, 0.5)
        return Overlaps(size * ((1 - together) * np.eye(r) + together), m, theta, V)

    def pack(self, overlaps: Overlaps) -> np.ndarray:
        """Return the coordinates (n,) of overlaps, or (scrambles, n) where these have a first axis of scrambles."""
        q, m, theta, V = overlaps
        root = np.linalg.cholesky(q)
        share = np.linalg.solve(root, theta[..., None])[..., 0][..., self.teacher]
        size = np.linalg.norm(share, axis=-1, keepdims=True)
        stretch = np.where(size > 0, np.arctanh(np.minimum(size, 1 - 1e-12)) / np.maximum(size, 1e-300), 1.0)
        places = (m / np.sqrt(np.einsum("...kk->...k", q)))[..., self.places]
        factors = [factor[..., self.lower[0], self.lower[1]] for factor in (root, np.linalg.cholesky(V))]
        for factor in factors:
            factor[..., self.logarithmic] = np.log(factor[..., self.logarithmic])
        return np.concatenate((*factors, share * stretch, places), axis=-1)

    def unpack(self, x: np.ndarray) -> Overlaps:
        """Return the overlaps at coordinates x (n,)."""
        r = self.architecture.rank
        roots = np.zeros((2, r, r))
        for root, part in zip(roots, np.split(x[: self.own.start], 2)):
            root[self.lower] = np.where(self.logarithmic, np.exp(np.clip(part, -WILDEST, WILDEST)), part)
        stretched, places = np.split(x[self.own], [len(self.teacher)])
        size = np.linalg.norm(stretched)
        share, m = np.zeros(r), np.zeros(r)
        share[self.teacher] = stretched * (min(np.tanh(size), 1 - 1e-9) / size if size > 0 else 1.0)
        q, V = (root @ root.T for root in roots)
        m[self.places] = places * np.sqrt(np.diag(q))[self.places]
        return Overlaps(q, m, roots[0] @ share, V)

    def average(self, x: np.ndarray, points: np.ndarray, lowest: np.ndarray, anew: bool) -> VariantAverages:
        """Return the averages at x for each scramble."""
        return average(self.setting, self.unpack(x), points, lowest, anew)

    def hats(self, x: np.ndarray, averages: VariantAverages) -> Hats:
        """Return the conjugates at x; those of overlaps held at zero are zero, but for the noise of the averages."""
        hats = conjugates(self.alpha, self.unpack(x), averages)
        return Hats(*(mask * hat for mask, hat in zip(self.masks, hats)))

    def step(self, x: np.ndarray, averages: VariantAverages) -> np.ndarray:
        """Return the coordinates after one step of the map from x, whose averages are given."""
        return self.pack(update(self.setting, self.hats(x, averages)))

    def gain(self, x: np.ndarray, averages: VariantAverages):
        """Return the largest gain of the overlaps that the branch holds at zero."""
        slopes = zip(gains(self.setting, self.alpha, self.unpack(x), averages), (self.teacher, self.places))
        return np.max([np.linalg.eigvals(slope).real.max(axis=-1) for slope, free in slopes if not len(free)], axis=0)

    def observables(self, x: np.ndarray, averages: VariantAverages) -> dict:
        """Return test_mse and, where the branch holds a kind of overlap at zero, gain at x."""
        values = {"test_mse": 2 / self.architecture.tokens * averages.test_loss}
        return values if len(self.teacher) and len(self.places) else values | {"gain": self.gain(x, averages)}

    def losses(self, x: np.ndarray, averages: VariantAverages) -> tuple:
        """Return ``alpha E[ell(h*)] + lambda tr(q)/2`` and the free energy at x."""
        overlaps, hats = self.unpack(x), self.hats(x, averages)
        free = free_energy(self.setting, self.alpha, overlaps, hats, averages.moreau)
        return self.alpha * averages.fitted_loss + self.task.lam / 2 * np.trace(overlaps.q), free
