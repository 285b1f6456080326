"""The beginning of training from small weights: the Hessian of the risk at Q = 0, and the growth of overlaps.

The risk is even in Q, so its gradient vanishes at Q = 0. To second order a sentence with fields h adds ``h^T B h/2``,
B = ((2c_1, -c_1-c_2), (-c_1-c_2, 2c_2)) with ``c_a = sigma^2 (1/2 - Y_aa)/2``. Gradient descent is linear there:
``dQ/dt = -H Q`` with ``H = lambda + sum x^T B x/d``. In the basis of the eigenvectors of B, each sentence is two
independent rows with weights b. In the limit of large d the resolvent G(z) of H - lambda solves
``z = 1/G + alpha E sum sigma^2 b/(1 - sigma^2 b G)``. Along 1_d a row has a nonzero mean, and along Q* it has a
variance that depends on b. Let s be the mean square of the row along this direction, minus sigma^2. The diagonal
element of the resolvent in this direction is then ``1/(1/G - alpha E sum s b/(1 - sigma^2 b G))``. A pole outside the
bulk of the spectrum is an eigenvalue of H whose eigenvector has a finite overlap with the direction.
"""

from math import nan
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from ..measured import Measured
from ..quadrature import gaussian_points
from ..task import Task
from ..theory.equations import hessians, teacher_fit

DIRECTIONS = ("positional", "semantic")  # the directions of 1_d and of Q*
# Grid of values of the resolvent for finding the edge of the spectrum, in units of the largest value.
PLACES = np.geomspace(1e-5, 1, 1000, endpoint=False)
POINTS, NETS = 2**10, 8  # number of points per scramble, and of scrambles, in a quadrature
# Number of points on the upper half of a contour around the spectrum, and of iterations for the resolvent at a point.
CONTOUR, ITERATIONS = 32, 60


def rows(task: Task, normal: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Diagonalise the contribution of each sentence to the Hessian at Q = 0.

    The three results (N, 2) belong to the two rows of each sentence: the weights b, and s along 1_d and along Q*.

    normal: the teacher's fields of these sentences divided by sigma, (2, N)
    """
    task.check_unstructured()
    y = task.sigma * normal
    weights, axes = np.linalg.eigh(hessians(np.zeros_like(y), teacher_fit(task, y), task.sigma**2))
    along = np.einsum("nak,an->nk", axes, y)
    return weights, (task.encoding * (axes[:, 0] - axes[:, 1])) ** 2, along**2 - task.sigma**2


class Beginning(NamedTuple):
    """Predictions for the first steps of training at one alpha, in the limit of large d.

    They are averages over a finite number of sentences.
    """

    task: Task  #: teacher, data and penalty
    alpha: float  #: sample complexity
    weights: np.ndarray  #: weights b (N, 2), see `rows`
    positional: np.ndarray  #: s along 1_d, (N, 2)
    semantic: np.ndarray  #: s along Q*, (N, 2)

    def means(self, signal: np.ndarray, G: np.ndarray | float) -> np.ndarray:
        """Compute the average over sentences that the equations of the resolvent need.

        It is ``alpha E sum signal b/(1 - sigma^2 b G)``. `signal` is (N, 2), and G (k,) has values of the resolvent.
        """
        b = self.weights
        terms = signal * b / (1 - self.task.sigma**2 * b * np.reshape(G, (-1, 1, 1)))
        return self.alpha * terms.sum((1, 2)) / len(b)

    def bulk(self, G: np.ndarray | float) -> np.ndarray:
        """Return ``z - 1/G``, where z is the point at which the resolvent of the bulk has the value G.

        G is a number or (k,).
        """
        return self.means(np.array(self.task.sigma**2), G)

    def leaving(self, side: int) -> dict[str, float]:
        """Return one edge of the bulk spectrum of H - lambda, and the eigenvalues beyond this edge.

        The edge is the lower one if `side` is -1, and the upper one if it is 1. "bulk" is the edge of the bulk.
        "positional" and "semantic" are the eigenvalues beyond this edge whose eigenvectors have a finite overlap with
        1_d and with Q*; they are NaN if there are none.
        """
        grid = PLACES / (self.task.sigma**2 * (self.weights.min() if side < 0 else self.weights.max()))
        values = {"bulk": grid[np.argmin(side * (1 / grid + self.bulk(grid)))]}
        for name in DIRECTIONS:
            signal = getattr(self, name)

            def pole(G, signal=signal):
                return 1 / G - self.means(signal, G).item()

            outside = side * pole(values["bulk"]) < 0
            values[name] = brentq(pole, values["bulk"], grid[0]) if outside else nan
        return {name: 1 / G + self.bulk(G).item() for name, G in values.items()}

    def squares(self, rate: float, steps: np.ndarray) -> dict[str, np.ndarray]:
        """Return the factors by which linearised gradient descent scales the mean square of random initial weights.

        A factor is that of all steps together. The numbers of steps and each factor are (k,). The mean squares are
        along 1_d ("positional"), along Q* ("semantic"), and along any other direction ("bulk"). Each factor is the mean
        of ``(1 - rate (lambda + z))^(2 steps)`` over the spectrum in this direction, computed with Cauchy's formula.
        """
        radius = 1.5 * np.nanmax(np.abs([list(self.leaving(side).values()) for side in (-1, 1)]))
        z = radius * np.exp(1j * np.pi * (np.arange(CONTOUR) + 0.5) / CONTOUR)
        G = 1 / z
        for _ in range(ITERATIONS):
            G = 1 / (z - self.bulk(G))
        powers = (1 - rate * (self.task.lam + z)) ** (2 * np.asarray(steps)[:, None])
        resolvents = {name: 1 / (1 / G - self.means(getattr(self, name), G)) for name in DIRECTIONS} | {"bulk": G}
        return {name: (powers * resolvent * z).mean(1).real for name, resolvent in resolvents.items()}


def beginnings(task: Task, alpha: float, points: int = POINTS) -> list[Beginning]:
    """Return predictions for the start of training, one `Beginning` for each scrambled set of quadrature points.

    The spread of the predictions over the scrambles gives standard errors.
    """
    return [Beginning(task, alpha, *rows(task, net.T)) for net in gaussian_points(points, NETS, dimensions=2)]


def growth_rates(task: Task, alpha: float, points: int = POINTS) -> dict[str, Measured]:
    """Return the growth rates of small weights, which are minus the lowest eigenvalues of the Hessian.

    See `Beginning.leaving` for these eigenvalues.
    """
    lowest = [beginning.leaving(-1) for beginning in beginnings(task, alpha, points)]
    return {name: Measured.mean([-task.lam - ends[name] for ends in lowest]) for name in ("bulk", *DIRECTIONS)}


def growing_cosines(task: Task, alpha: float, d: int, rate: float, steps: np.ndarray) -> dict[str, np.ndarray]:
    """Predict how linearised gradient descent turns small random weights towards 1_d and towards Q*.

    The results are root mean square cosines with 1_d and with Q*. Each of them is (k,), as `steps`.
    """
    by_scramble = [beginning.squares(rate, steps) for beginning in beginnings(task, alpha)]
    squares = {name: np.mean([values[name] for values in by_scramble], axis=0) for name in by_scramble[0]}
    size = (d - 2) * squares["bulk"] + squares["positional"] + squares["semantic"]
    return {name: np.sqrt(squares[name] / size) for name in DIRECTIONS}
