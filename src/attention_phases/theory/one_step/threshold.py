"""alpha_c between the ground states with one step of replica symmetry breaking."""

from dataclasses import dataclass, field
from math import hypot, nan, sqrt

import numpy as np

from ..quadrature import SCRAMBLES
from ..thresholds import threshold
from .solution import BRANCHES, POINTS, one_step


@dataclass(frozen=True)
class OneStepThreshold:
    """alpha_c, and its distance from the replica-symmetric one.

    Attributes
    ----------
    alpha, stderr : float
    shift, shift_error : float
        alpha less the replica-symmetric alpha_c, much better known than either.
    reason : str
        Why it did not converge; empty if it did.
    solutions : dict of OneStep
        Both branches at the replica-symmetric alpha_c.
    """

    alpha: float
    stderr: float
    shift: float
    shift_error: float
    reason: str
    solutions: dict = field(repr=False)


def one_step_threshold(task, points=POINTS, scrambles=SCRAMBLES, seed=0):
    """Sample complexity where the ground states of the two branches have the same training loss.

    By one step of Newton's method from the replica-symmetric alpha_c, where the gap is that of the two shifts:
    ``(shift_positional - shift_semantic)/(slope_semantic - slope_positional)``. What is left is of the order of the
    shift squared. A branch where replica symmetry holds has no shift.

    Parameters
    ----------
    task : Task
    points, scrambles, seed : int
        Quadrature, see `one_step`.

    Returns
    -------
    OneStepThreshold
    """
    symmetric = threshold(task, "critical", 2 * points, scrambles, seed)
    if not symmetric.converged:
        return OneStepThreshold(nan, nan, nan, nan, "no replica-symmetric threshold", {})
    found = {branch: one_step(task, symmetric.alpha, branch, None, points, scrambles, seed) for branch in BRANCHES}
    semantic, positional = found.values()
    slope = semantic.slope - positional.slope
    shift = (positional.shift - semantic.shift) / slope
    error = np.std(positional.shifts - semantic.shifts, ddof=1) / sqrt(scrambles) / abs(slope)
    reason = "; ".join(f"{branch}: {each.reason}" for branch, each in found.items() if each.reason)
    alpha = symmetric.alpha + shift
    return OneStepThreshold(alpha, hypot(symmetric.stderr, error), shift, float(error), reason, found)
