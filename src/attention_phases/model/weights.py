"""Measurements of weights: overlaps with the teacher and the positional encoding, and the test error at finite d."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..errors import check_choice
from ..task import Task, encoding, teacher_variances, variances
from .architectures import STANDARD, Architecture
from .prediction_error import general_test_error, test_error

if TYPE_CHECKING:  # torch is slow to load, and the theory does not need it
    from torch import Tensor

    from . import students, two_tokens


class StudentOverlaps(NamedTuple):
    """The order parameters of a student and of its teacher, with the same names as in the theory.

    They are defined in Eq. 6.
    """

    q: float  #: overlap ``sigma^2 |Q|^2/d`` with itself
    m: float  #: overlap Q.1/d with the positions
    theta: float  #: overlap sigma^2 Q.Q*/d with the teacher
    rho: float  #: overlap ``sigma^2 |Q*|^2/d`` of the teacher with itself, which is sigma^2 in the limit of large d
    m_teacher: float  #: overlap Q*.1/d of the teacher with the positions, which is 0 in the limit of large d

    @property
    def named(self) -> dict[str, float]:
        """A dictionary of the overlaps q, m and theta."""
        return {"q": self.q, "m": self.m, "theta": self.theta}


def overlaps(task: Task, weights: Tensor, teacher: Tensor) -> StudentOverlaps:
    """Return the order parameters of a student with weights (d,), relative to a teacher (d,)."""
    of_columns = column_overlaps(task, *(part[None].double().cpu().numpy() for part in (weights, teacher)))
    return StudentOverlaps(**{name: value.item() for name, value in of_columns.items()})


def column_overlaps(task: Task, columns: np.ndarray, teachers: np.ndarray) -> dict[str, np.ndarray]:
    """Return the overlaps between several columns of weights, and those with the encoding and the teacher.

    Sigma is the mean covariance of the tokens. For weights W^T (r, d) they are ``q = W^T Sigma W/d`` (r, r), ``m = W^T
    p/sqrt(d)`` (r,) and ``theta = W^T Sigma Q*/d`` (r, t), where p is the encoding. For the teacher Q*^T (t, d) they
    are ``rho = Q*^T Sigma Q*/d`` (t, t) and ``m_teacher = Q*^T p/sqrt(d)`` (t,).
    """
    d = columns.shape[1]
    covariance, along = np.atleast_2d(variances(task, d)).mean(0), encoding(task, d)
    return {
        "q": (covariance * columns) @ columns.T / d,
        "m": columns @ along / d,
        "theta": (covariance * columns) @ teachers.T / d,
        "rho": (covariance * teachers) @ teachers.T / d,
        "m_teacher": teachers @ along / d,
    }


def flat_overlaps(variance: float, q: np.ndarray, m: np.ndarray, theta: np.ndarray) -> dict:
    """Convert overlaps to a dictionary of scalars.

    The matrices q (r, r) and theta (r, t) are divided by sigma^2, and m is (r,). With one column of weights and one
    column of the teacher the scalars are q, m and theta, including sigma^2. With more columns q is the trace of sigma^2
    q, and m and theta are the norms of m and of sigma^2 theta. Several columns of weights add the entries as given:
    q_11, q_12, ..., m_1, ..., and theta_1, ... for the first column of the teacher. Several columns of the teacher add
    teacher_1, ..., the norms of sigma^2 theta for each of them.
    """
    r, t = theta.shape[-2:]
    if r == t == 1:
        return {"q": variance * q[..., 0, 0], "m": m[..., 0], "theta": variance * theta[..., 0, 0]}
    of_teachers = variance * np.linalg.norm(theta, axis=-2)
    scalars = {"q": variance * np.trace(q, axis1=-2, axis2=-1), "m": np.linalg.norm(m, axis=-1)}
    scalars["theta"] = np.linalg.norm(of_teachers, axis=-1)
    if r > 1:
        scalars |= {f"q_{i + 1}{j + 1}": q[..., i, j] for i in range(r) for j in range(i, r)}
        scalars |= {f"m_{i + 1}": m[..., i] for i in range(r)}
        scalars |= {f"theta_{i + 1}": theta[..., i, 0] for i in range(r)}
    if t > 1:
        scalars |= {f"teacher_{k + 1}": of_teachers[..., k] for k in range(t)}
    return scalars


def measure_student(
    task: Task,
    data: two_tokens.Dataset | students.Sentences,
    weights: Tensor,
    train_loss: float,
    architecture: Architecture | None = None,
    given: float = 0.0,
) -> dict[str, float]:
    """Return the overlaps, the training loss and the test error of a student, and the error of the linear model.

    given: share of the positional part in the student's attention, only for the standard student and task.
    """
    d, models = data.d, (None, data.linear())  # the attention of each model; None means the student's own
    if not weights.isfinite().all():  # the training has diverged
        measured, errors = dict.fromkeys(("q", "m", "theta"), nan), [nan, nan]
    elif not (task.structured or architecture):  # a special case with a formula that takes a tenth of the time
        point = overlaps(task, weights, data.teacher)
        measured, errors = point.named, [test_error(task, point, d, attention, given)[0] for attention in models]
    else:
        architecture = architecture or STANDARD
        rows, teachers = (part.double().cpu().numpy().reshape(-1, d) for part in (weights, data.teacher))
        columns, rest = np.split(rows, [architecture.rank])
        if architecture.rotates and not task.structured:
            columns = _gauge(columns, teachers[0])
        kind = check_choice("value matrix of the test error", architecture.value, ("none", "pair", "full"))
        value = {"none": None, "full": rest}[kind] if kind != "pair" else np.outer(*rest) / d
        student = task, architecture, columns, teachers
        measured = _overlaps(task, columns, teachers)
        errors = [general_test_error(*student, *model)[0] for model in zip((value, None), models)]
    return {**measured, "train_loss": train_loss, "test_mse": errors[0], "linear_mse": errors[1]}


def _overlaps(task, columns, teachers):
    """Return a dictionary of the overlaps of a student, as scalars.

    The scalars are those of `flat_overlaps`. For a structured task, `length` replaces the single entries.
    `length` is Q*^T Sigma Q*/d divided by its limit, minus 1, as a mean over the columns. It is a control variate.
    """
    point, variance = column_overlaps(task, columns, teachers), task.sigma**2
    overlaps = flat_overlaps(variance, point["q"] / variance, point["m"], point["theta"] / variance)
    if task.structured:
        overlaps = {name: value for name, value in overlaps.items() if not name.startswith(("q_", "m_", "theta_"))}
        overlaps["length"] = np.mean(np.diag(point["rho"]) / teacher_variances(task)) - 1
    return {name: float(value) for name, value in overlaps.items()}


def _gauge(columns, teacher):
    """Rotate two columns of weights such that the second has no overlap with the teacher and m_2 >= 0.

    The scores of the columns add up, so that a rotation does not change the student.
    """
    along = columns @ teacher
    cos, sin = along / np.linalg.norm(along)
    rotated = np.array([[cos, sin], [-sin, cos]]) @ columns
    return rotated * np.array([[1.0], [1.0 if rotated[1].mean() >= 0 else -1.0]])
