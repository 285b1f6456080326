"""Parameters of the state evolution for a task and an architecture, and averages over the student's weights.

The averages follow from the conjugates (the entropic part, Appendix C.6). Along a direction of variance s the
weights W (r,) minimise ``r(W) + s W^T V_hat W/2 - B^T W`` with the penalty ``r(W) = lambda |W|^2/2 + l1 |W|``. The
field B is Gaussian with mean m_hat e + s theta_hat W* and covariance s q_hat, where e are the entries of the encoding
and W* (t,) of the teacher. Matrices over the columns are mostly 1 x 1, for which NumPy's own routines would take ten
times as long.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr

from ..errors import LIMITS_NOTE, BadInput, check_kind
from ..model.architectures import STANDARD, Architecture
from ..quadrature import LARGEST_NET
from ..task import Cluster, Task

TINY_NUMBER = 1e-300  # avoids 0/0 at the end of a branch, where a field vanishes
SMALLEST_STIFFNESS = 1e-3  # smallest stiffness in units of lambda; only a large step of a solver reaches this bound


@dataclass
class Setting:
    """The parameters of the state-evolution equations for a task and an architecture.

    The L tokens have the same law, k = 1, or each has its own, k = L. The teacher has t columns.
    """

    task: Task  #: teacher, data and penalty
    architecture: Architecture = STANDARD  #: the student and its sentences
    general: bool = False  #: whether to use the general kernel even if the faster kernel of two tokens would do

    def __post_init__(self) -> None:
        check_kind("task", self.task, Task)
        check_kind("architecture", self.architecture, Architecture)
        most = LARGEST_NET // (self.architecture.rank + len(self.task.teachers))
        if self.architecture.tokens > most:
            raise BadInput("tokens", self.architecture.tokens, f"at most {most}: Sobol points have no more dimensions")
        self.architecture.attention(self.task)  # raises `BadInput` if A is for another number of tokens
        directions, tokens = self.task.directions, self.architecture.tokens
        # For n groups of embedding directions (Assumption 4.1): their shares (n,), the variances of the tokens of each
        # law (n, k), and the mean squares of the entries of W* (n, t) and of sqrt(d) times the encoding (n,).
        self.weights = np.array([direction.weight for direction in directions])
        self.eigenvalues = np.array([np.atleast_1d(direction.eigenvalue) for direction in directions])
        self.teacher = np.outer([direction.teacher for direction in directions], self.task.teachers)
        self.encoding = np.array([direction.encoding for direction in directions])
        laws, columns = self.eigenvalues.shape[1], self.teacher.shape[1]
        if laws > 1 and (laws != tokens or self.architecture.correlation):
            raise BadInput("spectrum", laws, f"one eigenvalue, or one for each of {tokens} independent tokens")
        if self.task.l1 and (self.architecture.rank, columns) != (1, 1):
            raise BadInput("l1", self.task.l1, "0 where student or teacher have several columns" + LIMITS_NOTE)
        # Joint choices of clusters: their probabilities (K,), position marks and displacements of the first field (K,
        # L).
        choices = self.task.clusters or (Cluster(1.0, (0.0,) * tokens, (0.0,) * tokens),)
        if {len(part) for choice in choices for part in choice[1:]} != {tokens}:
            raise BadInput(f"clusters: each choice needs one displacement per token (here {tokens})")
        self.odds, encoding, along = (np.array(part) for part in zip(*choices))
        self.marks, self.leans = self.architecture.positions + encoding, along * np.sqrt(self.teacher[0, 0])
        if self.leans.any() and (len(directions), laws, columns) != (1, 1, 1):
            raise BadInput("clusters along the teacher exclude a spectrum and several teachers" + LIMITS_NOTE)
        self.law_of = np.arange(tokens) if laws > 1 else np.zeros(tokens, dtype=int)  # (L,)
        self.fast = not (self.general or self.task.clusters) and self.architecture == STANDARD and laws == columns == 1
        # The weights of the directions in an average with Sigma, (n, k), and the variances of the teacher's fields,
        # whose columns are independent, (k, t).
        self.shares = self.weights[:, None] * self.eigenvalues
        self.rho = self.shares.T @ self.teacher

    @property
    def fields(self) -> int:
        """The number of the student's fields per sentence, ``L r``."""
        return self.architecture.tokens * self.architecture.rank

    @property
    def dimensions(self) -> int:
        """The number of normal variables per sentence: L (r + t), plus one if there are several clusters.

        The L (r + t) variables give the fields, and the last variable selects the cluster.
        """
        return self.fields + self.architecture.tokens * len(self.task.teachers) + (len(self.odds) > 1)

    @property
    def covariance(self) -> np.ndarray:
        """The covariance matrix C (L, L) of the tokens, averaged over the embedding directions."""
        scale = np.sqrt(self.shares.sum(axis=0)[self.law_of])
        return self.architecture.correlations * np.outer(scale, scale)


class Hats(NamedTuple):
    """The conjugates of the overlaps, in arrays of the same shapes as the overlaps.

    They are q_hat, m_hat, theta_hat and V_hat of Eq. 7. A first axis may index scrambles.
    """

    q: Any  #: conjugate of q
    m: Any  #: conjugate of m
    theta: Any  #: conjugate of theta
    V: Any  #: conjugate of V


class MeanWeights(NamedTuple):
    """Averages over the distribution of the student's weights W, for each of n groups of embedding directions.

    The weights are along one direction of the group.
    """

    response: Any  #: dW/dB (n, r, r)
    square: Any  #: W W^T (n, r, r)
    encoding: Any  #: W e (n, r)
    teacher: Any  #: W W*^T (n, r, t)
    penalty: Any  #: r(W) (n,)
    energy: Any  #: minimum of the function that the weights minimise (n,)


def mean_weights(setting: Setting, hats: Hats) -> MeanWeights:
    """Return averages over the distribution of a student's weights, given the conjugates of the overlaps.

    With an l1 penalty, student and teacher have one column each.
    """
    if setting.task.l1:
        return _shrunk_weights(setting, hats)
    lam = setting.task.lam
    q, theta, V = (mix(setting.eigenvalues, hat) for hat in (hats.q, hats.theta, hats.V))
    X = inverse(lam * np.eye(V.shape[-1]) + V, SMALLEST_STIFFNESS * lam)
    along, m = theta * setting.teacher[:, None], hats.m[..., None, :, None]
    places = setting.encoding[:, None, None] * m
    field = q + along @ theta.mT + places @ m.mT
    shifted = X @ field
    square = shifted @ X
    trace, energy = (matrix.trace(axis1=-2, axis2=-1) / 2 for matrix in (square, shifted))
    return MeanWeights(X, square, (X @ places)[..., 0], X @ along, lam * trace, -energy)


def mix(shares: np.ndarray, matrices: np.ndarray) -> np.ndarray:
    """Return n weighted sums of k matrices, with the weights `shares`.

    The weights are (n, k), the matrices are (..., k, r, t), and the sums are (..., n, r, t).
    """
    *scrambles, _, r, t = matrices.shape
    return (shares @ matrices.reshape(*scrambles, -1, r * t)).reshape(*scrambles, len(shares), r, t)


def _shrunk_weights(setting, hats):
    """Return averages over the weights of one column with an l1 penalty, for a teacher that may be sparse.

    The weights are W = soft(B)/D with ``soft(B) = sign(B) max(|B| - l1, 0)``.
    """
    task, teacher, encoding = setting.task, setting.teacher[:, 0], setting.encoding
    q, theta, V = (mix(setting.eigenvalues, hat)[..., 0, 0] for hat in (hats.q, hats.theta, hats.V))
    D = np.maximum(task.lam + V, SMALLEST_STIFFNESS * task.lam)
    mean = np.sqrt(encoding) * hats.m
    others = _soft(mean, q, task.l1)
    # Moments of the weights along directions in which the teacher's entry is not zero.
    own = _soft(mean, q + theta**2 * teacher / task.density, task.l1)
    kept, shrunk, size, square = (task.density * a + (1 - task.density) * b for a, b in zip(own, others))
    return MeanWeights(
        response=(kept / D)[..., None, None],
        square=(square / D**2)[..., None, None],
        encoding=(shrunk * np.sqrt(encoding) / D)[..., None],
        # This formula follows by Gaussian integration by parts over the teacher's entries.
        teacher=(own[0] * theta * teacher / D)[..., None, None],
        penalty=task.lam * square / (2 * D**2) + task.l1 * size / D,
        energy=-square / (2 * D),
    )


def _soft(mean, variance, threshold):
    """Return the probability that ``|B|`` exceeds the threshold, and three moments of soft(B).

    B ~ N(mean, variance) is a Gaussian variable.

    The moments are the mean of soft(B), of its size and of its square.
    """
    width = np.sqrt(np.maximum(variance, TINY_NUMBER))
    sides = []
    for side in (1, -1):
        z = (side * mean - threshold) / width
        beyond, density = ndtr(z), np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
        sides.append((beyond, width * (z * beyond + density), variance * ((z**2 + 1) * beyond + z * density)))
    (above, over, upper), (below, under, lower) = sides
    return above + below, over - under, over + under, upper + lower


def cholesky(A: np.ndarray) -> np.ndarray:
    """Return the Cholesky factors of an array of positive definite matrices."""
    return np.sqrt(A) if A.shape[-1] == 1 else np.linalg.cholesky(A)


def solve_linear(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Return A^-1 B for arrays of matrices A (..., r, r) and B (..., r, t)."""
    return B / A if A.shape[-1] == 1 else np.linalg.solve(A, B)


def inverse(A: np.ndarray, least: float) -> np.ndarray:
    """Invert symmetric matrices after replacing eigenvalues below `least` by `least`."""
    if A.shape[-1] == 1:
        return 1 / np.maximum(A, least)
    values, axes = np.linalg.eigh(A)
    return axes / np.maximum(values, least)[..., None, :] @ axes.mT


def largest_eigenvalue(A: np.ndarray) -> np.ndarray:
    """Return the largest real part of the eigenvalues of each matrix in an array."""
    return A[..., 0, 0] if A.shape[-1] == 1 else np.linalg.eigvals(A).real.max(axis=-1)
