"""The distance at which two copies of message passing settle: replica symmetry, and its breaking where the prox jumps.

Two copies of the iteration that share their data and their overlaps, and whose cavity fields differ by
``E(w_a - w'_a)^2 = D``, have after one more iteration ``D' = alpha V^2 E|r(w) - r(w')|^2``. The gain ``D'/D`` tends to
the replicon Lambda (Appendix B.5) as the copies come close, if the proximal point has no jumps. A jump is passed by a
share sqrt(D) of the sentences, each of which contributes a finite amount: the gain then grows like 1/sqrt(D), and the
copies cannot come closer than where it is 1.
"""

from math import sqrt

import numpy as np

from ..task import Task
from .branches import MINIMA, follow
from .quadrature import SCRAMBLES, gaussian_points, jackknife
from .rank_one.prox import all_targets, forces
from .rank_one.state_evolution import Overlaps

HALVINGS = 6  # from copies that share nothing but the teacher, down to 1/64 of their distance
OF_GAINS = 4  # points of a gain, in units of those of the overlaps


def gains(
    task: Task, alpha: float, overlaps: Overlaps, points: int = 2**13, scrambles=SCRAMBLES, seed=0, halvings=HALVINGS
) -> tuple[np.ndarray, np.ndarray]:
    """Return the gain of the distance of two copies, from large distances to small ones.

    Parameters
    ----------
    task : Task
    alpha : float
    overlaps : Overlaps
        A solution of the state evolution.
    points, scrambles, seed : int
        Quadrature, see `gaussian_points`.
    halvings : int
        Number of times that the distance is halved.

    Returns
    -------
    distances : (halvings + 1,) array
        Root mean square difference of the copies' weights, over the size of Q; descending.
    gains : (scrambles, halvings + 1) array
        D'/D of each scramble.
    """
    q, m, theta, V = overlaps
    variance = task.sigma**2
    own = sqrt(q - theta**2 / variance)  # of w, what the teacher does not share
    shares = 2.0 ** -np.arange(halvings + 1)
    means = np.array([[m], [-m]])
    found = []
    for net in gaussian_points(points, scrambles, seed, dimensions=6):
        y, noise, other = (net.T[k : k + 2] for k in (0, 2, 4))
        targets = teacher_fit(task, task.sigma * y)
        w = means + theta / task.sigma * y + own * noise
        r = forces(w, targets, V, variance)[0]
        row = []
        for share in shares:
            together = 1 - share**2  # correlation of the copies' own parts
            shift = own * ((together - 1) * noise + sqrt(1 - together**2) * other)
            moved = forces(w + shift, targets, V, variance)[0] - r
            row.append(alpha * V**2 * np.mean(np.sum(moved**2, axis=0)) / (2 * own**2 * share**2))
        found.append(row)
    return sqrt(2 / q) * own * shares, np.array(found)


def settling_distance(distances: np.ndarray, gains: np.ndarray) -> tuple[float, float]:
    """Return how close two copies come: the distance at which the gain falls through 1 with growing distance.

    Parameters
    ----------
    distances, gains : arrays
        From `gains`.

    Returns
    -------
    distance, stderr : float
        Over the size of Q, by interpolation of the logarithms. The distance is 0 where the gain is below 1 at all
        distances tried, which says nothing of smaller ones. The error is the jackknife's, over the scrambles.
    """
    value, stderr = jackknife(lambda gain: _root(distances, gain), gains)
    return value, float(stderr)


def _root(distances, gain):
    above = np.flatnonzero(gain > 1)
    if not len(above):
        return 0.0
    first = above[0]
    if first == 0:
        return float(distances[0])
    x, y = np.log(distances[[first - 1, first]]), np.log(gain[[first - 1, first]])
    return float(np.exp(x[0] - y[0] * (x[1] - x[0]) / (y[1] - y[0])))


def copies_line(line) -> list[dict]:
    """Return the rows of a `cells.CopiesCell`: along both branches, how close two copies come.

    Parameters
    ----------
    line : cells.CopiesCell

    Returns
    -------
    list of dict
        `what` (the branch), alpha, `apart` and `apart_error` of `settling_distance`, `resolved` (the smallest distance
        that was tried), and the replicon between jumps with its error.
    """
    task, rows = line.task, []
    quadrature = {"scrambles": line.scrambles, "seed": line.seed}
    for branch in MINIMA:
        for alpha, found in follow(task, branch, line.alphas, line.points, **quadrature).items():
            tried = gains(task, alpha, found.overlaps, OF_GAINS * line.points, **quadrature)
            apart, error = settling_distance(*tried)
            rows.append({
                "what": branch, "alpha": alpha, "apart": apart, "apart_error": error, "resolved": tried[0][-1],
                "replicon": found.replicon, "replicon_error": found.stderr["replicon"],
            })  # fmt: skip
    return rows


def teacher_fit(task: Task, y: np.ndarray) -> np.ndarray:
    """Return the values T_1 and T_2 (2, N) that S_11 and S_22 should have, for teacher fields y (2, N)."""
    (a11, a12), (a21, a22) = task.matrix
    return all_targets(y, task.omega, a11 - a12, a22 - a21)
