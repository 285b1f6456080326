"""Solutions with one step of replica symmetry breaking, including the ground state, and their stability.

Sigma(y) = y (e - Phi) = y^2 dPhi/dy is the complexity: the logarithm of the number of minima of training loss e(y),
divided by d. The lowest minima are at Sigma = 0, which is the maximum of Phi(y). The maximum of Phi is searched for,
because Phi is stationary in all order parameters and therefore much more precise than its derivative. Differences are
computed on the same points.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import exp, log, sqrt

import numpy as np

from ...errors import BadInput, check_choice, check_kind, check_positive, check_real
from ...measured import standard_error
from ...quadrature import SCRAMBLES, gaussian_points, pool, usual_points
from ...task import Task
from ...theory.branch import powell
from ...theory.branches import MINIMA
from ...theory.equations import Overlaps, Scalars
from ...theory.solver import BRANCH_END, NO_CONVERGENCE, NO_RESOLUTION, STEP, TOLERANCE, Solution, displacement, solve
from . import equations
from .equations import BrokenBranch, Fields, Root, SplitBranch, Valley

# Reasons why a solution failed, in addition to the reasons in `solver`.
NO_MAXIMUM = "no maximum of Phi found"
GAP_CLOSED = "gap has closed"
DOUBLINGS = 3  # largest number of times y is doubled or halved, starting from the inverse of the training loss
SMALLEST_GAP = 1e-4  # ratio gap/q below which the minima count as a single minimum
WIDENINGS = 60  # largest number of iterations of the gap at fixed overlaps


@dataclass(frozen=True)
class OneStep:
    """A solution with one step of replica symmetry breaking at one alpha.

    At the ground state Phi is the training loss of the lowest minima, and Sigma is zero within its standard error.
    """

    #: Order parameters. If only the replica-symmetric solution was found, the gap is 0, and y is 0 unless it was given.
    valley: Valley
    phi: float  #: potential Phi(y)
    energy: float  #: e = d(y Phi)/dy, the training loss of the minima
    shift: float  #: Phi minus the replica-symmetric training loss
    slope: float  #: derivative dPhi/dalpha
    residual: float  #: largest change of a coordinate of `BrokenBranch` in one more step of the map
    #: Why the solution failed; empty if it converged. `NO_CONVERGENCE` and `BRANCH_END` have the meaning that they have
    #: for `Solution`, and also apply to the replica-symmetric solution from which the search starts. `GAP_CLOSED`: the
    #: gap converged to zero, although it was positive at first. `NO_MAXIMUM`: no maximum of Phi was found, because Phi
    #: was not found to decrease on both sides of a ground state.
    reason: str
    iterations: int  #: evaluations of the map
    #: Everything in `quantities` for each scramble (scrambles,), up to a constant; e and Sigma are at the mean y.
    spread: dict[str, np.ndarray] = field(repr=False)

    @property
    def converged(self) -> bool:
        """Whether the solution converged, which means that `reason` is empty."""
        return not self.reason

    @property
    def solved(self) -> bool:
        """Whether the equations are solved at this y, which need not maximise Phi."""
        return self.reason in ("", NO_MAXIMUM)

    @property
    def quantities(self) -> dict[str, float]:
        """A dictionary with the order parameters, Phi, e, Sigma, and the shift of Phi by symmetry breaking."""
        return _quantities_by_name(self.valley, self.phi, self.energy, self.shift)

    @property
    def stderr(self) -> dict[str, float]:
        """The standard errors of `quantities`, without the error of the inner quadrature.

        They follow from the spread over the scrambled sets of outer quadrature points. A finer quadrature of the inner
        fields changes the shift by a few per cent at a ground state. At y = 1600 and omega = 0.02 it changes the shift
        by 15 %, and Sigma has the wrong sign.
        """
        return {name: standard_error(self.spread[name]) for name in self.quantities}


@np.errstate(all="ignore")  # a search may overflow before it converges; if it fails, `reason` says why
def one_step(
    task: Task,
    alpha: float,
    branch: str,
    y: float | None = None,
    points: int | None = None,
    scrambles: int = SCRAMBLES,
    seed: int = 0,
    report: Callable[[], object] | None = None,
) -> OneStep:
    """Find the ground state, or the solution at a given y, with one step of replica symmetry breaking.

    Args:
        branch: "semantic" or "positional"
        y: Parisi parameter, conjugate to the risk, >= 0. At y = 0, q1 and the other overlaps have their
            replica-symmetric values, and sqrt(2 gap/q1) is the distance at which two copies of message passing stop
            approaching. The default is the value that selects the lowest minima.

        points, scrambles, seed: quadrature of the outer fields, see `gaussian_points`; the default of points is
            `usual_points` of "one step". The noise of Phi grows with y. If Phi rises by less than about 5e-7, its
            maximum cannot be found with the usual number of points, but can with four times as many.
        report: function that is called after each root. All roots take about the same time. There are two roots at a
            given y and six for most ground states.
    """
    check_kind("report", report, Callable | None)
    alpha = check_positive("alpha", alpha)
    check_choice("branch", branch, MINIMA)
    if task.structured:
        raise BadInput("one step of replica symmetry breaking covers no covariance or other structure of the tokens")
    if y is not None:
        y = check_real("y", y, "a finite number >= 0", lambda v: v >= 0)
    points = usual_points("one step") if points is None else points
    nets = equations.nested_nets(gaussian_points(points, scrambles, seed, dimensions=BrokenBranch.dimensions))
    symmetric = solve(task, alpha, branch, points, scrambles, seed)
    if not symmetric.converged:
        return _unbroken(symmetric, y)
    model = BrokenBranch(task, alpha, branch, 1 / symmetric.train_loss if y is None else y)
    valley = _widen(model, symmetric.overlaps, nets[0].points)
    if valley.gap == 0:
        return _unbroken(symmetric, y)

    def root_near(model: BrokenBranch, x: np.ndarray) -> Root:
        root = equations.find_root(model, x, nets)
        if report:
            report()
        return root

    rough = powell(lambda x: displacement(model, x, nets[0])[0], model.pack(valley), maxfev=60, xtol=TOLERANCE)
    root, reason = root_near(model, rough.x), ""
    if y is None and root.settled:
        root, reason = _ground_state(root, root_near)
    share, (q, _, theta, _) = root.valley.gap / (root.valley.q0 + root.valley.gap), symmetric.overlaps
    if not (1 - share) * q * task.sigma**2 > theta**2:  # the search diverged to a gap that no student can have
        return replace(_unbroken(symmetric, y), reason=NO_CONVERGENCE)
    split = SplitBranch(task, alpha, branch, 0.0, share)
    beside = root_near(split, split.symmetric.pack(Overlaps.of(*symmetric.overlaps)))
    return _describe(root, beside, reason, iterations=sum(net.calls for net in nets))


def _widen(model: BrokenBranch, overlaps: Scalars, points: np.ndarray) -> Valley:
    """Compute the gap q1 - q0 by iteration at fixed overlaps, and return all order parameters.

    The gap may converge to zero.

    The iteration starts from two copies that share half of what the teacher does not determine.
    """
    q, m, theta, V = overlaps
    largest = q - theta**2 / model.task.sigma**2
    gap = largest / 2
    for _ in range(WIDENINGS):
        valley = Valley(q - gap, gap, m, theta, V, model.y)
        averages = pool(equations.average(model.task, valley, points))
        hats = equations.conjugates(model.task, model.alpha, valley, averages)
        last, gap = gap, float(min(equations.update(model.task, model.y, hats).gap, 0.9 * largest))
        if gap < SMALLEST_GAP * q:
            return Valley(q, 0.0, m, theta, V, model.y)
        if abs(gap / last - 1) < STEP:
            break
    return Valley(q - gap, gap, m, theta, V, model.y)


def _ground_state(first: Root, root_near: Callable) -> tuple[Root, str]:
    """Find the y that maximises Phi, and return the root at this y.

    The search doubles or halves y. The second result is empty; if the search fails, it is the reason, and the root is
    the last one.
    """
    by_doubling, middle = {0: first}, 0
    while abs(middle) <= DOUBLINGS:
        for side in (middle - 1, middle + 1):
            if side not in by_doubling:
                model = replace(first.model, y=first.model.y * 2.0**side)
                by_doubling[side] = root_near(model, by_doubling[middle].x)
        below, centre, above = (by_doubling[middle + side] for side in (-1, 0, 1))
        if not (below.settled and above.settled):
            break
        if centre.phi >= max(below.phi, above.phi):
            return _summit(below, centre, above, root_near), ""
        middle += 1 if above.phi > below.phi else -1
    return centre, NO_MAXIMUM


def _summit(below: Root, centre: Root, above: Root, root_near: Callable) -> Root:
    """Fit a parabola in log y to three values of Phi, and return the root at its maximum.

    Each y is twice the previous one. The `moves` of the root include the shift of y: the parabola of each scramble,
    which has the same curvature, has its maximum at a different y.
    """
    stride = log(above.model.y / below.model.y)
    slope = (above.phi - below.phi) / stride
    slopes = (above.phis - below.phis) / stride  # one slope for each scramble
    drift = (above.x - below.x) / stride
    curvature = (above.phi - 2 * centre.phi + below.phi) / log(2) ** 2
    top = root_near(replace(centre.model, y=centre.model.y * exp(-slope / curvature)), centre.x)
    log_y = -(slopes - slopes.mean()) / curvature
    return top._replace(moves=top.moves + np.outer(drift, log_y), log_y=log_y)


def _describe(root: Root, beside: Root, reason: str, iterations: int) -> OneStep:
    """Convert a root of the equations to a `OneStep` solution.

    beside: the replica-symmetric root on the same points
    """
    valley = root.valley
    moved = Valley(*np.transpose([root.model.unpack(root.x + move) for move in root.moves.T]))
    spread = _quantities_by_name(moved, root.phis, root.energies, root.phis - beside.phis)
    if not root.settled or not beside.settled:
        reason = NO_CONVERGENCE
    elif not root.present:
        reason = BRANCH_END
    elif valley.gap < SMALLEST_GAP * valley.q0:
        reason = GAP_CLOSED
    return OneStep(
        valley=valley,
        phi=root.phi,
        energy=root.energy,
        shift=root.phi - beside.phi,
        slope=float(root.averages.free.mean()),
        residual=root.residual,
        reason=reason,
        iterations=iterations,
        spread=spread | {"y": valley.y * root.log_y},
    )


def _unbroken(symmetric: Solution, y: float | None) -> OneStep:
    """Convert a replica-symmetric solution to a `OneStep` solution whose gap is zero."""
    q, m, theta, V = symmetric.overlaps
    spread, losses = symmetric.spread, symmetric.spread["train_loss"]
    none = np.zeros(len(losses))
    moved = Valley(spread["q"], none, spread["m"], spread["theta"], spread["V"], none)
    return OneStep(
        valley=Valley(q, 0.0, m, theta, V, y or 0.0),
        phi=symmetric.train_loss,
        energy=symmetric.train_loss,
        shift=0.0,
        slope=symmetric.train_slope,
        residual=symmetric.residual,
        # An overlap that is zero within its error counts as the end of the branch, as in `Root.present`.
        reason=BRANCH_END if symmetric.reason.startswith(NO_RESOLUTION) else symmetric.reason.partition(":")[0],
        iterations=symmetric.iterations,
        spread=_quantities_by_name(moved, losses, losses, none),
    )


def _quantities_by_name(valley: Valley, phi, energy, shift) -> dict:
    """Return a dictionary of the order parameters, Phi, e, Sigma and the shift of Phi.

    The values are floats or arrays (scrambles,).
    """
    q0, gap, m, theta, V, y = valley
    order = {"q0": q0, "q1": q0 + gap, "m": m, "theta": theta, "V": V, "y": y}
    return order | {"phi": phi, "energy": energy, "complexity": y * (energy - phi), "shift": shift}


def inner_gains(task: Task, alpha: float, valley: Valley, shares, points: int):
    """Compute the factor by which a message-passing step multiplies the squared distance between two nearby runs.

    Both runs are in one minimum, and are called copies. The factors D'/D (scrambles, k) are called gains. The squared
    distances D are `shares` (k,) of q1, at most 2 gap/q1.

    The inner fields w and w' of the two copies differ by ``E(w_a - w'_a)^2 = D`` and have the weight
    ``exp(-y (M(w) + M(w'))/2)``. After one more iteration the squared distance is
    ``D' = alpha V^2 E<|r(w) - r(w')|^2>``. Where D' > D, one step of breaking is not enough, because the minimum splits
    into a set of minima. See `stability.gains` for y = 0.
    """
    gap, size, by_scramble, rng = valley.gap, valley.q0 + valley.gap, [], np.random.default_rng(0)
    inner = equations.inner_points()
    for net in gaussian_points(points, dimensions=6):
        fields = Fields.of(task, valley, net, inner)
        r, envelope = fields.forces(task, valley, fields.z)
        other, row = rng.standard_normal(r.shape), []
        for share in shares:
            D = share * size
            together = 1 - D / (2 * gap)  # correlation between the inner fields of the two copies
            moved = together * fields.z + sqrt(1 - together**2) * other
            r_moved, envelope_moved = fields.forces(task, valley, moved)
            loss = (envelope + envelope_moved) / 2
            weights = inner[:, 2:] * np.exp(-valley.y * (loss - loss.min(axis=0)))
            square = (weights * ((r - r_moved) ** 2).sum(axis=0)).sum(axis=0) / weights.sum(axis=0)
            row.append(alpha * valley.V**2 * square.mean() / D)
        by_scramble.append(row)
    return np.array(by_scramble)
