"""Fixed points of the general state evolution, with error bars: `fixed_point.solve` for other architectures."""

from dataclasses import dataclass, field
from math import sqrt

import numpy as np

from ...errors import check_choice, check_positive
from ...model.architectures import SOLVED
from ..quadrature import SCRAMBLES, gaussian_points
from ..rank_one.fixed_point import COARSE, DAMPED_STEPS, DAMPING, NEAR, SMALLEST_OVERLAP, STEP, TOLERANCE, UNRESOLVED
from ..warm import Net, polish
from .state_evolution import Averages, GeneralOverlaps, Setting, average, conjugates, free_energy, gains, update

GENERAL_POINTS = 2**12
FEW = 2**8  # points a scramble for the damped iteration
# Columns that overlap with the teacher, and with the positions, on each branch of each form. Where there are two that
# add up (rank 2), turning them into one another changes nothing; with the teacher's overlap in the first, q and chi
# are diagonal by symmetry, which fixes that freedom.
BRANCHES = {
    "tied": {"semantic": ((1,), (0,)), "positional": ((0,), (1,)), "symmetric": ((0,), (0,))},
    "rank2": {"semantic": ((1, 0), (0, 1)), "positional": ((0, 0), (0, 1))},
    "untied": {"semantic": ((1, 1), (0, 0)), "positional": ((0, 0), (1, 1)), "symmetric": ((0, 0), (0, 0))},
}
WILDEST = 14.0  # of a logarithm: beyond it the root finder has lost its way
LIGHT_DAMPING = 0.5  # share of the old value that is enough where no column overlaps with the positions


@dataclass(frozen=True)
class GeneralSolution:
    """A fixed point at one alpha; see `fixed_point.Solution` for what is not said here.

    Attributes
    ----------
    overlaps : GeneralOverlaps
        Without sigma^2: q, mu, theta, chi.
    train_loss, test_mse, free_energy, train_slope, test_slope : float
    residual : float
        Largest change of a coordinate (see `Coordinates`) under one more step.
    gain : float
        Of the overlaps that the branch holds at zero, the largest; a solution with a gain above 1 is a saddle. NaN on
        the semantic branch of rank 2, where each kind of overlap has one column.
    converged : bool
    iterations : int
    spread : dict
        Overlaps, train_loss, test_mse and gain of the fixed point of each scramble alone, to first order; the first
        axis counts scrambles, and all but the overlaps are without their mean.
    """

    overlaps: GeneralOverlaps
    train_loss: float
    test_mse: float
    free_energy: float
    train_slope: float
    test_slope: float
    gain: float
    residual: float
    converged: bool
    iterations: int
    spread: dict = field(repr=False)

    @property
    def energies(self):
        """Each scramble's free energy less their mean."""
        return self.spread["train_loss"]

    @property
    def stderr(self):
        """Standard errors of the overlaps, as arrays, of train_loss, test_mse and gain."""
        return {name: standard_error(each) for name, each in self.spread.items()}


def standard_error(values):
    """Standard error of the mean over scrambles, the first axis."""
    return np.std(values, axis=0, ddof=1) / sqrt(len(values))


def general_solve(task, architecture, alpha, branch, points=GENERAL_POINTS, scrambles=SCRAMBLES, seed=0, start=None):
    """Fixed point of the state evolution of one architecture on one branch.

    Parameters
    ----------
    task : Task
    architecture : Architecture
        Of a form that the theory covers.
    alpha : float > 0
    branch : {"semantic", "positional", "symmetric"}
        As for `fixed_point.solve`. With two columns that add up, "semantic" has the first column follow the teacher and
        leaves the second to the positions; "positional" has no overlap with the teacher.
    points, scrambles, seed : int
        Quadrature, see `gaussian_points`.
    start : GeneralOverlaps, optional
        Of a solution nearby on the same branch; the damped iteration is then left out.

    Returns
    -------
    GeneralSolution
        `converged` is False where the branch does not exist or the solver failed.
    """
    alpha = check_positive("alpha", alpha)
    form = check_choice("architecture", architecture.form, SOLVED)
    check_choice("branch", branch, tuple(BRANCHES[form]))
    dimensions = architecture.tokens * (architecture.rank + 1)
    nets = gaussian_points(points, scrambles, seed, dimensions)
    fields = architecture.tokens * architecture.rank
    evolution = Evolution(Setting.of(task, architecture), alpha, Coordinates(form, branch))
    if start is not None:
        near = evolution.coordinates.pack(start)
    else:
        few = Net(nets[: COARSE[0], :FEW], fields)
        keep = DAMPING if any(BRANCHES[form][branch][1]) else LIGHT_DAMPING
        near, _ = evolution.polish(_damped(evolution, _first(task, architecture, alpha, branch), few, keep), few)
    net = Net(nets, fields)
    return _describe(evolution, *evolution.polish(near, net), net)


def solver(architecture):
    """`general_solve` for one architecture, with the arguments of `fixed_point.solve`."""

    def solve(task, alpha, branch, points=GENERAL_POINTS, scrambles=SCRAMBLES, seed=0, start=None):
        return general_solve(task, architecture, alpha, branch, points, scrambles, seed, start)

    return solve


class Coordinates:
    """The free coordinates of a branch.

    The factors of q and chi by Cholesky, with the logarithm of their diagonal; ``t artanh(|t|)/|t|`` of the teacher's
    share t = root(q)^-1 theta of the fields, so that every point is admissible; and mu_k/sqrt(q_kk).
    """

    def __init__(self, form, branch):
        teacher, places = BRANCHES[form][branch]
        self.teacher, self.places = np.flatnonzero(teacher), np.flatnonzero(places)
        r = len(teacher)
        self.lower = np.diag_indices(r) if form == "rank2" else np.tril_indices(r)
        both = np.eye(r) if form == "rank2" else np.ones((r, r))
        self.masks = GeneralOverlaps(both, np.array(places), np.array(teacher), both)
        self.own = slice(2 * len(self.lower[0]), None)  # of the overlaps that the branch has

    def pack(self, overlaps):
        q, mu, theta, chi = overlaps
        root = np.linalg.cholesky(q)
        share = np.linalg.solve(root, theta[..., None])[..., 0][..., self.teacher]
        size = np.linalg.norm(share, axis=-1, keepdims=True)
        stretch = np.where(size > 0, np.arctanh(np.minimum(size, 1 - 1e-12)) / np.maximum(size, 1e-300), 1.0)
        places = (mu[..., 0, :] / np.sqrt(np.einsum("...kk->...k", q)))[..., self.places]
        parts = (self._factor(root), self._factor(np.linalg.cholesky(chi)), share * stretch, places)
        return np.concatenate(parts, axis=-1)

    def _factor(self, root):
        values = root[..., self.lower[0], self.lower[1]].copy()
        diagonal = self.lower[0] == self.lower[1]
        values[..., diagonal] = np.log(values[..., diagonal])
        return values

    def unpack(self, x):
        count = len(self.lower[0])
        diagonal = self.lower[0] == self.lower[1]
        r = diagonal.sum()
        roots = []
        for part in (x[:count], x[count : 2 * count]):
            root = np.zeros((r, r))
            root[self.lower] = np.where(diagonal, np.exp(np.clip(part, -WILDEST, WILDEST)), part)
            roots.append(root)
        stretched = x[self.own][: len(self.teacher)]
        size = np.linalg.norm(stretched)
        share, mu = np.zeros(r), np.zeros(r)
        share[self.teacher] = stretched * (min(np.tanh(size), 1 - 1e-9) / size if size > 0 else 1.0)
        q = roots[0] @ roots[0].T
        mu[self.places] = x[self.own][len(self.teacher) :] * np.sqrt(np.diag(q))[self.places]
        return GeneralOverlaps(q, mu[None], roots[0] @ share, roots[1] @ roots[1].T)


class Evolution:
    """The map of one branch in its coordinates."""

    def __init__(self, setting, alpha, coordinates):
        self.setting, self.alpha, self.coordinates, self.calls = setting, alpha, coordinates, 0

    def averages(self, x, net, anew=False):
        """Of each scramble, `anew` by a search; without it from the minima of the last one, if that is near."""
        self.calls += 1
        return average(self.setting, self.coordinates.unpack(x), net.points, net.minima, net.search_at(x, anew))

    def hats(self, x, averages, alpha=None):
        """Conjugates at x; those of what the branch holds at zero are zero, but for the noise of the averages."""
        overlaps = self.coordinates.unpack(x)
        found = conjugates(self.setting, alpha or self.alpha, overlaps, averages)
        return GeneralOverlaps(*(mask * each for mask, each in zip(self.coordinates.masks, found)))

    def gain(self, x, averages):
        held = [not len(each) for each in (self.coordinates.teacher, self.coordinates.places)]
        if not any(held):
            return np.full(np.shape(averages.moreau), np.nan)
        blocks = gains(self.setting, self.alpha, self.coordinates.unpack(x), averages)
        blocks = [block for block, one in zip(blocks, held) if one]
        return np.max([np.linalg.eigvals(block).real.max(axis=-1) for block in blocks], axis=0)

    def step(self, x, averages, alpha=None):
        return self.coordinates.pack(update(self.setting, self.hats(x, averages, alpha)))

    def displacement(self, x, net, anew=False):
        averages = self.averages(x, net, anew)
        return self.step(x, _pool(averages)) - x, averages

    def polish(self, x, net):
        """The fixed point near x, and its averages by a search."""
        evaluations = 30 + 10 * len(x)
        return polish(lambda x, anew: self.displacement(x, net, anew), x, maxfev=evaluations, xtol=TOLERANCE / 10)


def _pool(averages):
    return Averages(*(each.mean(axis=0) for each in averages))


def _first(task, architecture, alpha, branch):
    """A point inside the branch's basin."""
    form, r = architecture.form, architecture.rank
    chi = 0.5 / (task.lam * max(1.0, alpha)) * np.eye(r)
    mu, theta = np.zeros((1, r)), np.zeros(r)
    teacher, places = BRANCHES[form][branch]
    theta[np.flatnonzero(teacher)] = 0.7
    mu[0, np.flatnonzero(places)] = task.sigma / 2
    if form == "rank2":
        return GeneralOverlaps(np.diag([0.8, 0.2]), mu, theta, chi)
    size, together = (0.8, 0.9) if branch == "semantic" else (0.2, 0.5)
    return GeneralOverlaps(size * ((1 - together) * np.eye(r) + together), mu, theta, chi)


def _damped(evolution, overlaps, net, keep):
    x = evolution.coordinates.pack(overlaps)
    for _ in range(DAMPED_STEPS):
        move, _ = evolution.displacement(x, net)
        x = x + (1 - keep) * move
        if np.abs(move).max() < 10 * NEAR:
            break
    return x


def _describe(evolution, x, averages, net):
    """Everything that is said of a fixed point `x`, as in `fixed_point`."""
    setting, alpha = evolution.setting, evolution.alpha
    pooled = _pool(averages)
    image = evolution.step(x, pooled)
    jacobian, test_by, gain_by = [], [], []
    for shift in STEP * np.eye(len(x)):
        above, below = (_pool(evolution.averages(x + side, net)) for side in (shift, -shift))
        jacobian.append((evolution.step(x + shift, above) - evolution.step(x - shift, below)) / (2 * STEP))
        test_by.append((above.test_loss - below.test_loss) / (2 * STEP))
        gain_by.append((evolution.gain(x + shift, above) - evolution.gain(x - shift, below)) / (2 * STEP))
    jacobian, test_by, gain_by = np.transpose(jacobian), np.array(test_by), np.array(gain_by)
    response = np.eye(len(x)) - jacobian
    moves = np.linalg.solve(response, (evolution.step(x, averages) - image).T)  # (coordinates, scrambles)
    above, below = (evolution.step(x, pooled, alpha * (1 + side)) for side in (STEP, -STEP))
    drift = (above - below) / (2 * alpha * STEP)

    count = evolution.setting.covariance.shape[0]
    overlaps = evolution.coordinates.unpack(x)
    spread = [evolution.coordinates.unpack(x + move) for move in moves.T]
    spread = {name: np.array([getattr(each, name) for each in spread]) for name in GeneralOverlaps._fields}
    spread["train_loss"] = alpha * (averages.moreau - pooled.moreau)
    gain = evolution.gain(x, pooled)
    spread["gain"] = evolution.gain(x, averages) - gain + gain_by @ moves
    spread["test_mse"] = 2 / count * (averages.test_loss - pooled.test_loss + test_by @ moves)

    errors = standard_error(moves.T)
    residual = np.abs(image - x).max()
    settled = residual <= TOLERANCE or (np.abs(np.linalg.solve(response, image - x)) <= UNRESOLVED * errors).all()
    own = evolution.coordinates.own
    exists = (np.abs(x[own]) > np.maximum(SMALLEST_OVERLAP, 3 * errors[own])).all()
    stable = (np.linalg.eigvals(jacobian).real < 1).all()
    return GeneralSolution(
        overlaps=overlaps,
        train_loss=float(alpha * pooled.fitted_loss + setting.lam / 2 * np.trace(overlaps.q)),
        test_mse=float(2 / count * pooled.test_loss),
        free_energy=float(free_energy(setting, alpha, overlaps, evolution.hats(x, pooled), pooled.moreau)),
        train_slope=float(pooled.moreau),
        test_slope=float(2 / count * test_by @ np.linalg.solve(response, drift)),
        gain=float(gain),
        residual=float(residual),
        converged=bool(settled and exists and stable),
        iterations=evolution.calls,
        spread=spread,
    )
