"""The shifts that one-step replica symmetry breaking causes in the two thresholds alpha_c and alpha_l."""

from math import hypot, nan
from typing import NamedTuple

import numpy as np

from ...measured import NO_VALUE, Measured, standard_error
from ...model.prediction_error import test_error
from ...task import Task
from ...theory.branches import MINIMA
from ...theory.equations import Scalars
from ...theory.thresholds import Threshold, threshold
from .solution import OneStep, one_step

NO_SYMMETRIC_THRESHOLD = "no replica-symmetric threshold"


class MovedThreshold(NamedTuple):
    """A replica-symmetric threshold, and its shift due to symmetry breaking. The shift has a much smaller error."""

    symmetric: Threshold  #: threshold without symmetry breaking
    shift: Measured  #: shift of alpha; NaN if it was not found
    reason: str  #: why the shift was not found or is incomplete; empty if all solutions converged
    solutions: dict[str, OneStep]  #: ground states by branch, at the replica-symmetric alpha


def broken_critical(task: Task, points: int, scrambles: int, seed: int) -> MovedThreshold:
    """Return alpha_c, where the branches have equal training losses, and its shift due to symmetry breaking.

    alpha_c is replica-symmetric. At the shifted alpha_c the ground states of both branches have equal losses. The shift
    is one step of Newton's method from the replica-symmetric alpha_c, where the difference of the two losses equals the
    difference of the two shifts of Phi: ``(shift_positional - shift_semantic)/(slope_semantic - slope_positional)``.
    The error of the method is of the order of the shift squared. A branch on which replica symmetry holds has no shift.
    A solution that is `OneStep.solved` counts, with its value of Phi.

    points: as for `one_step`
    """
    symmetric = threshold(task, "critical", 2 * points, scrambles, seed)
    if not symmetric.exists:
        return MovedThreshold(symmetric, NO_VALUE, NO_SYMMETRIC_THRESHOLD, {})
    alpha = symmetric.alpha.value
    solutions = {branch: one_step(task, alpha, branch, None, points, scrambles, seed) for branch in MINIMA}
    reason = "; ".join(f"{branch}: {state.reason}" for branch, state in solutions.items() if state.reason)
    semantic, positional = solutions["semantic"], solutions["positional"]
    if not (semantic.solved and positional.solved):
        return MovedThreshold(symmetric, NO_VALUE, reason, solutions)
    slope = semantic.slope - positional.slope
    error = standard_error(positional.spread["shift"] - semantic.spread["shift"]) / abs(slope)
    shift = Measured((positional.shift - semantic.shift) / slope, error)
    return MovedThreshold(symmetric, shift, reason, solutions)


def broken_linear(task: Task, points: int, scrambles: int, seed: int) -> MovedThreshold:
    """Return alpha_l, where semantic and linear test errors are equal, and its shift due to symmetry breaking.

    alpha_l is replica-symmetric. At the shifted alpha_l the lowest semantic minima predict as well as the linear model.
    """
    symmetric = threshold(task, "linear", 2 * points, scrambles, seed)
    if not symmetric.exists:
        return MovedThreshold(symmetric, NO_VALUE, NO_SYMMETRIC_THRESHOLD, {})
    alpha = symmetric.alpha.value
    try:
        ground, typical = (one_step(task, alpha, "semantic", y, points, scrambles, seed) for y in (None, 0.0))
    except (ArithmeticError, np.linalg.LinAlgError) as error:
        # If q0 and q1 of a valley are almost equal, the iteration can leave the domain of the equations.
        return MovedThreshold(symmetric, NO_VALUE, f"no ground state: {error}", {})
    for state in (ground, typical):
        if not state.solved:
            return MovedThreshold(symmetric, NO_VALUE, f"no solution at y = {state.valley.y:g}: {state.reason}", {})
    shift = linear_shift(task, symmetric.solutions["semantic"].test_slope, ground, typical)
    return MovedThreshold(symmetric, shift, ground.reason, {"semantic": ground})


def linear_shift(task: Task, slope: float, ground: OneStep, typical: OneStep) -> Measured:
    """Return the shift of alpha_l if the lowest minima of the loss replace the replica-symmetric solution.

    The test error of a minimum with self-overlap q1 is the test error of a student with these overlaps. The test error
    of the solution at y = 0, which has the replica-symmetric overlaps on the same points, is subtracted. The error is
    an upper bound: the errors of q1 and theta are added, and the two solutions are treated as independent.

    Args:
        slope: derivative of the replica-symmetric test error with respect to alpha
        ground, typical: the ground state and the solution at y = 0, both at the replica-symmetric alpha_l
    """
    if ground.valley.gap == 0:
        return Measured(0.0, 0.0)
    lowest, before = _test_error(task, ground), _test_error(task, typical)
    return Measured(-(lowest.value - before.value) / slope, hypot(lowest.error, before.error) / abs(slope))


def _test_error(task: Task, solution: OneStep) -> Measured:
    _, _, m, theta, _, _ = solution.valley
    q1 = solution.valley.q0 + solution.valley.gap

    def at(q, theta):
        return test_error(task, Scalars(q, m, theta, nan)).value

    value, up, over = at(q1, theta), solution.stderr["q1"], solution.stderr["theta"]
    return Measured(value, abs(at(q1 + up, theta) - value) + abs(at(q1, theta + over) - value))
