"""The branches of every architecture that the theory covers: the map of each in free coordinates (Result C.2)."""

from dataclasses import dataclass

import numpy as np

from ...errors import check_choice
from ...model.architectures import Architecture
from ...task import Task
from ..warm import Rough
from . import state_evolution as equations
from .state_evolution import Averages, GeneralHats, GeneralOverlaps

# Columns that overlap with the teacher, and with the positions, on each branch of each form that the theory covers.
# Where there are two that add up (rank 2), turning them into one another changes nothing; with the teacher's overlap in
# the first, q and chi are diagonal by symmetry, which fixes that freedom.
OVERLAPPING = {
    "tied": {"semantic": ((1,), (0,)), "positional": ((0,), (1,)), "symmetric": ((0,), (0,))},
    "rank2": {"semantic": ((1, 0), (0, 1)), "positional": ((0, 0), (0, 1))},
    "untied": {"semantic": ((1, 1), (0, 0)), "positional": ((0, 0), (1, 1)), "symmetric": ((0, 0), (0, 0))},
}
WILDEST = 14.0  # of a logarithm: beyond it the root finder has lost its way


@dataclass
class GeneralBranch:
    """One branch of one architecture at one alpha, as a `solver.Model`.

    Its coordinates are the Cholesky factors of q and chi, with the logarithm of their diagonals;
    ``t artanh(|t|)/|t|`` of the teacher's share t = root(q)^-1 theta of the fields; and mu_k/sqrt(q_kk). Every point is
    admissible.
    """

    task: Task
    alpha: float
    branch: str
    architecture: Architecture

    def __post_init__(self):
        form = check_choice("architecture", self.architecture.form, tuple(OVERLAPPING))
        check_choice("branch", self.branch, tuple(OVERLAPPING[form]))
        teacher, places = OVERLAPPING[form][self.branch]
        self.teacher, self.places, r = np.flatnonzero(teacher), np.flatnonzero(places), self.architecture.rank
        self.lower = np.diag_indices(r) if form == "rank2" else np.tril_indices(r)
        self.logarithmic = self.lower[0] == self.lower[1]
        self.own = slice(2 * len(self.lower[0]), None)
        both = np.eye(r) if form == "rank2" else np.ones((r, r))
        self.masks = GeneralHats(both, np.array(places), np.array(teacher), both)
        self.setting = equations.Setting.of(self.task, self.architecture)
        self.fields = self.architecture.tokens * r
        self.dimensions = self.fields + self.architecture.tokens
        # Where a column overlaps with the positions the map oscillates, and more of the old value has to be kept.
        self.rough = Rough(points=2**8, kept=0.9 if any(places) else 0.5, near=1e-2)

    def start(self) -> GeneralOverlaps:
        """Return overlaps inside the basin of the branch: close to the teacher, or to the positional encoding."""
        r = self.architecture.rank
        chi = 0.5 / (self.task.lam * max(1.0, self.alpha)) * np.eye(r)
        mu, theta = np.zeros((1, r)), np.zeros(r)
        theta[self.teacher], mu[0, self.places] = 0.7, self.task.sigma / 2
        if self.architecture.form == "rank2":
            return GeneralOverlaps(np.diag([0.8, 0.2]), mu, theta, chi)
        size, together = (0.8, 0.9) if self.branch == "semantic" else (0.2, 0.5)
        return GeneralOverlaps(size * ((1 - together) * np.eye(r) + together), mu, theta, chi)

    def pack(self, overlaps: GeneralOverlaps) -> np.ndarray:
        """Return the coordinates (n,) of overlaps, or (scrambles, n) where these have a first axis of scrambles."""
        q, mu, theta, chi = overlaps
        root = np.linalg.cholesky(q)
        share = np.linalg.solve(root, theta[..., None])[..., 0][..., self.teacher]
        size = np.linalg.norm(share, axis=-1, keepdims=True)
        stretch = np.where(size > 0, np.arctanh(np.minimum(size, 1 - 1e-12)) / np.maximum(size, 1e-300), 1.0)
        places = (mu[..., 0, :] / np.sqrt(np.einsum("...kk->...k", q)))[..., self.places]
        factors = [each[..., self.lower[0], self.lower[1]] for each in (root, np.linalg.cholesky(chi))]
        for factor in factors:
            factor[..., self.logarithmic] = np.log(factor[..., self.logarithmic])
        return np.concatenate((*factors, share * stretch, places), axis=-1)

    def unpack(self, x: np.ndarray) -> GeneralOverlaps:
        """Return the overlaps at coordinates x (n,)."""
        r = self.architecture.rank
        roots = np.zeros((2, r, r))
        for root, part in zip(roots, np.split(x[: self.own.start], 2)):
            root[self.lower] = np.where(self.logarithmic, np.exp(np.clip(part, -WILDEST, WILDEST)), part)
        stretched, places = np.split(x[self.own], [len(self.teacher)])
        size = np.linalg.norm(stretched)
        share, mu = np.zeros(r), np.zeros(r)
        share[self.teacher] = stretched * (min(np.tanh(size), 1 - 1e-9) / size if size > 0 else 1.0)
        q, chi = (root @ root.T for root in roots)
        mu[self.places] = places * np.sqrt(np.diag(q))[self.places]
        return GeneralOverlaps(q, mu[None], roots[0] @ share, chi)

    def average(self, x, points, lowest, anew) -> Averages:
        """Return the averages at x for each scramble, see `state_evolution.average`."""
        return equations.average(self.setting, self.unpack(x), points, lowest, anew)

    def hats(self, x, averages: Averages) -> GeneralHats:
        """Return the conjugates at x; those of overlaps held at zero are zero, but for the noise of the averages."""
        found = equations.conjugates(self.alpha, self.unpack(x), averages)
        return GeneralHats(*(mask * each for mask, each in zip(self.masks, found)))

    def step(self, x, averages: Averages) -> np.ndarray:
        """Return the coordinates after one step of the map from x, whose averages are given."""
        return self.pack(equations.update(self.setting, self.hats(x, averages)))

    def gain(self, x, averages: Averages):
        """Return the largest gain of the overlaps that the branch holds at zero."""
        blocks = zip(equations.gains(self.setting, self.alpha, self.unpack(x), averages), (self.teacher, self.places))
        return np.max([np.linalg.eigvals(each).real.max(axis=-1) for each, free in blocks if not len(free)], axis=0)

    def observables(self, x, averages: Averages) -> dict:
        """Return test_mse and, where the branch holds a kind of overlap at zero, gain at x."""
        found = {"test_mse": 2 / self.architecture.tokens * averages.test_loss}
        return found if len(self.teacher) and len(self.places) else found | {"gain": self.gain(x, averages)}

    def losses(self, x, averages: Averages) -> tuple:
        """Return ``alpha E[ell(h*)] + lambda tr(q)/2`` and the free energy at x."""
        overlaps, hats = self.unpack(x), self.hats(x, averages)
        free = equations.free_energy(self.setting, self.alpha, overlaps, hats, averages.moreau)
        return self.alpha * averages.fitted_loss + self.task.lam / 2 * np.trace(overlaps.q), free
