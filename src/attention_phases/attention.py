"""The attention of teacher and student, for NumPy arrays and Torch tensors.

The compiled versions are in `theory.kernels`.
"""

from typing import Any

import numpy as np
from scipy import special


def softmax(scores: Any) -> Any:
    """Return the softmax along the last axis."""
    return special.softmax(scores, -1) if isinstance(scores, np.ndarray) else scores.softmax(-1)


def attention(fields: Any) -> Any:
    """Return the attention matrix softmax(h h^T) of fields h, with one field per token.

    The fields are (..., L), and the attention is (..., L, L).
    """
    return softmax(fields[..., :, None] * fields[..., None, :])


def target_attention(fields: Any, omega: float, matrix: Any) -> Any:
    """Return the teacher's attention ``(1 - omega) softmax(y y^T) + omega A``, given the teacher's fields y.

    This is Eq. 16. The fields are (..., L), and the attention is (..., L, L).

    matrix: A (L, L), an array or a tensor as the fields are
    """
    return (1 - omega) * attention(fields) + omega * matrix


def own_attention(fields: Any) -> Any:
    """Return the attention of each of two tokens to itself, S_aa = logistic(h_a (h_a - h_b)).

    The fields h are (2, ...).
    """
    scores = fields * (fields - fields[[1, 0]])
    return special.expit(scores) if isinstance(scores, np.ndarray) else scores.sigmoid()


def pair_attention(fields: np.ndarray) -> np.ndarray:
    """Return the attention softmax(h h^T) of two tokens, computed fast for large arrays.

    The fields h are (2, ...), and the attention is (2, 2, ...).
    """
    first, second = own_attention(fields)
    return np.array([[first, 1 - first], [1 - second, second]])
