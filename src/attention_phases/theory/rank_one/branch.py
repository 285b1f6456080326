"""The branches of the rank-one student: the map of each in free coordinates (Result 4.2)."""

from dataclasses import dataclass
from math import exp, sqrt, tanh
from typing import ClassVar

import numpy as np

from ...errors import check_choice
from ...task import Task
from ..warm import Rough
from .state_evolution import Averages, Hats, Overlaps, average, conjugates, free_energy, gain, update

HELD = {"semantic": ("m",), "positional": ("theta",), "symmetric": ("m", "theta")}  # at zero
# Coordinates beyond these belong to no solution. The bounds keep a wild step of the solver within the range of exp and
# artanh.
FARTHEST = (40.0, 40.0, 15.0)


@dataclass
class RankOneBranch:
    """One branch of the standard student at one alpha, as a `solver.Model`.

    Its coordinates are log q, log V and, for the overlap that the branch is named after, artanh(theta/sqrt(rho q)) or
    m/sqrt(q): every point is admissible.
    """

    task: Task
    alpha: float
    branch: str

    fields: ClassVar[int] = 2
    dimensions: ClassVar[int] = 4
    own: ClassVar[slice] = slice(2, None)

    def __post_init__(self):
        check_choice("branch", self.branch, tuple(HELD))

    @property
    def rough(self) -> Rough:
        """How to come near the fixed point; on the positional branch the eigenvalues of the map reach -10."""
        return Rough(points=2**10, kept=0.5 if self.branch == "semantic" else 0.9, near=1e-3)

    def start(self) -> Overlaps:
        """Return overlaps inside the basin of the branch: close to the teacher, or to the positional encoding."""
        rho = self.task.sigma**2
        V = 0.5 * rho / (self.task.lam * max(1.0, self.alpha))
        return {
            "semantic": Overlaps(q=0.8 * rho, m=0.0, theta=0.7 * rho, V=V),
            "positional": Overlaps(q=0.2 * rho, m=sqrt(rho) / 2, theta=0.0, V=V),
            "symmetric": Overlaps(q=0.2 * rho, m=0.0, theta=0.0, V=V),
        }[self.branch]

    def pack(self, overlaps: Overlaps) -> np.ndarray:
        """Return the coordinates (n,) of overlaps, or (scrambles, n) of arrays of them."""
        q, m, theta, V = overlaps
        own = {
            "semantic": [np.arctanh(theta / np.sqrt(self.task.sigma**2 * q))],
            "positional": [m / np.sqrt(q)],
            "symmetric": [],
        }
        return np.array([np.log(q), np.log(V), *own[self.branch]]).T

    def unpack(self, x: np.ndarray) -> Overlaps:
        """Return the overlaps at coordinates x (n,)."""
        log_q, log_V, *own = (min(max(each, -most), most) for each, most in zip(x.tolist(), FARTHEST))
        q, V = exp(log_q), exp(log_V)
        m = sqrt(q) * own[0] if self.branch == "positional" else 0.0
        theta = sqrt(self.task.sigma**2 * q) * tanh(own[0]) if self.branch == "semantic" else 0.0
        return Overlaps(q, m, theta, V)

    def average(self, x, points, lowest, anew) -> Averages:
        """Return the averages at x for each scramble, see `state_evolution.average`."""
        return average(self.task, self.unpack(x), points, lowest, anew)

    def hats(self, x, averages: Averages) -> Hats:
        """Return the conjugates from the averages at x."""
        return conjugates(self.task, self.alpha, self.unpack(x), averages)

    def step(self, x, averages: Averages) -> np.ndarray:
        """Return the coordinates after one step of the map from x, whose averages are given."""
        return self.pack(update(self.task, self.hats(x, averages)))

    def gain(self, x, averages: Averages):
        """Return the gain of the overlap that the branch holds at zero, the larger one of two."""
        held = [gain(self.task, self.alpha, self.unpack(x), averages, name) for name in HELD[self.branch]]
        return np.maximum(held[0], held[-1])

    def observables(self, x, averages: Averages) -> dict:
        """Return test_mse, replicon and gain at x."""
        replicon = self.alpha * averages.response
        return {"test_mse": averages.test_loss, "replicon": replicon, "gain": self.gain(x, averages)}

    def losses(self, x, averages: Averages) -> tuple:
        """Return ``alpha E[ell(h*)] + lambda q/(2 sigma^2)`` (Eq. 14) and the free energy (Eq. 108) at x."""
        overlaps, hats = self.unpack(x), self.hats(x, averages)
        penalty = self.task.lam * overlaps.q / (2 * self.task.sigma**2)
        free = free_energy(self.task, self.alpha, overlaps, hats, averages.moreau)
        return self.alpha * averages.fitted_loss + penalty, free
