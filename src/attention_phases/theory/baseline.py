"""The purely positional linear model in high dimension (Result 5.1)."""

from functools import reduce
from math import inf

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from scipy.special import softmax
from scipy.stats.qmc import Sobol

from ..errors import BadInput
from ..measured import standard_error
from ..model.architectures import Architecture
from ..task import Task
from .quadrature import SCRAMBLES, gaussian_nets

NODES = 80  # an axis; the integrand is smooth, and 40 nodes agree to 1e-13
ON_NODES = 4  # tokens; a rule for each of six would have 2e8 nodes
ENTRIES = 2**24  # of attention matrices that a scramble averages over, about
PART = 2**21  # entries at a time


def linear_baseline(task: Task, architecture: Architecture | None = None, nodes: int = NODES) -> float:
    """Return the test error of the best linear mixing of the tokens (Eq. 20), which no amount of data improves.

    The optimal matrix is E[Y] (Eq. 19), and the error ``(1/L) E tr[(Y - E[Y]) C (Y - E[Y])^T]``; with two independent
    tokens this is ``(sigma^2/2) E|Y - E[Y]|_F^2``.

    Parameters
    ----------
    task : Task
    architecture : Architecture, optional
        Other sentences than the standard ones. For more than four tokens the value is that of `sampled_baseline`.
    nodes : int
        Gauss-Hermite nodes for each teacher field of the standard sentences.

    Returns
    -------
    float
    """
    if architecture is not None:
        few = architecture.tokens <= ON_NODES
        return _baseline_on_nodes(task, architecture) if few else sampled_baseline(task, architecture)[0]
    return linear_test_error(task, mean_attention(task, nodes), nodes=nodes)


def mean_attention(task: Task, nodes: int = NODES) -> np.ndarray:
    """Return the teacher's mean attention E[Y] (Eq. 19), a (2, 2) array; `nodes` as for `linear_baseline`."""
    weight, _, target = _teacher(task, 1.0, nodes)
    return np.einsum("n,abn->ab", weight, target)


def linear_test_error(
    task: Task, attention, d: float = inf, length: float = 1.0, positions: bool = True, nodes: int = NODES
) -> float:
    """Return the test error of a fixed mixing matrix W, exact at finite d.

    The error (Y - W) xi is odd in xi. The encoding, which the model passes on if it reads positions, therefore adds
    ``|W p|^2/(2 d)`` and nothing else (`encoding_error`). Along Q* the entries of a token are the field y.

    Parameters
    ----------
    task : Task
    attention : (2, 2) array
        W.
    d : float
        Embedding dimension; infinite for the high-dimensional limit.
    length : float
        ``|Q*|^2/d`` of the teacher.
    positions : bool
        Whether the model reads xi + p, or xi alone.
    nodes : int
        Gauss-Hermite nodes for each of the two teacher fields.

    Returns
    -------
    float
        ``E|Y xi - W x|_F^2/(2 d)``, with x = xi where it reads no positions.
    """
    weight, z, target = _teacher(task, length, nodes)
    miss = target - np.asarray(attention)[:, :, None]  # (2, 2, nodes^2)
    bulk = weight @ (miss**2).sum((0, 1))
    along = weight @ (np.einsum("abn,bn->an", miss, z) ** 2).sum(0)
    own = task.sigma**2 * (bulk + (along - bulk) / d) / 2
    return float(own + (encoding_error(attention, d) if positions else 0))


def encoding_error(attention, d: float) -> float:
    """Return ``|W p|^2/(2 d)``: the test error that a mixing matrix W (2, 2) adds by passing on the encoding."""
    passed = np.asarray(attention) @ [1, -1]
    return float(passed @ passed) / (2 * d)


def _teacher(task, length, nodes):
    """Weights (nodes^2,), standard coordinates of both tokens along Q* (2, nodes^2), and Y (2, 2, nodes^2)."""
    x, weight = hermegauss(nodes)
    z = np.stack(np.meshgrid(x, x, indexing="ij")).reshape(2, -1)
    y = task.sigma * np.sqrt(length) * z
    soft = softmax(y[:, None] * y[None], axis=1)
    target = (1 - task.omega) * soft + task.omega * np.array(task.matrix)[:, :, None]
    return np.outer(weight, weight).ravel() / (2 * np.pi), z, target


def _teacher_part(task, y):
    """The part (n, L, L) of the teacher's attention that varies, for fields y (n, L); 1/L is taken off, which does not.

    Without it, what is left at small fields is a small number and not a small difference.
    """
    return (1 - task.omega) * (softmax(y[:, :, None] * y[:, None], axis=2) - 1 / y.shape[1])


def _baseline_on_nodes(task, architecture):
    """`linear_baseline` of few tokens, by a Gauss-Hermite rule for each."""
    count, C = architecture.tokens, architecture.covariance(task)
    x, weight = hermegauss({2: NODES, 3: 40}.get(count, 24))
    points = np.stack(np.meshgrid(*[x] * count, indexing="ij"), axis=-1).reshape(-1, count)
    weights = reduce(np.multiply.outer, [weight] * count).ravel()
    target = _teacher_part(task, points @ np.linalg.cholesky(C).T)
    weights /= weights.sum()
    centred = target - np.einsum("n,nab->ab", weights, target)
    return float(np.einsum("n,nab,bc,nac->", weights, centred, C, centred) / count)


def sampled_baseline(task: Task, architecture: Architecture, seed: int = 0) -> tuple[float, float]:
    """Return `linear_baseline` by Sobol points and its standard error, for any number of tokens.

    The points are visited part by part, so that memory grows with the tokens squared only. Of many tokens fewer points
    are needed, since the average over a sentence is one already.
    """
    count = architecture.tokens
    points = 2 ** int(np.clip(np.log2(ENTRIES / count**2), 4, 14))
    part = max(1, PART // count**2)
    if count > Sobol.MAXDIM:
        raise BadInput("tokens", count, f"at most {Sobol.MAXDIM}: Sobol points have no more dimensions")
    root, found = np.linalg.cholesky(architecture.covariance(task)).T, []
    for net in gaussian_nets(points, SCRAMBLES, seed, count):
        mean, square = 0.0, 0.0
        for start in range(0, points, part):
            target = _teacher_part(task, net[start : start + part] @ root)
            mean, square = mean + target.sum(axis=0) / points, square + np.vdot(target, target) / points
        found.append(square - np.vdot(mean, mean))
    # Rows of Y - E[Y] sum to 0, so that C acts on them as sigma^2 (1 - correlation).
    values = np.array(found) * task.sigma**2 * (1 - architecture.correlation) / count
    return float(values.mean()), standard_error(values)
