"""Linear stability of message passing: tail of the replicon, collective modes, contraction of a perturbation."""

from math import comb, sqrt

import numpy as np

from ..measured import standard_error
from ..task import Task
from .copies import teacher_fit
from .quadrature import SCRAMBLES, gaussian_points, jackknife
from .rank_one.branch import RankOneBranch
from .rank_one.prox import forces
from .rank_one.state_evolution import Overlaps
from .solver import derivatives
from .warm import Net

TAIL = 100  # largest values of |dr/dw|^2, of each scramble, whose decay shows the tail


def tail(task: Task, alpha: float, overlaps: Overlaps, points: int, scrambles=SCRAMBLES, seed=0) -> dict[str, float]:
    """Return the sample mean of the replicon at a number of points, and the index of its tail.

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
        `replicon` and `index`, with `replicon_error` and `index_error`: the mean of ``alpha V^2 |dr/dw|_F^2`` between
        jumps, and Hill's estimate of b in ``P(|dr/dw|^2 > t) ~ t^-b`` from the `TAIL` largest values of each scramble.
        The variance exists for b > 2, the mean for b > 1.
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
    errors = {f"{name}_error": standard_error(each) for name, each in both.items()}
    return {name: float(np.mean(each)) for name, each in both.items()} | errors


def modes(
    task: Task, alpha: float, branch: str, overlaps: Overlaps, points: int = 2**12, scrambles=SCRAMBLES, seed=0
) -> tuple[np.ndarray, np.ndarray]:
    """Return the eigenvalues of the state-evolution map within its branch: the factors of collective deviations.

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
        The largest modulus first. The overlap that the branch holds at zero has its own factor, `Solution.gain`.
    """
    model = RankOneBranch(task, alpha, branch)
    x, net = model.pack(overlaps), Net(gaussian_points(points, scrambles, seed), model.fields)
    net.averages(model, x)  # searches in the middle
    jacobians = derivatives(lambda x: model.step(x, net.averages(model, x)), x)  # (scrambles, to, from)
    return jackknife(
        lambda each: np.array(sorted(np.linalg.eigvals(each), key=lambda v: (-abs(v), -v.imag))), jacobians
    )


def contraction(replicon: float, damping: float, steps: int) -> np.ndarray:
    """Return the size of a small random perturbation of message passing, over that at the start, by iteration.

    Undamped steps turn a random perturbation into fresh ones, orthogonal to each other, of squared sizes Lambda^k.
    After t damped steps it is the sum over k of binomial(t, k) kappa^(t-k) (1-kappa)^k times the k-th, so that its
    squared size is the sum of the squares. For large t it falls by kappa + (1 - kappa) sqrt(Lambda) a step.

    Parameters
    ----------
    replicon : float
        Lambda.
    damping : float
        kappa, the share of the old state that is kept.
    steps : int

    Returns
    -------
    (steps + 1,) array
    """
    return np.array([
        sqrt(sum((comb(t, k) * damping ** (t - k) * (1 - damping) ** k) ** 2 * replicon**k for k in range(t + 1)))
        for t in range(steps + 1)
    ])  # fmt: skip
