"""The exact test error of given weights at finite d, for any student.

The test error of the standard student is defined in Eqs. 4 and 10. The attention of student and teacher depends on a
test sentence only through its components along a few directions: the columns of weights, Q*, and the directions of the
token means. The average over all other components has a closed form. The remaining average, over the few components, is
a quadrature of a smooth function.
"""

from dataclasses import replace
from math import inf, sqrt
from numbers import Real
from typing import Any

import numpy as np

from ..attention import pair_attention, softmax
from ..errors import BadInput, as_number, check_kind, check_positive, check_real
from ..measured import Measured, standard_error
from ..quadrature import TEST_ERROR_NET, gaussian_points
from ..task import Cluster, Task, encoding, teacher_variances, variances
from .architectures import STANDARD, Architecture


def test_error(
    task: Task, overlaps: Any, d: float = inf, attention=None, given: float = 0.0, trained: Task | None = None
) -> Measured:
    """Return the test error ``E|Y xi - S x|_F^2/(2 d)`` of a student with given overlaps, and its standard error.

    >>> from attention_phases import Task, solve, test_error
    >>> task = Task(omega=0.3)
    >>> solution = solve(task, 2.0, "semantic", points=256)
    >>> value, error = test_error(task, solution.overlaps)
    >>> abs(value - solution.test_mse) < 0.02 * value
    True

    Args:
        overlaps: q, m and theta by name, such as the overlaps of a `Solution`. At finite d also rho and m_teacher, the
            overlaps of the teacher, which `message_passing` and `weights.overlaps` return.

        d: embedding dimension, or infinity for the high-dimensional limit
        attention: (2, 2), a fixed mixing matrix that replaces the student's attention, for the linear baseline
        given: weight of A in the student's attention, for a student that is given A
        trained: the task of the training, if it differs from the task of the test. Only sigma, the strength of the
            encoding, omega and A may differ.
    """
    d = as_number(d)
    if not (isinstance(d, Real) and d >= 2):
        raise BadInput("d", d, "a number >= 2, or infinite")
    given = check_real("given", given, "a finite number", lambda v: True)
    if attention is not None and np.shape(attention) != (2, 2):
        raise BadInput("attention", attention, "a (2, 2) matrix")
    q, m, theta, rho, m_teacher = _tested_overlaps(task, overlaps, d, trained)
    variance, root = task.sigma**2, sqrt(q) or 1.0  # all overlaps of zero weights are zero, so any divisor will do
    rest = sqrt(max(rho - theta**2 / (q or 1.0), 0.0))  # zero if the student is parallel to the teacher
    numbers = np.moveaxis(gaussian_points(*TEST_ERROR_NET), 2, 0)
    xi, zeta = numbers[:2], numbers[2:]  # (2, scrambles, points)
    positions = np.array(task.matrix)[:, :, None, None]
    target = (1 - task.omega) * pair_attention(theta / root * xi + rest * zeta) + task.omega * positions
    if attention is None:
        w = sqrt(q) * xi + m * np.array([1, -1])[:, None, None]
        student = (1 - given) * pair_attention(w) + given * positions
    else:
        student = np.broadcast_to(np.asarray(attention)[:, :, None, None], target.shape)
    miss = target - student  # (2, 2, scrambles, points)
    squares = variance * (miss**2).sum((0, 1))
    if d < inf:
        by_xi = variance * m / root
        by_zeta = (variance * m_teacher - by_xi * theta / root) / rest if rest > 0 else 0.0
        # The fields determine the component of xi in the plane of Q and Q*. The square of this component is sigma^2
        # (xi^2 + zeta^2), not its mean 2 sigma^2.
        plane = sum((_mix(miss, part) ** 2).sum(0) for part in (xi, zeta))
        # The encoding in the output is c u 1_d/sqrt(d) with u = (1, -1). Given the fields, the tokens have this mean
        # component along 1_d/sqrt(d).
        along, passed = by_xi * xi + by_zeta * zeta, student[:, 0] - student[:, 1]
        of_encoding = ((task.encoding * passed) ** 2 - 2 * passed * _mix(miss, along)).sum(0)
        squares += (variance * plane - 2 * squares + of_encoding) / d
    per_scramble = squares.mean(1) / 2
    return Measured(float(per_scramble.mean()), standard_error(per_scramble))


def _tested_overlaps(task: Task, overlaps: Any, d: float, trained: Task | None) -> tuple[float, ...]:
    """Check the overlaps of a student, and convert them to the task on which it is tested.

    The results are q, m, theta, rho and m_teacher; see `test_error`.
    """
    of: Any = overlaps.get if hasattr(overlaps, "get") else lambda name, other=None: getattr(overlaps, name, other)
    q, m, theta = (of(name) for name in ("q", "m", "theta"))
    if any(value is None or np.ndim(value) for value in (q, m, theta)):
        raise BadInput("overlaps", overlaps, "numbers q, m and theta, of one column of weights")
    q = check_real("q", q, "a finite number >= 0", lambda v: v >= 0)
    known = ("m", m), ("theta", theta), ("m_teacher", of("m_teacher", 0.0))
    m, theta, m_teacher = (check_real(*named, "a finite number", lambda v: True) for named in known)
    check_kind("task", task, Task)
    STANDARD.attention(task)  # raises `BadInput` if A is not for two tokens
    if len(task.teachers) > 1 or task.clusters or np.size(task.directions[0].eigenvalue) > 1:
        raise BadInput("test_error covers one teacher, tokens with one law and no clusters; use general_test_error")
    if replace(task, encoding=1.0).structured and d < inf:
        raise BadInput("test_error covers no task with structure at finite d; leave d out, or use general_test_error")
    rho = None if of("rho") is None else check_positive("rho", of("rho"))
    if d < inf and rho is None:
        raise BadInput("overlaps", overlaps, "with rho and m_teacher, the overlaps of the teacher, at finite d")
    if trained is not None:  # convert the overlaps of the weights from the training task to the test task
        check_kind("trained", trained, Task)
        if (trained.spectrum, trained.teachers) != (task.spectrum, task.teachers):
            raise BadInput("trained", trained, "a task with the spectrum and the teachers of the task that is tested")
        size, strength = (task.sigma / trained.sigma) ** 2, task.encoding / trained.encoding
        q, theta, rho = size * q, size * theta, rho and size * rho
        m, m_teacher = strength * m, strength * m_teacher
    rho = teacher_variances(task).item() if rho is None else rho
    if theta**2 > 4 * q * rho:  # the factor 4 allows for the fluctuating length of a teacher at finite d
        raise BadInput("theta", theta, f"at most sigma sqrt(q), the overlap of parallel weights, {sqrt(q * rho):.3g}")
    return q, m, theta, rho, m_teacher


def _mix(matrices: np.ndarray, fields: np.ndarray) -> np.ndarray:
    """Return the products of matrices (2, 2, ...) and fields (2, ...)."""
    return np.einsum("ab...,b...->a...", matrices, fields)


def general_test_error(
    task: Task,
    architecture: Architecture,
    columns: np.ndarray,
    teachers: np.ndarray,
    value: np.ndarray | None = None,
    attention: np.ndarray | None = None,
) -> tuple[float, float]:
    """Return the test error ``E|Y xi - S x (I + V)|_F^2/(L d)`` of any student, and its standard error.

    It covers all sentences that a task and an architecture describe.

    Let B = (W^T, Q*^T)/sqrt(d) be all columns, and f = B xi the fields of a token. Write f = R z with standard normal
    z. Given f, the noise of the token has the mean T^T z and the covariance ``Sigma - T^T T``.

    Args:
        columns: W^T (r, d)
        teachers: Q*^T (t, d)
        value: V (d, d); the default is zero
        attention: (L, L), a fixed mixing matrix that replaces the student's attention, for the linear baseline
    """
    (r, d), count = columns.shape, architecture.tokens
    B, spread = np.vstack([columns, teachers]) / sqrt(d), np.atleast_2d(variances(task, d))
    k, law_of = len(B), np.arange(count) % len(spread)  # all tokens have the same law, or each its own
    R, T = map(np.array, zip(*(_given_fields(B, of_law, task.structured) for of_law in spread)))  # (laws, k, k or d)
    # Directions of the means of the tokens, (2, d): the encoding and the first column of the teacher.
    known = np.stack([encoding(task, d) / sqrt(d), teachers[0] / np.linalg.norm(teachers[0])])
    directions = np.vstack([*T, known])
    passed_on, by_value, squared = directions, 0.0, 0.0
    if value is not None:
        passed_on = directions + directions @ value
        by_value, squared = value.diagonal(), (value**2).sum(1)
    # Inner products of Y xi with itself, of Y xi with S x (I + V), and of S x (I + V) with itself. Each has a
    # part along `directions`, and a trace over all other directions, in which the noise is independent of z.
    products = np.vstack([directions, passed_on]) @ np.vstack([directions, passed_on]).T
    of_pairs, size = products.reshape(2, len(directions), 2, -1), len(spread) * k
    traces = []
    for (a, b), share in zip(((0, 0), (0, 1), (1, 1)), (1.0, 1 + by_value, 1 + 2 * by_value + squared)):
        seen = of_pairs[a, :, b].diagonal()[:size].reshape(-1, k).sum(1)
        traces.append(architecture.correlations * ((spread * share).sum(1) - seen)[law_of])
    others = np.block([traces[:2], traces[1:]])

    points = gaussian_points(*TEST_ERROR_NET, dimensions=count * k)
    axes_first = points.reshape(-1, k, count).swapaxes(1, 2)
    z = points.reshape(-1, count, k) if task.structured else axes_first  # same order of axes as in the stored results
    z = np.linalg.cholesky(architecture.correlations) @ z
    noise = np.zeros((len(z), count, len(directions)))  # components of the noise along `directions`
    for token, law in enumerate(law_of):
        noise[:, token, law * k : (law + 1) * k] = z[:, token]
    fields = np.einsum("akl,nal->nak", R[law_of], z)
    positions = np.outer(architecture.positions, (1.0, 0.0))  # components of the encoding along `known`

    def miss_of(cluster):
        xi, x = noise.copy(), noise.copy()
        xi[:, :, -2:] = np.transpose(cluster[1:])
        x[:, :, -2:] = xi[:, :, -2:] + positions
        y, h = (fields + part[:, :, -2:] @ (known @ B.T) for part in (xi, x))
        y, h = y[:, :, r:], h[:, :, :r]
        target = (1 - task.omega) * softmax(y @ y.swapaxes(1, 2)) + task.omega * architecture.attention(task)
        mixing = softmax(h @ architecture.score @ h.swapaxes(1, 2)) if attention is None else 0 * target + attention
        seen, unseen = np.dstack([target @ xi, -mixing @ x]), np.dstack([target, -mixing])
        squares = ((seen @ products) * seen).sum((1, 2)) + ((unseen @ others) * unseen).sum((1, 2))
        return squares.reshape(TEST_ERROR_NET[1], -1).mean(1) / (count * d)

    nowhere = Cluster(1.0, (0.0,) * count, (0.0,) * count)
    means = np.sum([cluster.weight * miss_of(cluster) for cluster in task.clusters or (nowhere,)], axis=0)
    return float(means.mean()), standard_error(means)


def _given_fields(B, variances, structured):
    """Return the matrices R and T of `general_test_error` for a token with given variances (d,)."""
    if structured:  # the axes of the stored results, because other axes would change the quadrature error
        size, axes = np.linalg.eigh(B * variances @ B.T)
        size = np.where(size > 1e-12 * size.max(), size, 0.0)  # parallel columns give zero, up to rounding
        inverse = np.divide(1, np.sqrt(size), out=np.zeros_like(size), where=size > 0)
        return axes * np.sqrt(size), (axes * inverse).T @ (B * variances)
    axes, triangle = np.linalg.qr((B * np.sqrt(variances)).T)
    return triangle.T, axes.T * np.sqrt(variances)
