"""The entropic side of the state evolution: weights in each direction, as the conjugates have them (Appendix C.6).

Along a direction of variance s the weights W (r,) minimise ``r(W) + s W^T V_hat W/2 - B^T W`` with the penalty
``r(W) = lambda |W|^2/2 + l1 |W|``. The field B is Gaussian, of covariance s q_hat, around m_hat e + s theta_hat W*,
with the entries e of the encoding and W* (t,) of the teacher.

Matrices over the columns are small, in stacks, and mostly 1 x 1, for which NumPy's own routines take ten times as long.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr

from .setting import Setting

TINY = 1e-300  # a branch that ends has no field
SOFTEST = 1e-3  # least stiffness in units of lambda, which no fixed point has: it only tames a wild step of a solver


class Hats(NamedTuple):
    """The conjugates of the overlaps (Eq. 7), shaped like them; a first axis of each may count scrambles."""

    q: Any
    m: Any
    theta: Any
    V: Any


class Weights(NamedTuple):
    """Means over the weights of a direction, for each of n groups of directions."""

    response: Any  # dW/dB (n, r, r)
    square: Any  # W W^T (n, r, r)
    encoding: Any  # W e (n, r)
    teacher: Any  # W W*^T (n, r, t)
    penalty: Any  # (n,)
    energy: Any  # of what the weights minimise (n,)


def weights(setting: Setting, hats: Hats) -> Weights:
    """Return the means over the weights, with the ridge penalty alone for any number of columns."""
    if setting.task.l1:
        return _shrunk_weights(setting, hats)
    _, eigenvalues, teacher, encoding = setting.spectrum
    lam = setting.task.lam
    q, theta, V = (mix(eigenvalues, hat) for hat in (hats.q, hats.theta, hats.V))
    X = inverse(lam * np.eye(V.shape[-1]) + V, SOFTEST * lam)
    along, m = theta * teacher[:, None], hats.m[..., None, :, None]
    places = encoding[:, None, None] * m
    field = q + along @ transposed(theta) + places @ transposed(m)
    shifted = X @ field
    square = shifted @ X
    trace, energy = (matrix.trace(axis1=-2, axis2=-1) / 2 for matrix in (square, shifted))
    return Weights(X, square, (X @ places)[..., 0], X @ along, lam * trace, -energy)


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
    return Weights(
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


def solve(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Return A^-1 B for matrices A (..., r, r) and B (..., r, t)."""
    return B / A if A.shape[-1] == 1 else np.linalg.solve(A, B)


def inverse(A: np.ndarray, least: float) -> np.ndarray:
    """Return the inverse of symmetric matrices (..., r, r), whose eigenvalues count as `least` where they are lower."""
    if A.shape[-1] == 1:
        return 1 / np.maximum(A, least)
    values, axes = np.linalg.eigh(A)
    return axes / np.maximum(values, least)[..., None, :] @ transposed(axes)


def transposed(A: np.ndarray) -> np.ndarray:
    """Return the transposes of matrices (..., r, t)."""
    return A.swapaxes(-1, -2)


def lift(A: np.ndarray, least: float) -> np.ndarray:
    """Return positive semidefinite matrices (..., r, r), definite by at least about `least`."""
    return np.maximum(A, least) if A.shape[-1] == 1 else A + least * np.eye(A.shape[-1])


def largest_eigenvalue(A: np.ndarray) -> np.ndarray:
    """Return the largest real part of an eigenvalue of matrices (..., r, r), as an array (...)."""
    return A[..., 0, 0] if A.shape[-1] == 1 else np.linalg.eigvals(A).real.max(axis=-1)
