"""alpha_c between the ground states with one step of replica symmetry breaking."""

from dataclasses import dataclass, field
from math import hypot, nan

from ...measured import standard_error
from ...task import Task
from ..branches import MINIMA
from ..quadrature import SCRAMBLES, usual_points
from ..thresholds import Threshold, threshold
from .solution import OneStep, one_step


@dataclass(frozen=True)
class OneStepThreshold:
    """alpha_c, and its distance from the replica-symmetric one.

    Attributes
    ----------
    alpha, stderr : float
        NaN without a solution on both branches; one that is `OneStep.solved` counts with the Phi it has.
    shift, shift_error : float
        alpha less the replica-symmetric alpha_c, much better known than either.
    reason : str
        Why it was not found; empty if it was.
    symmetric : Threshold
        The replica-symmetric one.
    solutions : dict of OneStep
        Both branches at the replica-symmetric alpha_c.
    """

    alpha: float
    stderr: float
    shift: float
    shift_error: float
    reason: str
    symmetric: Threshold
    solutions: dict[str, OneStep] = field(repr=False)


def one_step_threshold(task: Task, points: int | None = None, scrambles=SCRAMBLES, seed=0) -> OneStepThreshold:
    """Return the sample complexity where the ground states of the two branches have the same training loss.

    One step of Newton's method from the replica-symmetric alpha_c, where the difference of the losses is that of the
    two shifts: ``(shift_positional - shift_semantic)/(slope_semantic - slope_positional)``. The error of the method is
    of the order of the shift squared. A branch where replica symmetry holds has no shift.

    Parameters
    ----------
    task : Task
    points, scrambles, seed : int
        Quadrature, see `one_step`.

    Returns
    -------
    OneStepThreshold
    """
    points = usual_points("one step") if points is None else points
    symmetric = threshold(task, "critical", 2 * points, scrambles, seed)
    if not symmetric.converged:
        return OneStepThreshold(nan, nan, nan, nan, "no replica-symmetric threshold", symmetric, {})
    found = {branch: one_step(task, symmetric.alpha, branch, None, points, scrambles, seed) for branch in MINIMA}
    semantic, positional = found.values()
    slope = semantic.slope - positional.slope
    shift = (positional.shift - semantic.shift) / slope
    error = standard_error(positional.shifts - semantic.shifts) / abs(slope)
    reason = "; ".join(f"{branch}: {each.reason}" for branch, each in found.items() if each.reason)
    if not (semantic.solved and positional.solved):
        shift = error = nan
    alpha = symmetric.alpha + shift
    return OneStepThreshold(alpha, hypot(symmetric.stderr, error), shift, error, reason, symmetric, found)
