"""State evolution restricted to one branch, as a map on unconstrained coordinates, and the search for its fixed point.

A search for all proximal points takes about ten times as long as a descent from minima that are almost right. Averages
therefore start from the minima of the last search while the coordinates remain close to that search. Besides the lowest
minimum of each point the second lowest is stored, because the two exchange their order where the proximal point jumps.
If the valley of a minimum is so flat that a new minimum may have appeared, the point is searched again. One more search
always confirms the fixed point, and the iteration continues if that search disagrees.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from ..errors import check_choice
from ..measured import standard_error
from ..model.architectures import STANDARD, Architecture
from ..task import Task
from . import equations
from .equations import Averages, Overlaps
from .setting import TINY_NUMBER, Hats, Setting, cholesky, solve_linear

# For each form that the theory covers and for each branch: with which column of the teacher each column of the student
# overlaps (counted from 1, or 0 for none), and whether it overlaps with the positions. A student of rank 2 does not
# change if its two columns are rotated. If the columns have different overlaps, q and V are diagonal by symmetry, which
# fixes the rotation.
OVERLAP_PATTERNS = {
    "tied": {"semantic": ((1,), (0,)), "positional": ((0,), (1,)), "symmetric": ((0,), (0,))},
    "rank2": {"semantic": ((1, 0), (0, 1)), "positional": ((0, 0), (0, 1)), "both": ((1, 2), (0, 0))},
    "untied": {"semantic": ((1, 1), (0, 0)), "positional": ((0, 0), (1, 1)), "symmetric": ((0, 0), (0, 0))},
}
# Bounds of the coordinates, which no solution reaches. They keep exp from overflowing after a large step of the solver.
FARTHEST, FARTHEST_SHARE = 40.0, 15.0
REACH = 0.05  # largest change of a coordinate at which the minima of the last search are reused
PULL_ERRORS = 8  # a pull above this number of standard errors counts; with few scrambles they may be wrong by a quarter
ROUNDS = 6  # largest number of searches made to confirm a fixed point


@dataclass
class BranchMap:
    """A branch of the state evolution for one student at one alpha, with the interface that the `solver` expects.

    The coordinates are the Cholesky factors of q and V, with the logarithms of their squared diagonals; the student's
    share ``t = root(q)^-1 theta/sqrt(rho)`` of the teacher's fields, stretched to ``t artanh(|t|)/|t|``; and
    m_k/sqrt(q_kk). Every point is admissible.
    """

    task: Task  #: teacher, data and penalty
    alpha: float  #: sample complexity
    branch: str  #: name of the branch
    architecture: Architecture = STANDARD  #: the student and its sentences

    def __post_init__(self) -> None:
        self.setting = Setting(self.task, self.architecture)
        form = check_choice("architecture", self.architecture.form, tuple(OVERLAP_PATTERNS))
        r, (laws, teachers) = self.architecture.rank, self.setting.rho.shape
        branches = [name for name, (along, _) in OVERLAP_PATTERNS[form].items() if max(along) <= teachers]
        along, places = OVERLAP_PATTERNS[form][check_choice("branch", self.branch, branches)]
        # Indices of the entries of the Cholesky factors, of theta and of m that are coordinates.
        rows, columns = np.diag_indices(r) if self.architecture.rotates else np.tril_indices(r)
        self.lower = np.repeat(np.arange(laws), len(rows)), np.tile(rows, laws), np.tile(columns, laws)
        self.diagonal = np.flatnonzero(self.lower[1] == self.lower[2])
        self.teacher = np.nonzero([np.equal.outer(along, np.arange(1, teachers + 1))] * laws)
        self.places = np.flatnonzero(places)
        self.own = slice(2 * len(self.lower[0]), None)
        self.fields, self.dimensions = self.setting.fields, self.setting.dimensions
        # For the damped iteration that approaches a fixed point: the points per scramble, the largest change of a
        # coordinate at which Powell's method takes over, and the share of the old coordinates that each step keeps. On
        # a branch that overlaps with the positions the iteration oscillates, with eigenvalues of -10 for the standard
        # student. The damping must then be stronger.
        self.rough_points, self.near = (2**10, 1e-3) if self.setting.fast else (2**8, 1e-2)
        self.kept = 0.9 if any(places) or self.branch == "symmetric" else 0.5

    def start(self) -> Overlaps:
        """Return initial overlaps in the basin of attraction of the branch, close to the teacher or to the encoding."""
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
        """Convert overlaps to the unconstrained coordinates (n,) in which the equations are solved.

        If the overlaps are given for each scrambled set of points, the coordinates are (scrambles, n).
        """
        q, m, theta, V = overlaps
        roots = [cholesky(q), cholesky(V)]
        factors = [root[(..., *self.lower)] for root in roots]
        for factor in factors:
            factor[..., self.diagonal] = 2 * np.log(factor[..., self.diagonal])
        share = solve_linear(roots[0], theta) / np.sqrt(self.setting.rho[:, None])
        size = np.sqrt((share * share).sum(-2, keepdims=True))
        share *= np.arctanh(np.minimum(size, 1 - 1e-12)) / np.maximum(size, TINY_NUMBER)
        places = m / np.sqrt(np.einsum("...kk->...k", q[..., 0, :, :]))
        return np.concatenate((*factors, share[(..., *self.teacher)], places[..., self.places]), axis=-1)

    def unpack(self, x: np.ndarray) -> Overlaps:
        """Convert coordinates x (n,) to overlaps."""
        r, rho, count = self.architecture.rank, self.setting.rho, len(self.lower[0])
        laws, teachers = rho.shape
        factors = np.array((x[:count], x[count : 2 * count]))
        factors[:, self.diagonal] = np.exp(np.minimum(np.maximum(factors[:, self.diagonal], -FARTHEST), FARTHEST) / 2)
        roots, share, m = np.zeros((2, laws, r, r)), np.zeros((laws, r, teachers)), np.zeros(r)
        roots[(slice(None), *self.lower)] = factors
        own = x[2 * count :]
        share[self.teacher] = own[: len(self.teacher[0])]
        size = np.sqrt((share * share).sum(-2, keepdims=True))
        share *= np.tanh(np.minimum(size, FARTHEST_SHARE)) / np.maximum(size, TINY_NUMBER) * np.sqrt(rho[:, None])
        q, V = roots @ roots.mT
        bounded = np.minimum(np.maximum(own[len(self.teacher[0]) :], -FARTHEST_SHARE), FARTHEST_SHARE)
        m[self.places] = bounded * np.sqrt(q[0].diagonal()[self.places])
        return Overlaps(q, m, roots[0] @ share, V)

    def average(self, x: np.ndarray, points: np.ndarray, lowest: np.ndarray, anew: bool) -> Averages:
        """Return averages over the fields at given overlaps, one for each scrambled set of quadrature points."""
        return equations.average(self.setting, self.unpack(x), points, lowest, anew)

    def hats(self, x: np.ndarray, averages: Averages) -> Hats:
        """Compute the conjugates of the overlaps from the averages over the fields, at coordinates x."""
        return equations.conjugates(self.setting, self.alpha, self.unpack(x), averages)

    def step(self, x: np.ndarray, averages: Averages) -> np.ndarray:
        """Return the coordinates after one state-evolution step from x, given the averages over the fields at x."""
        return self.pack(equations.update(self.setting, self.hats(x, averages)))

    def gain(self, x: np.ndarray, averages: Averages):
        """Return the largest growth factor (gain) of the overlaps that are zero on this branch.

        If it is above 1, the branch is a saddle.
        """
        of_theta, of_m = equations.gains(self.setting, self.alpha, self.unpack(x), averages)
        held = [gain for gain, free in ((of_theta, self.teacher[0]), (of_m, self.places)) if not len(free)]
        return np.maximum(held[0], held[-1])

    def is_pulled(self, averages: Averages) -> bool:
        """Return whether clusters of tokens induce an overlap that would otherwise vanish on this branch.

        The branch is then not a solution. This happens if clusters are displaced along the teacher, and some
        cluster has no mirror image.

        averages: averages at a fixed point, by scramble
        """
        if not self.setting.leans.any():
            return False
        rho = self.setting.rho.item()  # one number, because `Setting` requires one law and one teacher
        to_teacher = averages.teacher_noise[:, 0, :, 0] / np.sqrt(rho) + averages.teacher_pull / rho
        held = [pull for pull, own in ((to_teacher, self.teacher[0]), (averages.pull, self.places)) if not len(own)]
        return any((np.abs(pull.mean(axis=0)) > PULL_ERRORS * standard_error(pull)).any() for pull in held)

    def observables(self, x: np.ndarray, averages: Averages) -> dict:
        """Return a dictionary of the observables test_mse, replicon and gain at given overlaps.

        The replicon exists only on the kernel of two tokens, and the gain only for tokens of one law. A branch has a
        gain if some overlaps are zero on the branch. Overlaps with a teacher along which clusters are displaced do not
        count.
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
        """Return the training loss and the free energy at given overlaps.

        They are Eq. 14, ``alpha E[ell(h*)]`` plus the penalty, and Eq. 108.
        """
        hats = self.hats(x, averages)
        free = equations.free_energy(self.setting, self.alpha, self.unpack(x), hats, averages.moreau)
        return self.alpha * averages.fitted_loss + equations.penalty(self.setting, hats), free


class Net:
    """A set of quadrature points, together with the minima that the last search found there.

    Args:
        points: (scrambles, N, dimensions)
        fields: number of fields of a sentence
        report: called with 1 after each average
    """

    def __init__(self, points: np.ndarray, fields: int, report: Callable[[int], object] | None = None):
        # `lowest` stores the two lowest minima of each point.
        self.points, self.lowest = points, np.empty((*points.shape[:2], 2, fields))
        self.searched, self.calls, self.report = np.empty(0), 0, report or (lambda count: None)

    def averages(self, model, x: np.ndarray, anew: bool = False):
        """Return averages over the fields at given overlaps, one for each scrambled set of quadrature points.

        The minima are searched for again if `anew`, or if x is far from the last search.
        """
        averages = model.average(x, self.points, self.lowest, self.search_at(x, anew))
        self.calls += 1
        self.report(1)
        return averages

    def search_at(self, x: np.ndarray, anew: bool) -> bool:
        """Return whether the minima must be searched for again at x; if so, record x as the last point searched."""
        other = self.searched.shape != x.shape  # no search yet, or a search with another number of coordinates
        anew = anew or other or not np.abs(x - self.searched).max() <= REACH
        if anew:
            self.searched = x.copy()
        return anew


def powell(displacement: Callable, x: np.ndarray, maxfev: int, xtol: float, eps: float = 1e-6):
    """Solve ``displacement(x) = 0`` by SciPy's version of Powell's hybrid method."""
    from scipy.optimize import root  # slow to import

    # The factor 0.1 is SciPy's smallest first step. A larger step can leave the branch or the domain of the equations.
    options = {"eps": eps, "xtol": xtol, "maxfev": maxfev, "factor": 0.1}
    return root(displacement, x, method="hybr", options=cast(Any, options))  # scipy-stubs misspell `maxfev`


def polish(at: Callable, x: np.ndarray, maxfev: int, xtol: float, eps: float = 1e-6):
    """Find a fixed point by Powell's method, and confirm it by searching for the proximal points again.

    Powell's method uses minima from warm starts. The function returns x at the last search, and the second value that
    `at` returned there.

    Args:
        at: function of x and `anew` that returns the displacement of x, with or without a search, and a second value
        x: (n,), the start
        maxfev: largest number of evaluations in one round
        xtol: tolerance, also of the displacement after a search
        eps: step of finite differences
    """
    for _ in range(ROUNDS):
        root = powell(lambda x: at(x, False)[0], x, maxfev, xtol, eps)
        x = root.x
        displacement, kept = at(x, True)
        # If the search makes the displacement larger, some points have a different lowest minimum.
        if not np.abs(displacement).max() > max(xtol, 2 * np.abs(root.fun).max()):
            break
    return x, kept
