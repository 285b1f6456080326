"""One branch of the state evolution as a map in free coordinates."""

from dataclasses import dataclass

import numpy as np

from ..errors import check_choice
from ..model.architectures import STANDARD, Architecture
from ..task import Task
from . import equations
from .equations import Averages, Hats, Overlaps, Setting
from .matrices import cholesky, solve, transposed
from .warm import Rough

# Columns that overlap with the teacher, and with the positions, on each branch of each form that the theory covers.
# Where there are two that add up (rank 2), turning them into one another changes nothing; with the teacher's overlap in
# the first, q and V are diagonal by symmetry, which fixes that freedom.
OVERLAPPING = {
    "tied": {"semantic": ((1,), (0,)), "positional": ((0,), (1,)), "symmetric": ((0,), (0,))},
    "rank2": {"semantic": ((1, 0), (0, 1)), "positional": ((0, 0), (0, 1))},
    "untied": {"semantic": ((1, 1), (0, 0)), "positional": ((0, 0), (1, 1)), "symmetric": ((0, 0), (0, 0))},
}
# Coordinates beyond these belong to no solution. They keep a wild step of the solver within the range of exp.
FARTHEST, FARTHEST_SHARE = 40.0, 15.0
TINY = 1e-300  # against 0/0


@dataclass
class BranchMap:
    """One branch of one student at one alpha, for the `solver`.

    Its coordinates are the Cholesky factors of q and V, with the logarithm of their squared diagonals; the student's
    share ``t = root(q)^-1 theta/sqrt(rho)`` of the teacher's fields, stretched to ``t artanh(|t|)/|t|``; and
    m_k/sqrt(q_kk). Every point is admissible.

    fast: see `Setting`
    """

    task: Task
    alpha: float
    branch: str
    architecture: Architecture = STANDARD
    fast: bool = True

    def __post_init__(self) -> None:
        form = check_choice("architecture", self.architecture.form, tuple(OVERLAPPING))
        check_choice("branch", self.branch, tuple(OVERLAPPING[form]))
        teacher, places = OVERLAPPING[form][self.branch]
        r, self.setting = self.architecture.rank, Setting(self.task, self.architecture, self.fast)
        # Entries that are coordinates: of the Cholesky factors, of theta, and of m.
        rows, columns = np.diag_indices(r) if form == "rank2" else np.tril_indices(r)
        self.lower, self.diagonal = (np.zeros_like(rows), rows, columns), np.flatnonzero(rows == columns)
        self.teacher, self.places = np.nonzero(np.array(teacher)[None, :, None]), np.flatnonzero(places)
        self.own = slice(2 * len(rows), None)
        self.fields = self.architecture.tokens * r
        self.dimensions = self.fields + self.architecture.tokens
        # Where a column overlaps with the positions the map oscillates, with eigenvalues of -10 for the standard
        # student, and more of the old value has to be kept.
        points, near = (2**10, 1e-3) if self.setting.fast else (2**8, 1e-2)
        self.rough = Rough(points, 0.9 if any(places) or self.branch == "symmetric" else 0.5, near)

    def start(self) -> Overlaps:
        """Return overlaps inside the basin of the branch: close to the teacher, or to the positional encoding."""
        r, variance = self.architecture.rank, self.task.sigma**2
        V = 0.5 * variance / (self.task.lam * max(1.0, self.alpha)) * np.eye(r)
        m, theta = np.zeros(r), np.zeros((1, r, 1))
        theta[self.teacher], m[self.places] = 0.7 * variance, self.task.sigma / 2
        size, together = (0.8, 0.9) if self.branch == "semantic" else (0.2, 0.5)
        q = size * ((1 - together) * np.eye(r) + together)
        if self.architecture.form == "rank2":
            q = np.diag([0.8, 0.2])
        return Overlaps(variance * q[None], m, theta, V[None])

    def pack(self, overlaps: Overlaps) -> np.ndarray:
        """Return the coordinates (n,) of overlaps, or (scrambles, n) where these have a first axis of scrambles."""
        q, m, theta, V = overlaps
        roots = [cholesky(q), cholesky(V)]
        factors = [root[(..., *self.lower)] for root in roots]
        for factor in factors:
            factor[..., self.diagonal] = 2 * np.log(factor[..., self.diagonal])
        share = solve(roots[0], theta) / np.sqrt(self.setting.rho[:, None])
        size = np.sqrt((share * share).sum(-2, keepdims=True))
        share *= np.arctanh(np.minimum(size, 1 - 1e-12)) / np.maximum(size, TINY)
        places = m / np.sqrt(np.einsum("...kk->...k", q[..., 0, :, :]))
        return np.concatenate((*factors, share[(..., *self.teacher)], places[..., self.places]), axis=-1)

    def unpack(self, x: np.ndarray) -> Overlaps:
        """Return the overlaps at coordinates x (n,)."""
        r, rho, count = self.architecture.rank, self.setting.rho, len(self.lower[0])
        factors = np.array((x[:count], x[count : 2 * count]))
        factors[:, self.diagonal] = np.exp(np.minimum(np.maximum(factors[:, self.diagonal], -FARTHEST), FARTHEST) / 2)
        roots, share, m = np.zeros((2, 1, r, r)), np.zeros((1, r, rho.shape[1])), np.zeros(r)
        roots[(slice(None), *self.lower)] = factors
        own = x[2 * count :]
        share[self.teacher] = own[: len(self.teacher[0])]
        size = np.sqrt((share * share).sum(-2, keepdims=True))
        share *= np.tanh(np.minimum(size, FARTHEST_SHARE)) / np.maximum(size, TINY) * np.sqrt(rho[:, None])
        q, V = roots @ transposed(roots)
        bounded = np.minimum(np.maximum(own[len(self.teacher[0]) :], -FARTHEST_SHARE), FARTHEST_SHARE)
        m[self.places] = bounded * np.sqrt(q[0].diagonal()[self.places])
        return Overlaps(q, m, roots[0] @ share, V)

    def average(self, x: np.ndarray, points: np.ndarray, lowest: np.ndarray, anew: bool) -> Averages:
        """Return the averages at x for each scramble."""
        return equations.average(self.setting, self.unpack(x), points, lowest, anew)

    def hats(self, x: np.ndarray, averages: Averages) -> Hats:
        """Return the conjugates from the averages at x."""
        return equations.conjugates(self.setting, self.alpha, self.unpack(x), averages)

    def step(self, x: np.ndarray, averages: Averages) -> np.ndarray:
        """Return the coordinates after one step of the map from x, whose averages are given."""
        return self.pack(equations.update(self.setting, self.hats(x, averages)))

    def gain(self, x: np.ndarray, averages: Averages):
        """Return the largest gain of the overlaps that the branch holds at zero."""
        of_theta, of_m = equations.gains(self.setting, self.alpha, self.unpack(x), averages)
        held = [gain for gain, free in ((of_theta, self.teacher[0]), (of_m, self.places)) if not len(free)]
        return np.maximum(held[0], held[-1])

    def observables(self, x: np.ndarray, averages: Averages) -> dict:
        """Return test_mse, of the standard student replicon, and gain where the branch holds some overlap at zero."""
        values = {"test_mse": 2 / self.architecture.tokens * averages.test_loss}
        if self.setting.fast:
            values["replicon"] = self.alpha * averages.response
        return values if len(self.teacher[0]) and len(self.places) else values | {"gain": self.gain(x, averages)}

    def losses(self, x: np.ndarray, averages: Averages) -> tuple:
        """Return the training loss ``alpha E[ell(h*)]`` plus penalty (Eq. 14) and the free energy (Eq. 108) at x."""
        hats = self.hats(x, averages)
        free = equations.free_energy(self.setting, self.alpha, self.unpack(x), hats, averages.moreau)
        return self.alpha * averages.fitted_loss + equations.penalty(self.setting, hats), free
