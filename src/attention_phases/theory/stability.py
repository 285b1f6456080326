"""Linear stability of message passing: the replicon's tail, collective modes, and how a perturbation contracts."""

from math import comb, sqrt

import numpy as np

from .copies import teacher_fit
from .quadrature import SCRAMBLES, gaussian_points
from .rank_one.fixed_point import FIELDS, STEP, Evolution
from .rank_one.prox import forces
from .warm import Net

TAIL = 100  # largest values of |dr/dw|^2, of each scramble, whose decay tells the tail


def tail(task, alpha, overlaps, points, scrambles=SCRAMBLES, seed=0):
    """Sample mean of the replicon at a number of points, and how heavy its tail is.

    Parameters
    ----------
    task : Task
    alpha : float
    overlaps : Overlaps
    points, scrambles, seed : int
        Quadrature, see `gaussian_points`.

    Returns
    -------
    dict
        `replicon` and `index`, each with its error: the mean of ``alpha V^2 |dr/dw|_F^2`` between jumps, and Hill's
        estimate of b in ``P(|dr/dw|^2 > t) ~ t^-b`` from the `TAIL` largest values of each scramble. The variance
        exists for b > 2, the mean for b > 1.
    """
    q, m, theta, V = overlaps
    means, indices = [], []
    for net in gaussian_points(points, scrambles, seed):
        y, noise = net.T[:2], net.T[2:]
        own = sqrt(q - theta**2 / task.sigma**2)
        w = np.array([[m], [-m]]) + theta / task.sigma * y + own * noise
        square = forces(w, teacher_fit(task, task.sigma * y), V, task.sigma**2)[2]
        largest = np.sort(square)[-TAIL - 1 :]
        means.append(alpha * V**2 * square.mean())
        indices.append(1 / np.mean(np.log(largest[1:] / largest[0])))
    both = {"replicon": means, "index": indices}
    errors = {f"{name}_error": np.std(each, ddof=1) / sqrt(scrambles) for name, each in both.items()}
    return {name: float(np.mean(each)) for name, each in both.items()} | errors


def modes(task, alpha, branch, overlaps, points=2**12, scrambles=SCRAMBLES, seed=0):
    """Eigenvalues of the state-evolution map within its branch: what a step multiplies collective deviations by.

    Parameters
    ----------
    task : Task
    alpha : float
    branch : {"semantic", "positional"}
    overlaps : Overlaps
        A solution on it.
    points, scrambles, seed : int
        Quadrature, see `gaussian_points`.

    Returns
    -------
    values, errors : (3,) arrays
        The largest modulus first. The overlap that the branch holds at zero has its own, `Solution.gain`.
    """
    evolution = Evolution(task, alpha, branch)
    x, net = evolution.coordinates(overlaps), Net(gaussian_points(points, scrambles, seed), FIELDS)
    evolution.averages(x, net)
    slopes = [
        (evolution.step(x + shift, evolution.averages(x + shift, net))
         - evolution.step(x - shift, evolution.averages(x - shift, net))) / (2 * STEP)
        for shift in STEP * np.eye(3)
    ]  # fmt: skip
    jacobians = np.array(slopes).transpose(2, 1, 0)  # (scrambles, to, from)
    whole = [jacobians.mean(axis=0), *((jacobians.sum(axis=0) - each) / (scrambles - 1) for each in jacobians)]
    value, *others = ([*sorted(np.linalg.eigvals(each), key=lambda v: (-abs(v), -v.imag))] for each in whole)
    deviations = np.abs(np.array(others) - np.mean(others, axis=0)) ** 2
    return np.array(value), np.sqrt((scrambles - 1) / scrambles * deviations.sum(axis=0))


def contraction(replicon, damping, steps):
    """Size of a small random perturbation of message passing, over that at the start.

    Undamped steps turn a random perturbation into fresh ones, orthogonal to each other, of squared sizes Lambda^k.
    After t damped steps it is the sum over k of binomial(t, k) kappa^(t-k) (1-kappa)^k times the k-th, so that its
    squared size is the sum of the squares. For large t it falls by kappa + (1 - kappa) sqrt(Lambda) a step.

    Parameters
    ----------
    replicon : float
    damping : float
        kappa.
    steps : int

    Returns
    -------
    (steps + 1,) array
    """
    return np.array([
        sqrt(sum((comb(t, k) * damping ** (t - k) * (1 - damping) ** k) ** 2 * replicon**k for k in range(t + 1)))
        for t in range(steps + 1)
    ])  # fmt: skip
