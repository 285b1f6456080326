"""Curvature of the empirical risk at a student: its Hessian, and how soft it is there.

Per sentence the risk depends on Q only through the two fields h, so the Hessian is ``lam + sum x^T B x/d`` with B the
second derivatives (2, 2) of a sentence's loss by its fields.
"""

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.linalg import eigsh
from scipy.special import expit
from torch import Tensor

from ..model.two_tokens import Dataset

SOFTEST = 8  # directions of the smallest curvature that are compared with the teacher
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
    parts = data.inputs, data.stiffness[:, None], data.targets, weights
    x, stiffness, targets, weights = (part.double().numpy() for part in parts)
    h = x @ weights  # (n, 2)
    lean = h - h[:, ::-1]  # the score of S_aa is h_a (h_a - h_b)
    s = expit(h * lean)
    force = stiffness * s * (1 - s)
    slope = force * (s - targets)  # of the loss by the score, and its second derivative
    bend = force * (s * (1 - s) + (s - targets) * (1 - 2 * s))
    same = 2 * slope + bend * (h + lean) ** 2 + (bend * h**2)[:, ::-1]  # B_aa
    other = -(slope + bend * (h + lean) * h).sum(1)  # B_12
    bent = same[:, :, None] * x + other[:, None, None] * x[:, ::-1]
    return lam * np.eye(data.d) + x.reshape(-1, data.d).T @ bent.reshape(-1, data.d)


def softness(curvature: np.ndarray, teacher: np.ndarray) -> dict[str, float]:
    """Return how soft the risk is at a student with this Hessian (d, d), beside the teacher (d,).

    `softest` is the smallest eigenvalue, by Lanczos' method; `leaning` the squared cosine of the teacher with the span
    of the `SOFTEST` softest directions (without a preference `SOFTEST`/d on average). Where the student is a minimum,
    `stiff_teacher` is the force along the teacher over the shift along it that this causes, and `stiff_any` the same
    for a direction on average (harmonic means of the eigenvalues); NaN elsewhere.
    """
    unit = teacher / np.linalg.norm(teacher)
    values, vectors = eigsh(curvature, k=SOFTEST, ncv=BASIS, which="SA", v0=unit)
    known = {"softest": values.min(), "leaning": ((unit @ vectors) ** 2).sum()}
    stiff = np.full(2, np.nan)
    if values.min() > 0:
        factor = cho_factor(curvature)
        stiff = 1 / np.array(
            [unit @ cho_solve(factor, unit), np.trace(cho_solve(factor, np.eye(len(unit)))) / len(unit)]
        )
    return {name: float(value) for name, value in {**known, "stiff_teacher": stiff[0], "stiff_any": stiff[1]}.items()}
