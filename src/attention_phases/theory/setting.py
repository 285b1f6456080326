"""What the equations of the state evolution need of a task and an architecture, and the weights that follow from it.

The weights are the entropic side, as the conjugates have them (Appendix C.6). Along a direction of variance s the
weights W (r,) minimise ``r(W) + s W^T V_hat W/2 - B^T W`` with the penalty ``r(W) = lambda |W|^2/2 + l1 |W|``. The
field B is Gaussian, of covariance s q_hat, around m_hat e + s theta_hat W*, with the entries e of the encoding and W*
(t,) of the teacher. Matrices over the columns are mostly 1 x 1, for which NumPy's own routines take ten times as long.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr

from ..errors import COVERED, BadInput, check_kind
from ..model.architectures import STANDARD, Architecture
from ..quadrature import LARGEST_NET
from ..task import Cluster, Task

TINY = 1e-300  # against 0/0: a branch that ends has no field
SOFTEST = 1e-3  # least stiffness in units of lambda, which no fixed point has: it only tames a wild step of a solver


class Spectrum(NamedTuple):
    """What tokens, teacher and encoding have in n groups of directions of the embedding space (Assumption 4.1)."""

    weights: np.ndarray  #: (n,), shares of the directions
    eigenvalues: np.ndarray  #: (n, k), variances of the tokens of each law
    teacher: np.ndarray  #: (n, t), mean squares of the entries of W*
    encoding: np.ndarray  #: (n,), mean square of those of sqrt(d) times the encoding


@dataclass
class Setting:
    """A task and an architecture, as the equations see them.

    The L tokens have one law, k = 1, or each its own, k = L; the teacher has t columns.
    """

    task: Task  #: what is to be learnt
    architecture: Architecture = STANDARD  #: the student and its sentences
    general: bool = False  #: by the general kernel, even where that of two tokens serves; `fast`: whether that does

    def __post_init__(self) -> None:
        check_kind("task", self.task, Task)
        check_kind("architecture", self.architecture, Architecture)
        most = LARGEST_NET // (self.architecture.rank + len(self.task.teachers))
        if self.architecture.tokens > most:
            raise BadInput("tokens", self.architecture.tokens, f"at most {most}: Sobol points have no more dimensions")
        self.architecture.attention(self.task)  # refuses an A of other sentences
        directions, tokens = self.task.directions, self.architecture.tokens
        self.spectrum = Spectrum(
            np.array([direction.weight for direction in directions]),
            np.array([np.atleast_1d(direction.eigenvalue) for direction in directions]),
            np.outer([direction.teacher for direction in directions], self.task.teachers),
            np.array([direction.encoding for direction in directions]),
        )
        weights, eigenvalues, teacher, _ = self.spectrum
        (_, laws), columns = eigenvalues.shape, teacher.shape[1]
        if laws > 1 and (laws != tokens or self.architecture.correlation):
            raise BadInput("spectrum", laws, f"one eigenvalue, or one for each of {tokens} independent tokens")
        if self.task.l1 and (self.architecture.rank, columns) != (1, 1):
            raise BadInput("l1", self.task.l1, "0 where student or teacher have several columns" + COVERED)
        # What tokens have together: odds (K,), marks of the encoding and displacements of the first field y (K, L).
        choices = self.task.clusters or (Cluster(1.0, (0.0,) * tokens, (0.0,) * tokens),)
        if {len(part) for choice in choices for part in choice[1:]} != {tokens}:
            raise BadInput("clusters", len(choices), f"choices of displacements for {tokens} tokens")
        self.odds, encoding, along = (np.array(part) for part in zip(*choices))
        self.marks, self.leans = self.architecture.positions + encoding, along * np.sqrt(teacher[0, 0])
        if self.leans.any() and (len(directions), laws, columns) != (1, 1, 1):
            raise BadInput("clusters", len(choices), "along the encoding alone beside other structure" + COVERED)
        self.law_of = np.arange(tokens) if laws > 1 else np.zeros(tokens, dtype=int)  # (L,)
        standard = self.architecture == STANDARD and (laws, columns, len(choices)) == (1, 1, 1)
        self.fast = standard and not self.general
        self.shares = weights[:, None] * eigenvalues  # (n, k), of the directions in an average that carries Sigma
        self.rho = self.shares.T @ teacher  # (k, t), variances of the teacher's fields: its columns are independent

    @property
    def fields(self) -> int:
        """Number L r of the student's fields of a sentence."""
        return self.architecture.tokens * self.architecture.rank

    @property
    def dimensions(self) -> int:
        """Number of normal numbers that a sentence is made of: L (r + t) of its fields, and one of its clusters."""
        return self.fields + self.architecture.tokens * len(self.task.teachers) + (len(self.odds) > 1)

    @property
    def covariance(self) -> np.ndarray:
        """Mean covariance C (L, L) of the tokens' entries."""
        scale = np.sqrt(self.shares.sum(axis=0)[self.law_of])
        return self.architecture.correlations * np.outer(scale, scale)


class Hats(NamedTuple):
    """The conjugates q_hat, ... of the overlaps (Eq. 7), shaped like them; a first axis of each may count scrambles."""

    q: Any  #: conjugate of q
    m: Any  #: conjugate of m
    theta: Any  #: conjugate of theta
    V: Any  #: conjugate of V


class MeanWeights(NamedTuple):
    """Means over the weights of a direction, for each of n groups of directions."""

    response: Any  #: dW/dB (n, r, r)
    square: Any  #: W W^T (n, r, r)
    encoding: Any  #: W e (n, r)
    teacher: Any  #: W W*^T (n, r, t)
    penalty: Any  #: (n,)
    energy: Any  #: of what the weights minimise (n,)


def mean_weights(setting: Setting, hats: Hats) -> MeanWeights:
    """Return the means over the weights, with the ridge penalty alone for any number of columns."""
    if setting.task.l1:
        return _shrunk_weights(setting, hats)
    _, eigenvalues, teacher, encoding = setting.spectrum
    lam = setting.task.lam
    q, theta, V = (mix(eigenvalues, hat) for hat in (hats.q, hats.theta, hats.V))
    X = inverse(lam * np.eye(V.shape[-1]) + V, SOFTEST * lam)
    along, m = theta * teacher[:, None], hats.m[..., None, :, None]
    places = encoding[:, None, None] * m
    field = q + along @ theta.mT + places @ m.mT
    shifted = X @ field
    square = shifted @ X
    trace, energy = (matrix.trace(axis1=-2, axis2=-1) / 2 for matrix in (square, shifted))
    return MeanWeights(X, square, (X @ places)[..., 0], X @ along, lam * trace, -energy)


def mix(shares: np.ndarray, matrices: np.ndarray) -> np.ndarray:
    """Return sums of matrices (..., k, r, t) with shares (n, k), as (..., n, r, t)."""
    *scrambles, _, r, t = matrices.shape
    return (shares @ matrices.reshape(*scrambles, -1, r * t)).reshape(*scrambles, len(shares), r, t)


def _shrunk_weights(setting, hats):
    """With an l1 penalty: one column W = soft(B)/D, ``soft(B) = sign(B) max(|B| - l1, 0)``, and a sparse teacher."""
    _, eigenvalues, teacher, encoding = setting.spectrum
    task, teacher = setting.task, teacher[:, 0]
    q, theta, V = (mix(eigenvalues, hat)[..., 0, 0] for hat in (hats.q, hats.theta, hats.V))
    D = np.maximum(task.lam + V, SOFTEST * task.lam)
    mean = np.sqrt(encoding) * hats.m
    others = _soft(mean, q, task.l1)
    own = _soft(mean, q + theta**2 * teacher / task.density, task.l1)  # where the teacher's entry is not zero
    kept, shrunk, size, square = (task.density * a + (1 - task.density) * b for a, b in zip(own, others))
    return MeanWeights(
        response=(kept / D)[..., None, None],
        square=(square / D**2)[..., None, None],
        encoding=(shrunk * np.sqrt(encoding) / D)[..., None],
        teacher=(own[0] * theta * teacher / D)[..., None, None],  # Gaussian integration by parts over its entries
        penalty=task.lam * square / (2 * D**2) + task.l1 * size / D,
        energy=-square / (2 * D),
    )


def _soft(mean, variance, threshold):
    """Share of B ~ N(mean, variance) beyond the threshold on either side; mean, mean size and square of soft(B)."""
    width = np.sqrt(np.maximum(variance, TINY))
    sides = []
    for side in (1, -1):
        z = (side * mean - threshold) / width
        beyond, density = ndtr(z), np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
        sides.append((beyond, width * (z * beyond + density), variance * ((z**2 + 1) * beyond + z * density)))
    (above, over, upper), (below, under, lower) = sides
    return above + below, over - under, over + under, upper + lower


def cholesky(A: np.ndarray) -> np.ndarray:
    """Return the Cholesky factors of positive definite matrices (..., r, r)."""
    return np.sqrt(A) if A.shape[-1] == 1 else np.linalg.cholesky(A)


def solve_linear(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Return A^-1 B for matrices A (..., r, r) and B (..., r, t)."""
    return B / A if A.shape[-1] == 1 else np.linalg.solve(A, B)


def inverse(A: np.ndarray, least: float) -> np.ndarray:
    """Return the inverse of symmetric matrices (..., r, r), whose eigenvalues count as `least` where they are lower."""
    if A.shape[-1] == 1:
        return 1 / np.maximum(A, least)
    values, axes = np.linalg.eigh(A)
    return axes / np.maximum(values, least)[..., None, :] @ axes.mT


def largest_eigenvalue(A: np.ndarray) -> np.ndarray:
    """Return the largest real part of an eigenvalue of matrices (..., r, r), as an array (...)."""
    return A[..., 0, 0] if A.shape[-1] == 1 else np.linalg.eigvals(A).real.max(axis=-1)
