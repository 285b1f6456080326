"""Curvature of the empirical risk at a student with one column of weights: the Hessian and its smallest eigenvalues.

For each sentence the risk depends on Q only through the two fields h. The Hessian is therefore ``lam + sum x^T B x/d``,
with the second derivatives B of the sentence's loss with respect to its fields.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.linalg import eigsh

from ..theory.equations import hessians

if TYPE_CHECKING:  # torch is slow to load, and the theory does not need it
    from torch import Tensor

    from ..model.two_tokens import Dataset

SOFT_COUNT = 8  # number of directions of smallest curvature that are compared with the teacher
BASIS = 60  # number of Lanczos vectors; with few vectors, the edge of a spectrum converges slowly


def hessian(data: Dataset, weights: Tensor, lam: float) -> np.ndarray:
    """Return the Hessian (d, d) of the risk at the weights (d,) of a student with one column.

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


def smallest_curvatures(curvature: np.ndarray, teacher: np.ndarray) -> dict[str, float]:
    """Compute the smallest curvature of the risk from its Hessian, and the curvature along the teacher.

    `softest` is the smallest eigenvalue of the Hessian, by Lanczos' method. `leaning` is the squared cosine of the
    angle between the teacher and the span of the `SOFT_COUNT` softest directions; for a random teacher it is
    `SOFT_COUNT`/d on average. If the student is a minimum, there are two further values: `stiff_teacher` is a force
    along the teacher divided by the shift along the teacher that the force causes, and `stiff_any` is the same ratio
    for an average direction, the harmonic mean of the eigenvalues.

    curvature: the Hessian (d, d) at the student
    teacher: Q* (d,)
    """
    unit = teacher / np.linalg.norm(teacher)
    values, vectors = eigsh(curvature, k=SOFT_COUNT, ncv=min(BASIS, len(unit)), which="SA", v0=unit)
    known = {"softest": float(values.min()), "leaning": float(((unit @ vectors) ** 2).sum())}
    if values.min() > 0:
        shifts = cho_solve(cho_factor(curvature), np.eye(len(unit)))
        known |= {"stiff_teacher": float(1 / (unit @ shifts @ unit)), "stiff_any": float(len(unit) / np.trace(shifts))}
    return known
