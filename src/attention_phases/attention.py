"""The attention of teacher and student, of NumPy arrays and of Torch tensors alike (compiled: `theory.kernels`)."""

from typing import Any

import numpy as np
from scipy import special


def softmax(scores: Any) -> Any:
    """Return the softmax along the last axis."""
    return special.softmax(scores, -1) if isinstance(scores, np.ndarray) else scores.softmax(-1)


def attention(fields: Any) -> Any:
    """Return softmax(h h^T) (..., L, L) of one field a token, h (..., L)."""
    return softmax(fields[..., :, None] * fields[..., None, :])


def target_attention(fields: Any, omega: float, matrix: Any) -> Any:
    """Return ``(1 - omega) softmax(y y^T) + omega A`` (..., L, L) (Eq. 16) of the teacher's fields y (..., L).

    matrix: A (L, L), of the type of the fields
    """
    return (1 - omega) * attention(fields) + omega * matrix


def own_attention(fields: Any) -> Any:
    """Return S_aa = logistic(h_a (h_a - h_b)), by which each of two tokens attends to itself, of fields (2, ...)."""
    scores = fields * (fields - fields[[1, 0]])
    return special.expit(scores) if isinstance(scores, np.ndarray) else scores.sigmoid()


def pair_attention(fields: np.ndarray) -> np.ndarray:
    """Return softmax(h h^T) of the fields of two tokens (2, ...), as (2, 2, ...): faster where there are many."""
    first, second = own_attention(fields)
    return np.array([[first, 1 - first], [1 - second, second]])
