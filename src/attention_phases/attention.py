"""The attention of teacher and student, of NumPy arrays and of Torch tensors alike (compiled: `theory.kernels`)."""

from typing import Any

import numpy as np
from scipy.special import expit


def softmax(scores: Any) -> Any:
    """Return the softmax along the last axis."""
    if not isinstance(scores, np.ndarray):
        return scores.softmax(-1)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def attention(fields: Any) -> Any:
    """Return softmax(h h^T) (..., L, L) of one field a token, h (..., L)."""
    return softmax(fields[..., :, None] * fields[..., None, :])


def target_attention(fields: Any, omega: float, matrix: Any) -> Any:
    """Return ``(1 - omega) softmax(y y^T) + omega A`` (..., L, L) (Eq. 16) of the teacher's fields y (..., L).

    matrix: A (L, L), of the type of the fields
    """
    return (1 - omega) * attention(fields) + omega * matrix


def pair_attention(fields: np.ndarray) -> np.ndarray:
    """Return softmax(h h^T) of the fields of two tokens (2, ...), as (2, 2, ...): faster where there are many."""
    difference = fields[0] - fields[1]
    first, second = expit(fields[0] * difference), expit(-fields[1] * difference)
    return np.array([[first, 1 - first], [1 - second, second]])
