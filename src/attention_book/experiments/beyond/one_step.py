"""Theory with one step of replica symmetry breaking: thresholds, and ground states at several alphas.

Experiments:
    one_step: Both thresholds with one step of replica symmetry breaking over omega.
    one_step_alternative: Both thresholds with one step of replica symmetry breaking at small omega, alternative A.
    responses_theory: Responses of ground states with one step of replica symmetry breaking along alpha.
"""

from dataclasses import dataclass, field

import numpy as np

from attention_phases.task import Task

from ..grids import register, tasks
from ..kinds import Kind, with_errors
from ..lines import OnNets, prune
from ..students import INFORMED


@np.errstate(all="ignore")  # intermediate results may be infinite; a failed search returns its reason
def broken_thresholds(cell) -> list[dict]:
    """Compute both thresholds with one step of replica symmetry breaking, and return them as rows.

    The rows "critical" and "linear" have the `alpha` of the threshold with `alpha_error`, `symmetric` and
    `symmetric_error` of the replica-symmetric threshold, and the `shift` between both with `shift_error`
    (`one_step.threshold`). The rows "semantic" and "positional" are the ground states at the replica-symmetric alpha_c,
    and the row "semantic at linear" is the ground state at alpha_l. They have alpha and everything of `one_step_row`.
    Each row has a `reason`, which is empty if the search for the ground state converged. If there is no threshold, the
    row has only its reason. Numbers that are not finite are left out.

    cell: a `OneStepThresholdsCell`.
    """
    from attention_phases.beyond.one_step.threshold import broken_critical, broken_linear

    quadrature = {"points": cell.points, **cell.quadrature}
    rows = _moved_rows("critical", "", broken_critical(cell.task, **quadrature))
    rows += _moved_rows("linear", " at linear", broken_linear(cell.task, **quadrature))
    return [prune(row) for row in rows]


def _moved_rows(kind, place, moved):
    row = {"what": kind, "reason": moved.reason}
    if not moved.solutions:
        return [row]
    symmetric, shift = moved.symmetric, moved.shift
    for name, alpha in (("alpha", symmetric.alpha + shift), ("symmetric", symmetric.alpha), ("shift", shift)):
        row |= {name: alpha.value, f"{name}_error": alpha.error}
    states = [
        {"what": branch + place, "alpha": symmetric.alpha.value, **one_step_row(state)}
        for branch, state in moved.solutions.items()
    ]
    return [row, *states]


def broken_state(cell) -> list[dict]:
    """Compute one ground state with one step of replica symmetry breaking, and return it as a row.

    The row has all finite numbers of `one_step_row`.

    cell: a `OneStepCell`.
    """
    from attention_phases.beyond.one_step.solution import one_step

    return [prune(one_step_row(one_step(cell.task, cell.alpha, cell.branch, None, cell.points, **cell.quadrature)))]


def one_step_row(solution) -> dict:
    """Return a solution as a dictionary: its quantities, their errors, dPhi/dalpha, and the reason for any failure.

    The name of an error has a suffix, as in "q0_error". The name of dPhi/dalpha is "slope".
    """
    errors = {f"{name}_error": error for name, error in solution.stderr.items()}
    return {**solution.quantities, "slope": solution.slope, **errors, "reason": solution.reason}


STATE_COLUMNS = ("alpha", "symmetric", "q0", "q1", "m", "theta", "V", "phi", "energy", "slope")
# The maximum of Phi over y is flat, so y and the quantities that depend on y have fewer reproducible digits.
MAXIMUM_TOLERANCES = {"y": (0.1, 0), "complexity": (0.1, 3e-5), "shift": (5e-2, 1e-7)}
ONE_STEP = with_errors((*STATE_COLUMNS, *MAXIMUM_TOLERANCES), (2e-3, 1e-9), (0.3, 1e-8)) | MAXIMUM_TOLERANCES


class OnOneStep(OnNets):
    """A cell (one unit of an experiment) that computes results for one task with one step of replica symmetry breaking.

    Columns:
        q0 [1]: overlap of different minima
        q1 [1]: size q of one minimum
        y [1]: parameter conjugate to the risk
        phi [1]: Phi(y); at the ground state the training loss of the lowest minima
        energy [1]: e = d(y Phi)/dy, training loss of the minima
        complexity [1]: Sigma, logarithm of the number of minima per dimension
        shift [1]: for solutions, Phi minus the replica-symmetric loss; for thresholds, the change of alpha
        slope [1]: dPhi/dalpha
    """


class OneStepThresholdsCell(OnOneStep):
    """A cell (one unit of an experiment) that computes both thresholds with one step of replica symmetry breaking.

    Columns:
        what: what the row is about
            - critical: alpha_c, where the training losses of both branches cross
            - linear: alpha_l, where the semantic test error crosses the test error of the linear model
            - semantic: the ground state of the semantic branch at the replica-symmetric alpha_c
            - positional: the ground state of the positional branch at the replica-symmetric alpha_c
            - semantic at linear: the ground state of the semantic branch at the replica-symmetric alpha_l
        alpha [1]: sample complexity n/d of the solution, or the threshold or end that the row is about
        symmetric [1]: threshold with replica symmetry
    """

    kind = Kind(broken_thresholds, ONE_STEP)


@dataclass(frozen=True)
class OneStepCell(OnOneStep):
    """A cell (one unit of an experiment) that computes one ground state with one step of replica symmetry breaking.

    Columns:
        branch: branch of theory
            - semantic: the semantic branch or valley
            - positional: the positional branch or valley
    """

    kind = Kind(broken_state, ONE_STEP)

    alpha: float = field(kw_only=True)
    branch: str = field(kw_only=True)


# From omega = 0.2 on, the maximum of Phi exceeds the replica-symmetric loss so little that more points are needed to
# resolve it.
register(OneStepThresholdsCell, "one_step")(
    paper=[
        {"task": tasks([0.02, 0.04, 0.06, 0.1, 0.14]), "points": 2**12, "scrambles": 16},
        {"task": tasks([0.2, 0.3, 0.4, 0.45]), "points": 2**14, "scrambles": 16},
    ],
    laptop={"task": tasks([0.1, 0.3]), "points": 2**9, "scrambles": 8},
    smoke={"task": tasks([0.1]), "points": 2**9, "scrambles": 4},
)
SMALL_OMEGAS = tasks([0.02, 0.04, 0.06, 0.1, 0.14, 0.2], matrix="alternative")
register(OneStepThresholdsCell, "one_step_alternative")(
    paper={"task": SMALL_OMEGAS, "points": 2**12, "scrambles": 16},
    laptop={"task": SMALL_OMEGAS[2:3], "points": 2**9, "scrambles": 8},
    smoke={"task": SMALL_OMEGAS[1:2], "points": 2**8, "scrambles": 4},
)
# Each branch exists at the alphas that are listed for it.
STATES = [(alpha, branch) for alpha in (0.65, 0.8, 0.95) for branch in INFORMED]
STATES += [(1.05, "positional"), *((alpha, "semantic") for alpha in (1.3, 1.8, 2.3, 3.0))]
LATE_STATES = [(alpha, branch) for alpha in (1.0, 1.5, 2.5, 4.0, 6.0, 8.0, 12.0) for branch in INFORMED]
register(OneStepCell, "responses_theory", {"task": Task(omega=0.1)})(
    paper=[
        {"alpha branch": STATES, "points": 2**12, "scrambles": 16},
        {"task": Task(), "alpha branch": LATE_STATES, "points": 2**13, "scrambles": 16},
    ],
    laptop={"alpha branch": STATES, "points": 2**9, "scrambles": 8},
    smoke={"alpha branch": STATES[-1:], "points": 2**8, "scrambles": 8},
)
