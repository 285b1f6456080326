"""Fixed points of the state evolution, with error bars (Result 4.2).

One solver serves every student. A model provides the map of one branch in free coordinates, see `BranchMap`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import nan
from typing import Any, NamedTuple

import numpy as np

from ..errors import BadInput, check_kind, check_positive
from ..measured import Measured, standard_error
from ..model.architectures import STANDARD, Architecture
from ..quadrature import SCRAMBLES, gaussian_points, pool, usual_points
from ..records import origin_of
from ..task import Task
from .branch import BranchMap, Net, polish
from .equations import Overlaps, Scalars, named_overlaps

TOLERANCE = 1e-6  # largest residual of a solution
# Because the proximal point jumps, averages over N points change in steps of order 1/N, which may skip the fixed point.
# The remaining distance is accepted if it is below this share of the standard error.
UNRESOLVED_SHARE = 0.2
SMALLEST_OVERLAP = 1e-2  # a branch has ended if the coordinates that define it are smaller than this
# If an overlap is zero within its error, the branch has ended if three standard errors are below this value, relative
# to the largest overlap. Otherwise the error is too large to decide.
RESOLVED_ERROR = 0.1
DAMPED_STEPS = 400  # largest number of damped steps towards a fixed point
# Steps of central differences in the coordinates of a branch. Because the proximal points jump, derivatives are noisy:
# with N points, the noise is proportional to 1/sqrt(N STEP). The wide step is for few points.
STEP, WIDE_STEP = 1e-2, 1e-1
FEW_POINTS = 2**11  # total number of points in all scrambles below which the derivatives may be only noise
LARGEST_NOISE = 1.0  # largest noise of the derivatives that is accepted, see `LinearExpansion`

# Reasons why a solution failed. In the result of `solve`, a colon and a remedy may follow.
NO_CONVERGENCE = "did not settle"
NO_RESOLUTION = "not resolved"
BRANCH_END = "branch has ended"
SADDLE = "is a saddle"
CLUSTER_PULL = "clusters pull an overlap that is held at zero"


@dataclass(frozen=True)
class Solution:
    """A fixed point of the state evolution at one alpha, on one branch.

    The residual is the largest change of a coordinate in one more step of the map. The training loss and the free
    energy come from different formulae and differ only because of the residual. There are these reasons of failure:
    `NO_CONVERGENCE`, the residual is above 1e-6 and the remaining distance above a fifth of a standard error, or a loss
    is not finite; `BRANCH_END`, the overlap after which the branch is named is zero, and its standard error is small
    enough to show this; `NO_RESOLUTION`, the standard error is too large to decide; `SADDLE`, a damped iteration leaves
    the solution within its branch (see `gain` for leaving the branch); `CLUSTER_PULL`, clusters pull an overlap away
    from zero. More points may help for `NO_CONVERGENCE` and `NO_RESOLUTION`.
    """

    alpha: float  #: sample complexity
    reason: str  #: why the solution failed; empty if it converged
    overlaps: Any  #: `Scalars` if each overlap is one number, otherwise `Overlaps`
    train_loss: float  #: training loss epsilon_t (Eq. 14)
    test_mse: float  #: test error epsilon_g (Eq. 10)
    free_energy: float  #: free energy (Eq. 108)
    train_slope: float  #: d epsilon_t/d alpha: E[Moreau envelope], because the free energy is stationary
    test_slope: float  #: d epsilon_g/d alpha
    residual: float  #: largest change of a coordinate in one more step
    iterations: int  #: evaluations of the map
    #: The values at the fixed point of each single scramble, to first order, as (scrambles, ...) arrays: every overlap
    #: by its name, test_mse, and replicon and gain if the branch has them. For `train_loss` they are
    #: deviations from the mean, taken from the free energy, for the error of a difference between two losses.
    spread: dict[str, np.ndarray] = field(repr=False)
    replicon: float = nan  #: ``Lambda = alpha E|d(h* - w)/dw|_F^2`` (Appendix B.5), of the standard student
    #: Largest factor by which one step of the map multiplies small overlaps that are zero on the branch. Above 1 the
    #: solution is a saddle in their direction. NaN if no overlap is zero (semantic branch of rank 2).
    gain: float = nan
    origin: dict[str, Any] = field(default_factory=dict, repr=False)  #: task, quadrature and code, see `origin_of`

    def __str__(self) -> str:
        return repr(self) if self.converged else f"no solution ({self.reason}): {self!r}"

    @property
    def converged(self) -> bool:
        """Whether the solver found a solution on this branch, which means that `reason` is empty."""
        return not self.reason

    @property
    def stderr(self) -> dict:
        """The standard errors of all quantities, as floats, or as arrays for matrices of overlaps.

        They follow from `spread`, the spread over the scrambles. They are of first order, and too small close to the
        end of a branch.
        """
        return {name: standard_error(values) for name, values in self.spread.items()}

    def named(self, variance: float) -> dict[str, tuple]:
        """Return a dictionary of the overlaps, each as a pair (value, standard error).

        See `equations.named_overlaps` for the names.
        """
        moved = type(self.overlaps)(*(self.spread[name] for name in Overlaps._fields))
        values, spread = named_overlaps(self.overlaps, variance), named_overlaps(moved, variance)
        return {name: (value, standard_error(spread[name])) for name, value in values.items()}


def solve(
    task: Task,
    alpha: float,
    branch: str,
    points: int | None = None,
    scrambles: int = SCRAMBLES,
    seed: int = 0,
    start: "Solution | Scalars | Overlaps | None" = None,
    architecture: Architecture = STANDARD,
    report: Callable[[int], object] | None = None,
) -> Solution:
    """Return the fixed point of the state evolution on one branch.

    It solves Eqs. 7 and 8.

    >>> from attention_phases import Task, solve
    >>> solution = solve(Task(omega=0.3), alpha=2.0, branch="semantic", points=256)
    >>> solution.converged, solution.overlaps.m
    (True, 0.0)
    >>> near = solve(Task(omega=0.3), 1.9, "semantic", points=256, start=solution)
    >>> near.overlaps.theta < solution.overlaps.theta
    True

    If the solution did not converge, its `reason` says why. `BadInput` names a parameter outside its range.
    ArithmeticError or LinAlgError mean that nothing can be computed at such extreme parameters.

    Args:
        alpha: sample complexity
        branch: "semantic" (m = 0 and theta > 0), "positional" (theta = 0 and m > 0) or "symmetric" (m = theta = 0, from
            which the other two branch off). If the scores of two columns add up (rank 2), the first column of the
            semantic branch follows the teacher and the second the positions, and there is no symmetric branch. If the
            teacher has several columns, the branch "both" has one column of the student for each of two of them.
        points, scrambles, seed: quadrature, see `gaussian_points`; the default of points is `usual_points` of
            "solution"
        start: a solution close by on the same branch, or its overlaps, which replaces the damped iteration
        architecture: a student other than the standard one, of a form that the theory covers
        report: function that is called with 1 after each average over all points, of which there are about 40
    """
    check_kind("report", report, Callable | None)
    model = BranchMap(task, check_positive("alpha", alpha), branch, architecture)
    points = usual_points("solution", model.setting.fast) if points is None else points
    near = start.overlaps if isinstance(start, Solution) else start
    if isinstance(near, Scalars):  # Q and its mirror image -Q are the same student
        near = Overlaps.of(near.q, abs(near.m), abs(near.theta), near.V)
    if start is not None and not _lies_on(model, near):
        raise BadInput("start", start, f"a solution of the {branch} branch, or its overlaps")
    solution = solve_model(model, gaussian_points(points, scrambles, seed, model.dimensions), near, report)
    asked = {"task": task, "architecture": architecture, "alpha": model.alpha, "branch": branch}
    return replace(solution, origin=origin_of(**asked, points=points, scrambles=scrambles, seed=seed))


def _lies_on(model: BranchMap, start: Any) -> bool:
    """Return whether overlaps belong to a branch: right shape, finite, and nonzero where the branch requires it."""
    shapes = [np.shape(value) for value in start] if isinstance(start, Overlaps) else []
    if shapes != [np.shape(value) for value in model.start()]:
        return False
    with np.errstate(all="ignore"):
        x = model.pack(start)
    return bool(np.isfinite(x).all() and (np.abs(x[model.own]) > 0).all())


def solve_model(model: BranchMap, points: np.ndarray, start: Any, report: Callable[[int], object] | None) -> Solution:
    """Find the fixed point of the state evolution on one branch, with given quadrature points.

    The points are (scrambles, N, dimensions). A damped iteration on few points, or a `start`, gives a point close to
    the fixed point. Powell's hybrid method on all points then finds the fixed point.
    """
    few = Net(points[:SCRAMBLES, : model.rough_points], model.fields)
    net = Net(points, model.fields, report)
    with np.errstate(all="ignore"):  # if a value is not finite, the solution has the reason `NO_CONVERGENCE`
        if start is None:
            x = model.pack(model.start())  # a point in the basin of the branch
            last, share = 0 * x, 1 - model.kept
            for _ in range(DAMPED_STEPS):
                move, _ = displacement(model, x, few)
                if move @ last < -(last @ last):  # each step overshoots more than the last
                    share /= 2
                x, last = x + share * move, move
                if np.abs(move).max() < model.near:
                    break
            near, _ = _polish(model, x, few)
        else:
            near = model.pack(start)
        return _solution_at(model, *_polish(model, near, net), net, few.calls)


def displacement(model, x: np.ndarray, net: Net, anew: bool = False) -> tuple:
    """Return the change of the coordinates x (n,) in one iteration, and the averages over the fields at x.

    There is one average for each scrambled set of quadrature points.
    """
    averages = net.averages(model, x, anew)
    return model.step(x, pool(averages)) - x, averages


def derivatives(at: Callable[[np.ndarray], np.ndarray], x: np.ndarray, step: float = STEP) -> np.ndarray:
    """Differentiate an array-valued function of the coordinates x (n,) by central differences.

    The derivatives of ``at(x)`` are on a new last axis.
    """
    sides = [(at(x + shift), at(x - shift)) for shift in step * np.eye(len(x))]
    return np.stack([(above - below) / (2 * step) for above, below in sides], axis=-1)


def is_settled(residual: float, left: np.ndarray, errors: np.ndarray) -> bool:
    """Return whether a root is found: the residual, or the estimated distance to the root, is small enough.

    The residual must be at most `TOLERANCE`, or the distance far below the standard error in each coordinate.

    left: distance to the root in each coordinate, (n,)
    """
    return residual <= TOLERANCE or bool((np.abs(left) <= UNRESOLVED_SHARE * errors).all())


def is_present(own: np.ndarray, errors: np.ndarray) -> bool:
    """Return whether the coordinates that define a branch (`own`) differ significantly from zero."""
    return bool((np.abs(own) > np.maximum(SMALLEST_OVERLAP, 3 * errors)).all())


def _polish(model, x, net):
    """Return the fixed point close to x, and the averages over the fields there.

    The averages are computed after a new search for the minima.
    """
    evaluations = 30 + 10 * len(x)
    return polish(lambda x, anew: displacement(model, x, net, anew), x, maxfev=evaluations, xtol=TOLERANCE / 10)


class LinearExpansion(NamedTuple):
    """The first-order expansion of a map and its observables around a fixed point."""

    displacement: np.ndarray  #: (n,), remaining displacement in one step
    jacobian: np.ndarray  #: Jacobian J (n, n) of one step
    noise: float  #: largest standard error of J, in units of its response (1 - J)^-1
    moves: np.ndarray  #: (n, scrambles), displacement of the fixed point of each scramble
    slopes: dict[str, np.ndarray]  #: derivatives (n,) of each observable

    @property
    def errors(self) -> np.ndarray:
        """Standard errors of the coordinates (n,)."""
        return standard_error(self.moves.T)


def _solution_at(model, x, averages, net, before) -> Solution:
    """Compute all quantities of a `Solution` at a fixed point x, with their spread over the scrambled sets of points.

    x is a fixed point of the pooled averages, which a search has confirmed. The free energy is stationary, so its
    spread at x is enough.

    before: number of averages before this net was used
    """
    pooled = pool(averages)
    given = judged = _linear_at(model, x, averages, net, STEP)
    noisy = net.points[:, :, 0].size < FEW_POINTS and given.noise > LARGEST_NOISE
    if noisy and (wide := _linear_at(model, x, averages, net, WIDE_STEP)).noise < given.noise:
        judged, given = wide, max(given, wide, key=lambda each: each.errors.max())
    # Derivative of the map with respect to alpha, at fixed averages.
    above, below = (replace(model, alpha=model.alpha * (1 + side)).step(x, pooled) for side in (STEP, -STEP))
    drift = (above - below) / (2 * model.alpha * STEP)
    overlaps = model.unpack(x).plain
    moved = zip(*(model.unpack(x + move).plain for move in given.moves.T))
    spread = {name: np.array(values) for name, values in zip(overlaps._fields, moved)}
    spread["train_loss"] = model.alpha * (averages.moreau - pooled.moreau)
    each = model.observables(x, averages)
    spread |= {name: values + given.slopes[name] @ given.moves for name, values in each.items()}
    observed: dict[str, Any] = {name: float(value) for name, value in model.observables(x, pooled).items()}
    train_loss, free_energy = map(float, model.losses(x, pooled))
    finite = np.isfinite([train_loss, free_energy, *spread["train_loss"], *given.moves.ravel()]).all()
    reason = _reason_against(model, x, averages, judged, noisy) if finite else NO_CONVERGENCE
    points = net.points.shape[1]
    if finite and reason == NO_CONVERGENCE:
        reason += f": try more points than {points}, or another seed"
    if reason == NO_RESOLUTION:
        name, known = "theta" if len(model.teacher[0]) else "m", "zero within a large error"
        if isinstance(overlaps, Scalars):
            known = f"{name} = {Measured(getattr(overlaps, name), standard_error(spread[name]))}"
        reason += f": {known} on {points} points; try {4 * points}"
    return Solution(
        alpha=model.alpha,
        overlaps=overlaps,
        train_loss=train_loss,
        free_energy=free_energy,
        train_slope=float(pooled.moreau),
        test_slope=float(given.slopes["test_mse"] @ np.linalg.solve(np.eye(len(x)) - given.jacobian, drift)),
        residual=float(np.abs(given.displacement).max()),
        reason=reason,
        iterations=before + net.calls,
        spread=spread,
        **observed,
    )


def _linear_at(model, x, averages, net, step) -> LinearExpansion:
    """Return the first-order expansion of the map around x, by central differences with a given step.

    To first order, scramble k alone has its fixed point at ``x + (1 - J)^-1 (F_k(x) - x)``, where J is the Jacobian of
    the map F. The spread of these points gives the error bars.
    """

    def at(x):
        """Return the results of one iteration from x, in one array.

        They are x after the iteration, first for each scrambled set of points and then for all points together, and
        the observables.
        """
        each = net.averages(model, x)
        means = pool(each)
        return np.array([*model.step(x, each).ravel(), *model.step(x, means), *model.observables(x, means).values()])

    image, images = model.step(x, pool(averages)), model.step(x, averages)
    apart, jacobian, slopes = np.split(derivatives(at, x, step), [images.size, images.size + len(x)])
    response = np.eye(len(x)) - jacobian
    noise = standard_error(np.linalg.solve(response, apart.reshape(*images.shape, -1) - jacobian)).max()
    moves = np.linalg.solve(response, (images - image).T)
    return LinearExpansion(image - x, jacobian, noise, moves, dict(zip(model.observables(x, averages), slopes)))


def _reason_against(model, x, averages, linear, noisy) -> str:
    """Return the reason why x is not a solution, or an empty string.

    noisy: whether there are so few points that the derivatives over `STEP` are noise
    """
    own, errors = x[model.own], linear.errors
    # If the standard errors are unreliable, only an overlap of order one counts as different from zero.
    doubt = noisy and linear.noise > LARGEST_NOISE
    left = np.linalg.solve(np.eye(len(x)) - linear.jacobian, linear.displacement)
    if not is_settled(np.abs(linear.displacement).max(), left, errors):
        return NO_CONVERGENCE
    if not is_present(own, errors[model.own]) or (doubt and (np.abs(own) < 1).any()):
        # If the weights vanish, the errors of the overlaps vanish as well.
        size = min(1.0, np.sqrt(model.unpack(x).q.max() / model.setting.rho.max()))
        return BRANCH_END if not doubt and (3 * size * errors[model.own] <= RESOLVED_ERROR).all() else NO_RESOLUTION
    if not (np.linalg.eigvals(linear.jacobian).real < 1).all():
        return NO_RESOLUTION if noisy else SADDLE
    return CLUSTER_PULL if model.is_pulled(averages) else ""
