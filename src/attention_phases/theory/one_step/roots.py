"""The equations of one step of replica symmetry breaking in coordinates, and their roots on many points."""

from dataclasses import dataclass
from math import exp
from typing import ClassVar, NamedTuple

import numpy as np

from ...measured import standard_error
from ...task import Task
from ..quadrature import pool
from ..solver import derivatives, displacement, is_present, is_settled
from ..standard import Overlaps, StandardBranch
from ..warm import Net
from .equations import InnerAverages, Valley, average, conjugates, energy, potential, update

FEW = 2**9  # points a scramble on which derivatives are taken
MORE = 4 * FEW  # if these lead nowhere, as close to where the gap closes
CHORDS = 12  # steps on all points at most
LONGEST = 1.0  # step of a coordinate


@dataclass
class BrokenBranch:
    """One branch at one alpha and y, as a `solver.Model`.

    Its coordinates are those of `StandardBranch`, with q0 for q, and log gap.
    """

    task: Task
    alpha: float
    branch: str
    y: float

    dimensions: ClassVar[int] = 6
    own: ClassVar[slice] = slice(2, 3)

    def __post_init__(self):
        self.symmetric = StandardBranch(self.task, self.alpha, self.branch)

    def pack(self, valley: Valley) -> np.ndarray:
        """Return the coordinates (n,) of order parameters, or (scrambles, n) of arrays of them."""
        x = self.symmetric.pack(Overlaps(valley.q0, valley.m, valley.theta, valley.V))
        return np.array([*x.T, np.log(np.maximum(valley.gap, 1e-300))]).T

    def unpack(self, x: np.ndarray) -> Valley:
        """Return the order parameters at coordinates x (n,)."""
        q0, m, theta, V = self.symmetric.unpack(x[:3])
        return Valley(q0, exp(min(max(x[3], -40.0), 40.0)), m, theta, V, self.y)

    def average(self, x: np.ndarray, points: np.ndarray) -> InnerAverages:
        """Return the averages at x for each scramble of points (scrambles, N, 6)."""
        return average(self.task, self.unpack(x), points)

    def step(self, x: np.ndarray, averages: InnerAverages) -> np.ndarray:
        """Return the coordinates after one step of the map from x, whose averages are given."""
        return self.pack(update(self.task, self.y, conjugates(self.task, self.alpha, self.unpack(x), averages)))

    def losses(self, x: np.ndarray, averages: InnerAverages) -> tuple:
        """Return e and Phi at x."""
        valley = self.unpack(x)
        hats = conjugates(self.task, self.alpha, valley, averages)
        phi = potential(self.task, self.alpha, valley, hats, averages.free)
        return energy(self.task, self.alpha, valley, averages), phi


@dataclass
class SplitBranch(BrokenBranch):
    """The replica-symmetric equations on the same points: fields split in the shares of a broken solution, y = 0."""

    share: float  # gap/q1 of the broken solution

    def pack(self, valley: Valley) -> np.ndarray:
        return self.symmetric.pack(Overlaps(valley.q0 + valley.gap, valley.m, valley.theta, valley.V))

    def unpack(self, x: np.ndarray) -> Valley:
        q, m, theta, V = self.symmetric.unpack(x)
        return Valley((1 - self.share) * q, self.share * q, m, theta, V, 0.0)


class Root(NamedTuple):
    """A root of the equations of a branch on all points, and what the averages there say.

    Scramble k alone has its root at ``x + moves[:, k]``, and its energy is ``energies[k]``, to first order.
    """

    model: BrokenBranch
    x: np.ndarray  # (n,)
    averages: InnerAverages
    energy: float
    phi: float
    moves: np.ndarray  # (n, scrambles)
    energies: np.ndarray  # (scrambles,)
    log_y: np.ndarray  # (scrambles,), by how much each moves log y; zeros where y is given
    residual: float
    settled: bool
    present: bool  # whether the own overlap of the branch differs from zero

    @property
    def valley(self) -> Valley:
        return self.model.unpack(self.x)

    @property
    def phis(self) -> np.ndarray:
        """Phi of each scramble (scrambles,), but for a constant: Phi is stationary in the order parameters."""
        return self.model.alpha * self.averages.free


class ColdNet(Net):
    """Points of a quadrature without warm starts: the minima of all inner points would be too many to keep."""

    def averages(self, model: BrokenBranch, x: np.ndarray, anew: bool = True) -> InnerAverages:
        """Return averages at x for each scramble."""
        self.calls += 1
        return model.average(x, self.points)


def nested_nets(points: np.ndarray) -> list[ColdNet]:
    """Return nets of the first `FEW` and `MORE` points a scramble, and last of all points (scrambles, N, 6)."""
    sizes = sorted({min(size, points.shape[1]) for size in (FEW, MORE)})
    return [ColdNet(points[:, :size], fields=0) for size in (*sizes, points.shape[1])]


def find_root(model: BrokenBranch, x: np.ndarray, nets: list[ColdNet]) -> Root:
    """Return the root on the last of `nested_nets`, near x (n,), by Newton's method with derivatives on a smaller one.

    The next larger net serves where the derivatives on one lead nowhere.
    """
    *smaller, whole = nets
    for net in smaller:

        def displacement_and_energy(x, net=net):
            displaced, averages = displacement(model, x, net)
            return np.array([*displaced, model.losses(x, pool(averages))[0]])

        root = _by_chords(model, x, derivatives(displacement_and_energy, x), whole)
        if root.settled:
            break
    return root


def _by_chords(model, x, slopes, net):
    """The root to which steps with given `slopes` of displacement and energy (n + 1, n) lead from x, or their end."""
    jacobian, energy_slope = slopes[:-1], slopes[-1]
    for _ in range(CHORDS):
        displaced, averages = displacement(model, x, net)
        images = model.step(x, averages)
        moves = -np.linalg.solve(jacobian, (images - images.mean(axis=0)).T)
        left = np.linalg.solve(jacobian, displaced)
        errors, residual = standard_error(moves.T), float(np.abs(displaced).max())
        root = Root(
            model,
            x,
            averages,
            *model.losses(x, pool(averages)),
            moves=moves,
            energies=model.alpha * averages.fitted_loss + energy_slope @ moves,
            log_y=np.zeros(len(images)),
            residual=residual,
            settled=is_settled(residual, left, errors),
            present=is_present(x[model.own], errors[model.own]),
        )
        if root.settled or not np.isfinite(left).all():
            break
        x = x - left / max(1.0, np.abs(left).max() / LONGEST)
    return root
