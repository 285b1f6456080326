"""The equations of one step of replica symmetry breaking in coordinates, and their roots on many points."""

from math import exp

import numpy as np

from ...measured import standard_error
from ...task import Task
from ..quadrature import pool
from ..rank_one.branch import RankOneBranch
from ..rank_one.state_evolution import Overlaps
from ..solver import derivatives, is_present, is_settled
from .state_evolution import InnerAverages, Valley, average, conjugates, energy, potential, update

FEW = 2**9  # points a scramble on which derivatives are taken
MORE = 4 * FEW  # if these lead nowhere, as close to where the gap closes
CHORDS = 12  # steps on all points at most
LONGEST = 1.0  # step of a coordinate


class Broken:
    """The equations of one branch at a y, in the coordinates of `RankOneBranch`, with q0 for q, and log gap."""

    def __init__(self, task: Task, alpha: float, branch: str, y: float):
        self.task, self.alpha, self.branch, self.y, self.calls = task, alpha, branch, y, 0
        self.model = RankOneBranch(task, alpha, branch)

    def pack(self, valley: Valley) -> np.ndarray:
        """Return the coordinates (n,) of order parameters, or (n, scrambles) of arrays of them."""
        q0, gap, m, theta, V, _ = valley
        return np.array([*self.model.pack(Overlaps(q0, m, theta, V)).T, np.log(np.maximum(gap, 1e-300))])

    def unpack(self, x: np.ndarray) -> Valley:
        """Return the order parameters at coordinates x (n,)."""
        q0, m, theta, V = self.model.unpack(x[:3])
        return Valley(q0, exp(min(max(x[3], -40.0), 40.0)), m, theta, V, self.y)

    def averages(self, x: np.ndarray, nets: np.ndarray) -> InnerAverages:
        """Return the averages at x for each scramble of nets (scrambles, N, 6)."""
        self.calls += 1
        return average(self.task, self.unpack(x), nets)

    def measure(self, x: np.ndarray, averages: InnerAverages) -> np.ndarray:
        """Return the displacement of the coordinates, then Phi and e: (n + 2,), or (n + 2, scrambles)."""
        valley = self.unpack(x)
        hats = conjugates(self.task, self.alpha, valley, averages)
        moved = self.pack(update(self.task, valley.y, hats))
        phi = potential(self.task, self.alpha, valley, hats, averages.free)
        return np.array([*(moved.T - x).T, phi, energy(self.task, self.alpha, valley, averages)])

    def pooled(self, x: np.ndarray, nets: np.ndarray) -> np.ndarray:
        """Return `measure` of the pooled averages at x."""
        return self.measure(x, pool(self.averages(x, nets)))


class Symmetric(Broken):
    """The replica-symmetric equations on the same points: fields split in the shares of a broken solution, y = 0."""

    def __init__(self, task: Task, alpha: float, branch: str, share: float):
        super().__init__(task, alpha, branch, 0.0)
        self.share = share  # gap/q1 of the broken solution

    def pack(self, valley: Valley) -> np.ndarray:
        q0, gap, m, theta, V, _ = valley
        return self.model.pack(Overlaps(q0 + gap, m, theta, V)).T

    def unpack(self, x: np.ndarray) -> Valley:
        q, m, theta, V = self.model.unpack(x)
        return Valley((1 - self.share) * q, self.share * q, m, theta, V, 0.0)


class Root:
    """A root of the equations near x, by Newton's method with derivatives on few points.

    With what the averages there say: phi, energy, the derivatives `slopes` (n + 2, n) of `Broken.measure`, and the
    `errors` (n,) of x. Scramble k alone has its root at x + moves[:, k], to first order.
    """

    def __init__(self, equations: Broken, x: np.ndarray, nets: np.ndarray):
        self.equations, self.settled = equations, False
        for few in sorted({min(size, nets.shape[1]) for size in (FEW, MORE)}):
            if not self.settled:
                self._approach(x, nets, few)

    def _approach(self, x, nets, few):
        equations = self.equations
        self.slopes = derivatives(lambda x: equations.pooled(x, nets[:, :few]), x)
        for _ in range(CHORDS):
            self.averages = equations.averages(x, nets)
            *displacement, self.phi, self.energy = equations.measure(x, pool(self.averages))
            each = equations.measure(x, self.averages)[:-2]
            self.moves = -np.linalg.solve(self.slopes[:-2], each - each.mean(axis=1, keepdims=True))
            self.errors = standard_error(self.moves.T)
            left = np.linalg.solve(self.slopes[:-2], displacement)
            self.x, self.residual = x, float(np.abs(displacement).max())
            self.settled = is_settled(self.residual, left, self.errors)
            if self.settled or not np.isfinite(left).all():
                break
            x = x - left / max(1.0, np.abs(left).max() / LONGEST)

    @property
    def valley(self) -> Valley:
        return self.equations.unpack(self.x)

    @property
    def present(self) -> bool:
        """Whether the own overlap of the branch differs from zero."""
        return is_present(self.x[2:3], self.errors[2:3])
