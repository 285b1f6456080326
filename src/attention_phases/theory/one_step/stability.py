"""Whether one step of breaking is enough: two copies of message passing inside one minimum of a broken solution.

Their inner fields w and w' differ by ``E(w_a - w'_a)^2 = D`` and have the weight ``exp(-y (M(w) + M(w'))/2)``. After
one more iteration they differ by ``D' = alpha V^2 E<|r(w) - r(w')|^2>``. Where D' > D the minimum is itself a set of
minima, and one step is not enough. At y = 0 this is `theory.stability.gains`.
"""

from math import sqrt

import numpy as np

from ...task import Task
from ..kernels.two_tokens import forces
from ..quadrature import gaussian_points
from ..stability import teacher_fit
from .equations import Valley, inner_points


def inner_gains(task: Task, alpha: float, valley: Valley, shares, points: int):
    """Return D'/D of each scramble (scrambles, k) at distances of which `shares` (k,) are D/q1 <= 2 gap/q1."""
    q0, gap, m, theta, V, y = valley
    x1, x2, weights = inner_points().T[:, :, None]  # (K, 1) each
    aligned = theta / sqrt(q0)
    rest = sqrt(task.sigma**2 - aligned**2)
    by_scramble, rng = [], np.random.default_rng(0)
    for net in gaussian_points(points, dimensions=6):
        xi, zeta, turn = net.T.reshape(3, 2, 1, -1)
        outer = sqrt(q0) * xi + np.array([m, -m])[:, None, None]
        targets = np.repeat(teacher_fit(task, (aligned * xi + rest * zeta)[:, 0])[:, None], len(weights), axis=1)
        cosine, sine = turn / np.hypot(*turn)
        z = np.stack([cosine * x1 - sine * x2, sine * x1 + cosine * x2])  # (2, K, N)
        r, envelope = _forces(task, outer + sqrt(gap) * z, targets, V)
        other, row = rng.standard_normal(z.shape), []
        for share in shares:
            D = share * (q0 + gap)
            together = 1 - D / (2 * gap)  # correlation of the inner fields
            moved = together * z + sqrt(1 - together**2) * other
            r_moved, envelope_moved = _forces(task, outer + sqrt(gap) * moved, targets, V)
            loss = (envelope + envelope_moved) / 2
            shifted = weights * np.exp(-y * (loss - loss.min(axis=0)))
            square = (shifted * ((r - r_moved) ** 2).sum(axis=0)).sum(axis=0) / shifted.sum(axis=0)
            row.append(alpha * V**2 * square.mean() / D)
        by_scramble.append(row)
    return np.array(by_scramble)


def _forces(task, fields, targets, V):
    """r (2, K, N) and the Moreau envelope M (K, N) at cavity fields (2, K, N)."""
    r, _, _ = forces(fields.reshape(2, -1), targets.reshape(2, -1), V, task.sigma**2)
    r = r.reshape(fields.shape)
    h = fields + V * r
    misfit = 1 / (1 + np.exp(-h * (h - h[::-1]))) - targets
    return r, (V * r**2 / 2 + task.sigma**2 * misfit**2).sum(axis=0)
