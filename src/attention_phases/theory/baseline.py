"""The purely positional linear model in high dimension (Result 5.1)."""

from functools import reduce

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from scipy.special import expit, softmax

NODES = 80  # an axis; the integrand is smooth, and 40 nodes agree to 1e-13


def linear_baseline(task, nodes=NODES):
    """Test error of the best linear mixing of the tokens (Eq. 20), which no amount of data improves.

    With isotropic tokens the optimal matrix is E[Y] (Eq. 19), and the error ``(sigma^2/2) E|Y - E[Y]|_F^2``.

    Parameters
    ----------
    task : Task
    nodes : int
        Gauss-Hermite nodes for each of the two teacher fields.

    Returns
    -------
    float
    """
    x, weight = hermegauss(nodes)
    y1, y2 = np.meshgrid(task.sigma * x, task.sigma * x, indexing="ij")
    weight = np.outer(weight, weight) / (2 * np.pi)
    # A row of Y is fixed by its diagonal entry up to a constant, so each row's variance counts twice.
    diagonal = (1 - task.omega) * expit(np.stack([y1 * (y1 - y2), y2 * (y2 - y1)]))
    mean = (weight * diagonal).sum((1, 2), keepdims=True)
    return float(task.sigma**2 * (weight * (diagonal - mean) ** 2).sum())


def general_linear_baseline(task, architecture):
    """The same for any number of tokens and correlation: ``(1/L) E tr[(Y - E[Y]) C (Y - E[Y])^T]`` (Eq. 20).

    Parameters
    ----------
    task : Task
    architecture : Architecture

    Returns
    -------
    float
    """
    count, C = architecture.tokens, architecture.covariance(task)
    x, weight = hermegauss({2: NODES, 3: 40}.get(count, 24))
    points = np.stack(np.meshgrid(*[x] * count, indexing="ij"), axis=-1).reshape(-1, count)
    weights = reduce(np.multiply.outer, [weight] * count).ravel()
    y = points @ np.linalg.cholesky(C).T
    target = (1 - task.omega) * softmax(y[:, :, None] * y[:, None], axis=2)  # the rest does not vary
    weights /= weights.sum()
    centred = target - np.einsum("n,nab->ab", weights, target)
    return float(np.einsum("n,nab,bc,nac->", weights, centred, C, centred) / count)
