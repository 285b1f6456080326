"""Test error of given weights, exact at finite d: of a standard student from its overlaps (Eqs. 4 and 10), and of any.

The attention of student and teacher sees a test sentence only through its components along r + 1 directions, the
columns of weights and Q*. All others average out in closed form, which leaves an average over these components: a
quadrature of a smooth function.
"""

from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from ..attention import pair_attention, softmax, target_attention
from ..measured import standard_error
from ..model.architectures import Architecture
from ..task import Cluster, Task, encoding, variances
from .quadrature import TEST_ERROR_NET, gaussian_points


def test_error(task: Task, overlaps: dict, d: float = inf, attention=None, given: float = 0.0) -> tuple[float, float]:
    """Return the test error ``E|Y xi - S x|_F^2/(2 d)`` of a student with given overlaps, and its standard error.

    Args:
        overlaps: q, m, theta, rho and m_teacher by name
        d: embedding dimension; infinite for the high-dimensional limit
        attention: (2, 2), a fixed mixing matrix instead of the student's attention: the linear baseline
        given: weight of A that the student adds itself to its attention
    """
    q, m, theta, rho, m_teacher = (overlaps[name] for name in ("q", "m", "theta", "rho", "m_teacher"))
    variance = task.sigma**2
    root = sqrt(q)
    rest = sqrt(max(rho - theta**2 / q, 0.0))  # zero when the student is parallel to the teacher
    xi1, xi2, zeta1, zeta2 = np.moveaxis(gaussian_points(*TEST_ERROR_NET), 2, 0)
    w = np.stack([root * xi1 + m, root * xi2 - m])
    y = theta / root * np.stack([xi1, xi2]) + rest * np.stack([zeta1, zeta2])
    positions = np.array(task.matrix)[:, :, None, None]
    target = (1 - task.omega) * pair_attention(y) + task.omega * positions
    if attention is None:
        student = (1 - given) * pair_attention(w) + given * positions
    else:
        student = np.broadcast_to(attention[:, :, None, None], target.shape)
    miss = target - student  # (2, 2, scrambles, points)

    bulk = variance * (miss**2).sum((0, 1))
    # Along span{Q, Q*} a token's entries are not free: |xi|^2 is sigma^2 (xi^2 + zeta^2) there, not 2 sigma^2.
    plane = (np.einsum("ab...,b...->a...", miss, np.stack([xi1, xi2])) ** 2).sum(0)
    plane += (np.einsum("ab...,b...->a...", miss, np.stack([zeta1, zeta2])) ** 2).sum(0)
    # The student also passes on the encoding u 1_d/sqrt(d), u = (1, -1), with which Q and Q* overlap.
    by_xi = variance * m / root
    by_zeta = (variance * m_teacher - by_xi * theta / root) / rest if rest > 0 else 0.0
    along = np.stack([by_xi * xi1 + by_zeta * zeta1, by_xi * xi2 + by_zeta * zeta2])
    passed = student[:, 0] - student[:, 1]
    encoding = (passed**2 - 2 * passed * np.einsum("ab...,b...->a...", miss, along)).sum(0)
    per_scramble = (bulk + (variance * plane - 2 * bulk + encoding) / d).mean(1) / 2
    return float(per_scramble.mean()), standard_error(per_scramble)


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

    Args:
        columns: (r, d)
        teacher: (d,)
        value: (d, d), V of a full value matrix
        pair: (2, d), u and v of V = u v^T/d
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
    """Return the test error ``E|Y xi - S x (I + V)|_F^2/(L d)`` of a student, and its standard error.

    attention: (L, L), a fixed mixing matrix instead of the student's attention, without a value matrix: the linear
    baseline
    """
    count, k = architecture.tokens, len(student.teacher)
    seen = student.columns.shape[1] + 1  # the first directions of the basis: those that the fields depend on
    cov = architecture.covariance(task)
    points = gaussian_points(*TEST_ERROR_NET, dimensions=count * seen).reshape(-1, seen, count).swapaxes(1, 2)
    z = np.zeros((len(points), count, k))
    z[:, :, :seen] = np.linalg.cholesky(cov) @ points
    x = z + architecture.positions[:, None] * student.encoding
    target = target_attention(z @ student.teacher, task.omega, architecture.attention(task))
    value, square, (trace, square_trace) = student.value, student.square, student.traces
    if attention is None:
        h = x @ student.columns
        mixing = softmax(h @ architecture.score @ h.transpose(0, 2, 1))
    else:
        mixing, value, square, trace, square_trace = attention[None], np.eye(k), np.eye(k), student.d, student.d
    label, passed = target @ z, mixing @ x  # (N, L, k)
    inside = (label**2).sum((1, 2)) - 2 * ((label @ value.T) * passed).sum((1, 2))
    inside = inside + ((passed @ square) * passed).sum((1, 2))
    # In each of the other directions the tokens have covariance C, whatever z is.
    spread = [((a @ cov) * b).sum((1, 2)) for a, b in ((target, target), (target, mixing), (mixing, mixing))]
    inner = np.trace(value[:seen, :seen]), np.trace(square[:seen, :seen])
    weights = (student.d - seen, -2 * (trace - inner[0]), square_trace - inner[1])
    outside = sum(weight * covered for weight, covered in zip(weights, spread))
    means = ((inside + outside) / (count * student.d)).reshape(TEST_ERROR_NET[1], -1).mean(1)
    return float(means.mean()), standard_error(means)


def structured_test_error(
    task: Task, columns: np.ndarray, teachers: np.ndarray, score: np.ndarray, attention=None
) -> tuple[float, float]:
    """Return the test error ``E|Y xi - S x|_F^2/(2 d)`` of given weights on two tokens with structure, and its error.

    Given the fields f = B xi of a token along all columns, B = (W^T, Q*^T)/sqrt(d), its noise has the mean
    ``Sigma B^T K^-1 f``, with ``K = B Sigma B^T``; written here as T^T z, with f = R z and z normal.

    Args:
        columns: W^T (r, d)
        teachers: Q*^T (t, d)
        score: M (r, r)
        attention: (2, 2), a fixed mixing matrix instead of the student's attention: the linear baseline
    """
    r, d = columns.shape
    B, spread = np.vstack([columns, teachers]) / sqrt(d), np.broadcast_to(variances(task, d), (2, d))
    R, T = map(np.array, zip(*(_given_fields(B, of_token) for of_token in spread)))  # (2, k, k), (2, k, d)
    known = np.stack([encoding(task, d) / sqrt(d), teachers[0] / np.linalg.norm(teachers[0])])  # of the means, (2, d)
    z = gaussian_points(*TEST_ERROR_NET, dimensions=2 * len(B)).reshape(-1, 2, len(B))
    noise = np.einsum("akl,nal->nak", R, z)  # of the fields
    products = np.einsum("nak,abkl,nbl->nab", z, np.einsum("akd,bld->abkl", T, T), z, optimize=True)
    products += np.diag(spread.sum(1) - np.einsum("akd,akd->a", T, T))  # of the noise of two tokens
    along = np.einsum("apk,nak->npa", np.einsum("pd,akd->apk", known, T), z)  # of the noise and the means
    positions = np.array([[1.0, -1.0], [0.0, 0.0]])  # along what is known

    def miss_of(cluster):
        means = np.array(cluster[1:])  # along what is known, (2, tokens)
        by_means, by_positions = ((B @ known.T @ part).T for part in (means, positions))  # (tokens, k)
        y, h = (noise + by_means)[:, :, r:], (noise + by_means + by_positions)[:, :, :r]
        target = (1 - task.omega) * softmax(y @ y.swapaxes(1, 2)) + task.omega * np.array(task.matrix)
        mixing = softmax(h @ score @ h.swapaxes(1, 2)) if attention is None else attention
        miss = target - mixing
        fixed = miss @ means.T - mixing @ positions.T  # (N, 2, known): what is missed beside the noise
        squares = (miss @ products * miss).sum((1, 2)) + 2 * ((miss @ along.swapaxes(1, 2)) * fixed).sum((1, 2))
        squares = squares + (fixed @ (known @ known.T) * fixed).sum((1, 2))
        return squares.reshape(TEST_ERROR_NET[1], -1).mean(1) / (2 * d)

    means = np.sum([cluster.weight * miss_of(cluster) for cluster in task.clusters or (Cluster(1.0),)], axis=0)
    return float(means.mean()), standard_error(means)


def _given_fields(B, variances):
    """R and T of `structured_test_error` for one token, whose coordinates have given variances (d,)."""
    size, axes = np.linalg.eigh(B * variances @ B.T)
    size = np.where(size > 1e-12 * size.max(), size, 0.0)  # columns that are parallel
    inverse = np.divide(1, np.sqrt(size), out=np.zeros_like(size), where=size > 0)
    return axes * np.sqrt(size), (axes * inverse).T @ (B * variances)
