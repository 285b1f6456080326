"""Small symmetric matrices, in stacks: for 1 x 1, of which most are, NumPy's own routines take ten times as long."""

import numpy as np


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
