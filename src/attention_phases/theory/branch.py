"""One branch of the state evolution as a map in free coordinates, averaged from known minima and iterated to its end.

A search for all proximal points takes about ten times as long as a descent from minima that are nearly right. Averages
therefore start from the minima of the last search as long as the coordinates stay near it. Beside the lowest minimum of
each point the second lowest is kept: where the prox jumps, the two change their order. Where the valley is so flat that
a new minimum may have appeared, the point is searched anyway. The fixed point is always confirmed by one more search,
and the iteration goes on if that search disagrees.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np

from ..errors import check_choice
from ..measured import standard_error
from ..model.architectures import STANDARD, Architecture
from ..task import Task
from . import equations
from .equations import Averages, Overlaps
from .setting import TINY, Hats, Setting, cholesky, solve_linear

# Of each form that the theory covers, by branch: which column of the teacher, counted from 1, each column of the
# student overlaps with, and whether it does with the positions. Where two add up (rank 2), turning them into one
# another changes nothing; with different overlaps, q and V are diagonal by symmetry, which fixes that freedom.
OVERLAPPING = {
    "tied": {"semantic": ((1,), (0,)), "positional": ((0,), (1,)), "symmetric": ((0,), (0,))},
    "rank2": {"semantic": ((1, 0), (0, 1)), "positional": ((0, 0), (0, 1)), "both": ((1, 2), (0, 0))},
    "untied": {"semantic": ((1, 1), (0, 0)), "positional": ((0, 0), (1, 1)), "symmetric": ((0, 0), (0, 0))},
}
# Coordinates beyond these belong to no solution. They keep a wild step of the solver within the range of exp.
FARTHEST, FARTHEST_SHARE = 40.0, 15.0
REACH = 0.05  # in any coordinate
PULL_ERRORS = 8  # standard errors: of few scrambles these are known to a quarter
ROUNDS = 6


@dataclass
class BranchMap:
    """One branch of one student at one alpha, for the `solver`.

    Its coordinates are the Cholesky factors of q and V, with the logarithm of their squared diagonals; the student's
    share ``t = root(q)^-1 theta/sqrt(rho)`` of the teacher's fields, stretched to ``t artanh(|t|)/|t|``; and
    m_k/sqrt(q_kk). Every point is admissible.
    """

    task: Task  #: what is to be learnt
    alpha: float  #: sample complexity
    branch: str  #: its name
    architecture: Architecture = STANDARD  #: the student and its sentences
    general: bool = False  #: see `Setting`

    def __post_init__(self) -> None:
        self.setting = Setting(self.task, self.architecture, self.general)
        form = check_choice("architecture", self.architecture.form, tuple(OVERLAPPING))
        r, (laws, teachers) = self.architecture.rank, self.setting.rho.shape
        branches = [name for name, (along, _) in OVERLAPPING[form].items() if max(along) <= teachers]
        along, places = OVERLAPPING[form][check_choice("branch", self.branch, branches)]
        # Entries that are coordinates: of the Cholesky factors of each law, of theta, and of m.
        rows, columns = np.diag_indices(r) if self.architecture.rotates else np.tril_indices(r)
        self.lower = np.repeat(np.arange(laws), len(rows)), np.tile(rows, laws), np.tile(columns, laws)
        self.diagonal = np.flatnonzero(self.lower[1] == self.lower[2])
        self.teacher = np.nonzero([np.equal.outer(along, np.arange(1, teachers + 1))] * laws)
        self.places = np.flatnonzero(places)
        self.own = slice(2 * len(self.lower[0]), None)
        self.fields, self.dimensions = self.setting.fields, self.setting.dimensions
        # Where a column overlaps with the positions the map oscillates, with eigenvalues of -10 for the standard
        # student, and more of the old value has to be kept.
        points, near = (2**10, 1e-3) if self.setting.fast else (2**8, 1e-2)
        self.rough = Rough(points, 0.9 if any(places) or self.branch == "symmetric" else 0.5, near)

    def start(self) -> Overlaps:
        """Return overlaps inside the basin of the branch: close to the teacher, or to the positional encoding."""
        r, rho = self.architecture.rank, self.setting.rho
        largest = rho.max(axis=1)[:, None, None]
        V = 0.5 * self.setting.shares.sum(axis=0)[:, None, None] / (self.task.lam * max(1.0, self.alpha)) * np.eye(r)
        m, theta = np.zeros(r), np.zeros((len(rho), r, rho.shape[1]))
        theta[self.teacher] = (0.7 * np.sqrt(largest * rho[:, None]) * np.ones_like(theta))[self.teacher]
        m[self.places] = np.sqrt(rho.max()) / 2
        size, together = (0.8, 0.9) if self.branch == "semantic" else (0.2, 0.5)
        q = size * ((1 - together) * np.eye(r) + together)
        if self.architecture.rotates:
            q = np.diag([0.8, 0.8 if self.branch == "both" else 0.2])
        return Overlaps(largest * q, m, theta, V)

    def pack(self, overlaps: Overlaps) -> np.ndarray:
        """Return the coordinates (n,) of overlaps, or (scrambles, n) where these have a first axis of scrambles."""
        q, m, theta, V = overlaps
        roots = [cholesky(q), cholesky(V)]
        factors = [root[(..., *self.lower)] for root in roots]
        for factor in factors:
            factor[..., self.diagonal] = 2 * np.log(factor[..., self.diagonal])
        share = solve_linear(roots[0], theta) / np.sqrt(self.setting.rho[:, None])
        size = np.sqrt((share * share).sum(-2, keepdims=True))
        share *= np.arctanh(np.minimum(size, 1 - 1e-12)) / np.maximum(size, TINY)
        places = m / np.sqrt(np.einsum("...kk->...k", q[..., 0, :, :]))
        return np.concatenate((*factors, share[(..., *self.teacher)], places[..., self.places]), axis=-1)

    def unpack(self, x: np.ndarray) -> Overlaps:
        """Return the overlaps at coordinates x (n,)."""
        r, rho, count = self.architecture.rank, self.setting.rho, len(self.lower[0])
        laws, teachers = rho.shape
        factors = np.array((x[:count], x[count : 2 * count]))
        factors[:, self.diagonal] = np.exp(np.minimum(np.maximum(factors[:, self.diagonal], -FARTHEST), FARTHEST) / 2)
        roots, share, m = np.zeros((2, laws, r, r)), np.zeros((laws, r, teachers)), np.zeros(r)
        roots[(slice(None), *self.lower)] = factors
        own = x[2 * count :]
        share[self.teacher] = own[: len(self.teacher[0])]
        size = np.sqrt((share * share).sum(-2, keepdims=True))
        share *= np.tanh(np.minimum(size, FARTHEST_SHARE)) / np.maximum(size, TINY) * np.sqrt(rho[:, None])
        q, V = roots @ roots.mT
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

    def is_pulled(self, averages: Averages) -> bool:
        """Return whether clusters along the teacher pull an overlap that the branch holds at zero: it is no solution.

        They do where not each has a mirror image. averages: for each scramble, at a fixed point
        """
        if not self.setting.leans.any():
            return False
        rho = self.setting.rho.item()  # of tokens of one law and one teacher, see `Setting`
        to_teacher = averages.teacher_noise[:, 0, :, 0] / np.sqrt(rho) + averages.teacher_pull / rho
        held = [pull for pull, own in ((to_teacher, self.teacher[0]), (averages.pull, self.places)) if not len(own)]
        return any((np.abs(pull.mean(axis=0)) > PULL_ERRORS * standard_error(pull)).any() for pull in held)

    def observables(self, x: np.ndarray, averages: Averages) -> dict:
        """Return test_mse; replicon, on the kernel of two tokens; and gain, for tokens of one law.

        A branch has it if it holds overlaps at zero, but not those with a teacher along which clusters are displaced.
        """
        values = {"test_mse": 2 / self.architecture.tokens * averages.test_loss}
        if self.setting.fast:
            values["replicon"] = self.alpha * averages.response
        along_teacher, along_places = len(self.teacher[0]) > 0, len(self.places) > 0
        holds_one = not (along_teacher and along_places) and (along_teacher or not self.setting.leans.any())
        if holds_one and len(self.setting.rho) == 1:
            values["gain"] = self.gain(x, averages)
        return values

    def losses(self, x: np.ndarray, averages: Averages) -> tuple:
        """Return the training loss ``alpha E[ell(h*)]`` plus penalty (Eq. 14) and the free energy (Eq. 108) at x."""
        hats = self.hats(x, averages)
        free = equations.free_energy(self.setting, self.alpha, self.unpack(x), hats, averages.moreau)
        return self.alpha * averages.fitted_loss + equations.penalty(self.setting, hats), free


class Rough(NamedTuple):
    """How the damped iteration comes near a fixed point."""

    points: int  #: a scramble
    kept: float  #: share of the old coordinates
    near: float  #: largest change of a coordinate at which Powell's method takes over
    scrambles: int = 16  #: of the points


class Net:
    """Points of a quadrature (scrambles, N, dimensions), with the minima found at the coordinates of the last search.

    Args:
        fields: number of fields of a sentence
        report: called with 1 after each average
    """

    def __init__(self, points: np.ndarray, fields: int, report: Callable[[int], object] | None = None):
        self.points, self.lowest = points, np.empty((*points.shape[:2], 2, fields))  # the two lowest minima of each
        self.searched, self.calls, self.report = np.empty(0), 0, report or (lambda count: None)

    def averages(self, model, x: np.ndarray, anew: bool = False):
        """Return averages of a `BranchMap` at x for each scramble, by a search if `anew` or far from the last."""
        averages = model.average(x, self.points, self.lowest, self.search_at(x, anew))
        self.calls += 1
        self.report(1)
        return averages

    def search_at(self, x: np.ndarray, anew: bool) -> bool:
        """Return whether an average at the coordinates x has to search; if so, x counts as searched."""
        other = self.searched.shape != x.shape  # of no point, or without the overlaps that a branch holds at zero
        anew = anew or other or not np.abs(x - self.searched).max() <= REACH
        if anew:
            self.searched = x.copy()
        return anew


def powell(displacement: Callable, x: np.ndarray, maxfev: int, xtol: float, eps: float = 1e-6):
    """Return SciPy's result of Powell's hybrid method for ``displacement(x) = 0``."""
    from scipy.optimize import root  # slow to import

    # The smallest first step: a larger one can leave the branch, or end where nothing can be computed.
    options = {"eps": eps, "xtol": xtol, "maxfev": maxfev, "factor": 0.1}
    return root(displacement, x, method="hybr", options=cast(Any, options))  # scipy-stubs misspell `maxfev`


def polish(at: Callable, x: np.ndarray, maxfev: int, xtol: float, eps: float = 1e-6):
    """Return where a map does not move its argument, by Powell's method on warm starts, confirmed by a search.

    Returned are x where the last search was made, and what `at` returned beside the displacement there.

    Args:
        at: ``at(x, anew)`` returns the displacement of x, with or without a search, and something to keep
        x: (n,), where to start
        maxfev: evaluations in one round
        xtol: tolerance, also of the displacement after a search
        eps: step of finite differences
    """
    for _ in range(ROUNDS):
        root = powell(lambda x: at(x, False)[0], x, maxfev, xtol, eps)
        x = root.x
        displacement, kept = at(x, True)
        # A larger displacement than on warm starts comes from points whose lowest minimum is another one.
        if not np.abs(displacement).max() > max(xtol, 2 * np.abs(root.fun).max()):
            break
    return x, kept
