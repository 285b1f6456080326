"""What one step of replica symmetry breaking changes at one omega: alpha_c, alpha_l, and the minima along y."""

from math import hypot, isfinite

import numpy as np

from attention_phases.theory.one_step.solution import one_step
from attention_phases.theory.one_step.threshold import one_step_threshold
from attention_phases.theory.prediction_error import test_error
from attention_phases.theory.thresholds import threshold

ERRORS = ("q0", "q1", "m", "theta", "V", "y", "phi", "energy", "complexity", "shift")


@np.errstate(all="ignore")  # only the result has to be finite; a search that fails says why
def ground_states(cell):
    """Rows of a `cells.OneStepThresholdsCell`.

    Parameters
    ----------
    cell : cells.OneStepThresholdsCell

    Returns
    -------
    list of dict
        "critical" and "linear": `alpha` of the threshold with `alpha_error`, `symmetric` and `symmetric_error` of the
        replica-symmetric one, `shift` and `shift_error` between the two (see `one_step_threshold`, `linear_shift`).
        "semantic" and "positional", the ground states at the replica-symmetric alpha_c, and "semantic at linear":
        alpha and all of `as_row`. Each has a `reason`, empty where the search for the ground state converged.
        Where there is no replica-symmetric threshold the row has nothing but its reason, and no row has what is not
        a finite number.
    """
    return [
        {name: value for name, value in row.items() if isinstance(value, str) or isfinite(value)}
        for row in _ground_states(cell)
    ]


def _ground_states(cell):
    task = cell.task
    quadrature = {"scrambles": cell.scrambles, "seed": cell.seed}
    found = one_step_threshold(task, cell.points, **quadrature)
    rows: list[dict] = [{"what": "critical", "reason": found.reason}]
    if found.solutions:
        symmetric = found.symmetric
        rows[0] |= _moved(symmetric.alpha, symmetric.stderr, found.shift, found.shift_error)
        rows += [{"what": branch, "alpha": symmetric.alpha, **as_row(each)} for branch, each in found.solutions.items()]
    return [*rows, *_at_linear(task, cell.points, quadrature)]


def _at_linear(task, points, quadrature):
    """The rows "linear" and "semantic at linear"."""
    linear = threshold(task, "linear", 2 * points, **quadrature)
    if not linear.converged:
        return [{"what": "linear", "reason": "no replica-symmetric threshold"}]
    try:
        ground, typical = (one_step(task, linear.alpha, "semantic", y, points, **quadrature) for y in (None, 0.0))
    except (ArithmeticError, np.linalg.LinAlgError) as error:
        # Where the two overlaps of a valley hardly differ, the iteration can leave the domain.
        return [{"what": "linear", "reason": f"no ground state: {error}"}]
    for each in (ground, typical):
        if not each.solved:
            return [{"what": "linear", "reason": f"no solution at y = {each.valley.y:g}: {each.reason}"}]
    shift = linear_shift(task, linear.solutions["semantic"].test_slope, ground, typical)
    return [
        {"what": "linear", "reason": ground.reason, **_moved(linear.alpha, linear.stderr, *shift)},
        {"what": "semantic at linear", "alpha": linear.alpha, **as_row(ground)},
    ]


def linear_shift(task, slope, ground, typical):
    """By how much alpha_l moves when the lowest minima predict in the place of the replica-symmetric solution.

    A minimum of size q1 has the test error of a student with these overlaps. The solution at y = 0, whose overlaps
    are the replica-symmetric ones on the same points, is subtracted.

    Parameters
    ----------
    task : Task
    slope : float
        Of the replica-symmetric test error in alpha.
    ground, typical : OneStep
        The ground state and the solution at y = 0, both at the replica-symmetric alpha_l.

    Returns
    -------
    shift, stderr : float
        The error takes those of q1 and theta as if they added up, and the two solutions as independent: an upper bound.
    """
    if ground.valley.gap == 0:
        return 0.0, 0.0
    (value, error), (before, error_before) = (_test_error(task, each) for each in (ground, typical))
    return -(value - before) / slope, hypot(error, error_before) / abs(slope)


def _test_error(task, found):
    q0, gap, m, theta, _, _ = found.valley

    def at(q, theta):
        return test_error(task, {"q": q, "m": m, "theta": theta, "rho": task.sigma**2, "m_teacher": 0.0})[0]

    value, up, over = at(q0 + gap, theta), found.stderr["q1"], found.stderr["theta"]
    return value, abs(at(q0 + gap + up, theta) - value) + abs(at(q0 + gap, theta + over) - value)


def along_y(cell):
    """Rows of a `cells.OneStepCell`: "solution" at each y of the cell, then the "ground state", see `as_row`."""
    task, quadrature = cell.task, {"points": cell.points, "scrambles": cell.scrambles, "seed": cell.seed}
    wanted = [("solution", y) for y in cell.ys] + [("ground state", None)]
    return [{"what": what, **as_row(one_step(task, cell.alpha, cell.branch, y, **quadrature))} for what, y in wanted]


def as_row(found):
    """Order parameters, Phi, e, Sigma, shift and slope of a `OneStep`, with standard errors as "q0_error" and so on."""
    q0, gap, m, theta, V, y = found.valley
    values = {"q0": q0, "q1": q0 + gap, "m": m, "theta": theta, "V": V, "y": y, "phi": found.phi}
    values |= {"energy": found.energy, "complexity": found.complexity, "shift": found.shift, "slope": found.slope}
    return {**values, **{f"{name}_error": found.stderr[name] for name in ERRORS}, "reason": found.reason}


def _moved(symmetric, symmetric_error, shift, shift_error):
    """A threshold that breaking moves by `shift`."""
    return {
        "alpha": symmetric + shift, "alpha_error": hypot(symmetric_error, shift_error),
        "symmetric": symmetric, "symmetric_error": symmetric_error, "shift": shift, "shift_error": shift_error,
    }  # fmt: skip
