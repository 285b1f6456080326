"""Curvature of the empirical risk at a student of one column: its Hessian, and how soft it is there.

Per sentence the risk depends on Q only through the two fields h, so the Hessian is ``lam + sum x^T B x/d`` with B the
second derivatives of the sentence's loss by its fields.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.linalg import eigsh

from ..theory.equations import hessians

if TYPE_CHECKING:  # with torch, slow to load, which theory does without
    from torch import Tensor

    from ..model.two_tokens import Dataset

SOFT_COUNT = 8  # directions of the smallest curvature that are compared with the teacher
BASIS = 60  # vectors that Lanczos' method keeps: at the edge of a spectrum few converge slowly


def hessian(data: Dataset, weights: Tensor, lam: float) -> np.ndarray:
    """Return the Hessian (d, d) of the risk at the weights (d,) of a student of one column.

    >>> import numpy as np
    >>> from attention_phases import Task
    >>> from attention_phases.model.two_tokens import sample
    >>> data = sample(Task(), 2.0, 20, np.random.default_rng(0))
    >>> hessian(data, data.teacher, 0.01).shape
    (20, 20)
    """
    parts = data.inputs, data.targets, data.stiffness, weights
    x, targets, stiffness, Q = (part.double().cpu().numpy() for part in parts)
    bent = hessians((x @ Q).T, targets.T, stiffness / 2) @ x
    return lam * np.eye(data.d) + x.reshape(-1, data.d).T @ bent.reshape(-1, data.d)


def softness(curvature: np.ndarray, teacher: np.ndarray) -> dict[str, float]:
    """Return how soft the risk is at a student with this Hessian (d, d), beside the teacher (d,).

    `softest` is the smallest eigenvalue, by Lanczos' method; `leaning` the squared cosine of the teacher with the span
    of the `SOFT_COUNT` softest directions (without a preference `SOFT_COUNT`/d on average). Where the student is a
    minimum, there are also `stiff_teacher`, the force along the teacher over the shift along it that this causes, and
    `stiff_any`, the same of a direction on average: the harmonic mean of the eigenvalues.
    """
    unit = teacher / np.linalg.norm(teacher)
    values, vectors = eigsh(curvature, k=SOFT_COUNT, ncv=min(BASIS, len(unit)), which="SA", v0=unit)
    known = {"softest": float(values.min()), "leaning": float(((unit @ vectors) ** 2).sum())}
    if values.min() > 0:
        shifts = cho_solve(cho_factor(curvature), np.eye(len(unit)))
        known |= {"stiff_teacher": float(1 / (unit @ shifts @ unit)), "stiff_any": float(len(unit) / np.trace(shifts))}
    return known
