"""Test error of given weights of any form, exact at finite d: `prediction_error` for every architecture.

The attention of student and teacher sees a test sentence through its components along r + 1 directions, the columns of
weights and Q*. All others average out in closed form, which leaves an average over these components, z.
"""

from math import sqrt
from typing import NamedTuple

import numpy as np
from scipy.special import softmax

from ...measured import standard_error
from ...model.architectures import Architecture
from ...task import Task
from ..quadrature import TEST_ERROR_NET, gaussian_points


class Student(NamedTuple):
    """A student, in an orthonormal basis B (k, d) of a space that holds its weights, then Q*, then 1_d.

    With I + V the value matrix, V = 0 where there is none.
    """

    columns: np.ndarray  # (k, r), B W^T/sqrt(d)
    teacher: np.ndarray  # (k,), B Q*/sqrt(d)
    encoding: np.ndarray  # (k,), B 1_d/sqrt(d)
    value: np.ndarray  # (k, k), B (I + V) B^T
    square: np.ndarray  # (k, k), B (I + V) (I + V)^T B^T
    traces: tuple  # of the d x d matrices I + V and (I + V) (I + V)^T
    d: int


def project(columns: np.ndarray, teacher: np.ndarray, value=None, pair=None) -> Student:
    """Return the `Student` of given weights.

    Parameters
    ----------
    columns : (r, d) array
    teacher : (d,) array
    value : (d, d) array, optional
        V of a full value matrix.
    pair : (2, d) array, optional
        u and v of V = u v^T/d.

    Returns
    -------
    Student
    """
    d = len(teacher)
    more = np.empty((0, d)) if pair is None else pair
    encoding = np.full(d, d**-0.5)
    basis = np.linalg.qr(np.vstack([columns, teacher, encoding, more]).T)[0].T  # (k, d)
    small = np.eye(len(basis))
    square, traces = small, (d, d)
    if pair is not None:
        left, right = (basis @ pair.T).T
        small = small + np.outer(left, right) / d
        square = small @ small.T
        traces = (d - len(small) + np.trace(small), d - len(small) + np.trace(square))
    if value is not None:
        passed = basis + basis @ value
        small, square = passed @ basis.T, passed @ passed.T
        traces = (d + np.trace(value), d + 2 * np.trace(value) + (value**2).sum())
    return Student(basis @ columns.T / sqrt(d), basis @ teacher / sqrt(d), basis @ encoding, small, square, traces, d)


def general_test_error(task: Task, architecture: Architecture, student: Student, attention=None) -> tuple[float, float]:
    """Return the test error ``E|Y xi - S x (I + V)|_F^2/(L d)`` of a student.

    Parameters
    ----------
    task : Task
    architecture : Architecture
    student : Student
    attention : (L, L) array, optional
        A fixed mixing matrix instead of the student's attention, without a value matrix: the linear baseline.

    Returns
    -------
    value, stderr : float
    """
    count, k = architecture.tokens, len(student.teacher)
    seen = student.columns.shape[1] + 1  # the first directions of the basis: those that the fields depend on
    cov = architecture.covariance(task)
    points = gaussian_points(*TEST_ERROR_NET, dimensions=count * seen).reshape(-1, seen, count).swapaxes(1, 2)
    z = np.zeros((len(points), count, k))
    z[:, :, :seen] = np.linalg.cholesky(cov) @ points
    x = z + architecture.positions[:, None] * student.encoding
    y = z @ student.teacher
    target = (1 - task.omega) * softmax(y[:, :, None] * y[:, None], axis=2) + task.omega * architecture.attention(task)
    value, square, (trace, square_trace) = student.value, student.square, student.traces
    if attention is None:
        h = x @ student.columns
        mixing = softmax(h @ architecture.score @ h.transpose(0, 2, 1), axis=2)
    else:
        mixing, value, square, trace, square_trace = attention[None], np.eye(k), np.eye(k), student.d, student.d
    label, passed = target @ z, mixing @ x  # (N, L, k)
    inside = (label**2).sum((1, 2)) - 2 * ((label @ value.T) * passed).sum((1, 2))
    inside = inside + ((passed @ square) * passed).sum((1, 2))
    # In each of the other directions the tokens have covariance C, whatever z is.
    spread = [((a @ cov) * b).sum((1, 2)) for a, b in ((target, target), (target, mixing), (mixing, mixing))]
    inner = np.trace(value[:seen, :seen]), np.trace(square[:seen, :seen])
    weights = (student.d - seen, -2 * (trace - inner[0]), square_trace - inner[1])
    outside = sum(weight * each for weight, each in zip(weights, spread))
    means = ((inside + outside) / (count * student.d)).reshape(TEST_ERROR_NET[1], -1).mean(1)
    return float(means.mean()), standard_error(means)
