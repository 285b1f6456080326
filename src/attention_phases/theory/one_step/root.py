"""The equations of one step of replica symmetry breaking in coordinates, and their roots on many points."""

from math import exp, sqrt

import numpy as np

from ..rank_one.fixed_point import STEP, TOLERANCE, UNRESOLVED, Evolution
from ..rank_one.state_evolution import Overlaps
from .state_evolution import InnerAverages, Valley, average, conjugates, energy, potential, update

FEW = 2**9  # points a scramble on which derivatives are taken
CHORDS = 12  # steps on all points at most


class Broken:
    """The equations of one branch at a y, in the coordinates of `Evolution`, with q0 for q, and log gap."""

    def __init__(self, task, alpha, branch, y):
        self.task, self.alpha, self.branch, self.y, self.calls = task, alpha, branch, y, 0
        self.evolution = Evolution(task, alpha, branch)

    def coordinates(self, valley):
        q0, gap, m, theta, V, _ = valley
        return np.array([*self.evolution.coordinates(Overlaps(q0, m, theta, V)), np.log(np.maximum(gap, 1e-300))])

    def valley(self, x):
        q0, m, theta, V = self.evolution.overlaps(x[:3])
        return Valley(q0, exp(min(max(x[3], -40.0), 40.0)), m, theta, V, self.y)

    def averages(self, x, nets):
        self.calls += 1
        return average(self.task, self.valley(x), nets)

    def measure(self, x, averages):
        """Displacement of the coordinates, then Phi and e."""
        valley = self.valley(x)
        hats = conjugates(self.task, self.alpha, valley, averages)
        moved = self.coordinates(update(self.task, valley.y, hats))
        phi = potential(self.task, self.alpha, valley, hats, averages.free)
        return np.array([*(moved.T - x).T, phi, energy(self.task, self.alpha, valley, averages)])

    def displacement(self, x, nets):
        return self.measure(x, pool(self.averages(x, nets)))[:-2]


class Symmetric(Broken):
    """The replica-symmetric equations on the same points: fields split in the shares of a broken solution, y = 0."""

    def __init__(self, task, alpha, branch, share):
        super().__init__(task, alpha, branch, 0.0)
        self.share = share  # gap/q1

    def coordinates(self, valley):
        q0, gap, m, theta, V, _ = valley
        return self.evolution.coordinates(Overlaps(q0 + gap, m, theta, V))

    def valley(self, x):
        q, m, theta, V = self.evolution.overlaps(x)
        return Valley((1 - self.share) * q, self.share * q, m, theta, V, 0.0)


class Root:
    """A root near `x`, by Newton's method with derivatives on few points, and what the averages there say.

    Scramble k alone has its root at x + moves[:, k], to first order, as in `fixed_point`.
    """

    def __init__(self, equations, x, nets):
        self.equations, few = equations, nets[:, :FEW]
        sides = [[equations.measure(each, pool(equations.averages(each, few))) for each in (x + shift, x - shift)]
                 for shift in STEP * np.eye(len(x))]  # fmt: skip
        self.slopes = np.array([(above - below) / (2 * STEP) for above, below in sides]).T  # over a jump or two
        for _ in range(CHORDS):
            self.averages = equations.averages(x, nets)
            *displacement, self.phi, self.energy = equations.measure(x, pool(self.averages))
            each = equations.measure(x, self.averages)[:-2]
            self.moves = -np.linalg.solve(self.slopes[:-2], each - each.mean(axis=1, keepdims=True))
            self.errors = np.std(self.moves, axis=1, ddof=1) / sqrt(len(nets))
            left = np.linalg.solve(self.slopes[:-2], displacement)
            self.x, self.residual = x, float(np.abs(displacement).max())
            self.settled = self.residual <= TOLERANCE or bool((np.abs(left) <= UNRESOLVED * self.errors).all())
            if self.settled or not np.isfinite(left).all():
                break
            x = x - left

    @property
    def valley(self):
        return self.equations.valley(self.x)


def pool(averages):
    return InnerAverages(*(float(each.mean()) for each in averages))
