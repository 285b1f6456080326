"""Test error of given weights from their overlaps alone (Eqs. 4 and 10), exact at finite d.

Given weights see a test sentence only through h and y, that is through the standard coordinates
(xi, zeta) of each token in span{Q, Q*}; everything orthogonal to the two averages out in closed form.
The average over the four coordinates is a quadrature of a smooth function.
"""

from math import inf, sqrt

import numpy as np
from scipy.special import expit

from ..measured import standard_error
from ..task import Task
from .quadrature import TEST_ERROR_NET, gaussian_points


def test_error(task: Task, overlaps: dict, d: float = inf, attention=None) -> tuple[float, float]:
    """Return the test error ``E|Y xi - S x|_F^2/(2 d)`` of a student with given overlaps.

    Parameters
    ----------
    task : Task
    overlaps : dict
        q, m, theta, rho, m_teacher, as from `two_tokens.overlaps`.
    d : float
        Embedding dimension; infinite for the high-dimensional limit.
    attention : (2, 2) array, optional
        A fixed mixing matrix instead of the student's attention: the linear baseline.

    Returns
    -------
    value, stderr : float
    """
    q, m, theta, rho, m_teacher = (overlaps[name] for name in ("q", "m", "theta", "rho", "m_teacher"))
    variance = task.sigma**2
    root = sqrt(q)
    rest = sqrt(max(rho - theta**2 / q, 0.0))  # zero when the student is parallel to the teacher
    xi1, xi2, zeta1, zeta2 = np.moveaxis(gaussian_points(*TEST_ERROR_NET), 2, 0)
    w = np.stack([root * xi1 + m, root * xi2 - m])
    y = theta / root * np.stack([xi1, xi2]) + rest * np.stack([zeta1, zeta2])
    target = (1 - task.omega) * _softmax(y) + task.omega * np.array(task.matrix)[:, :, None, None]
    student = _softmax(w) if attention is None else np.broadcast_to(attention[:, :, None, None], target.shape)
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


def _softmax(fields):
    """softmax(h h^T) of two fields (2, ...), as (2, 2, ...)."""
    difference = fields[0] - fields[1]
    first, second = expit(fields[0] * difference), expit(-fields[1] * difference)
    return np.array([[first, 1 - first], [1 - second, second]])
