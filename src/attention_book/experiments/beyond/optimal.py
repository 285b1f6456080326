"""The optimal learner, and students to whom omega A is given.

Experiments:
    recovery: Message passing of the optimal learner, from random weights.
    positions_given: Students to whom omega A is given, from the teacher and from random weights.
    penalty: Students to whom omega A is given, at small penalties, from the teacher and from random weights.
    positions_given_theory: Theory of students to whom omega A is given: losses over (1 - omega)^2 are those of the task
        without positions.
    penalty_theory: Theory of students to whom omega A is given, down to a ten-thousandth of the usual penalty.
"""

from dataclasses import dataclass, replace

import numpy as np

from attention_phases.task import Task

from ..grids import register
from ..kinds import Kind
from ..lines import LINE, lines
from ..students import OnData, StudentCell, both, students


def look_for_teacher(cell):
    """Row of a `RecoveryCell`: how much of the teacher it knows, and the test error of what it would predict."""
    from attention_phases.amp.recovery import recover
    from attention_phases.beyond.optimal import estimate_error

    q, steps, converged = recover(cell.task, cell.alpha, cell.d, cell.rng())
    test_mse = estimate_error(cell.task, min(q, 1.0)).value
    return [{"squared_cosine": q, "test_mse": test_mse, "steps": steps, "converged": converged}]


def beside_positions(task, data):
    """Return the training set as a student sees it that adds omega A itself to (1 - omega) S.

    Its misses ``(1 - omega) s + omega A_aa - target`` are those of S on the teacher's semantic part, times 1 - omega.
    """
    from torch import tensor

    known = task.omega * tensor(np.diag(task.matrix)).to(data.targets)
    share = 1 - task.omega
    return replace(data, stiffness=share**2 * data.stiffness, targets=(data.targets - known) / share)


@dataclass(frozen=True)
class RecoveryCell(OnData):
    """Message passing of the optimal learner from random weights, see `amp.recovery`.

    Columns:
        squared_cosine [1]: squared cosine of the weights with the teacher
        converged: whether the iteration stands still, or knows the teacher
    """

    kind = Kind(
        look_for_teacher,
        # Where little is learnt the fixed point is approached slowly, and the change at which it ends is 1e-8.
        {"squared_cosine": (0, 1e-3), "test_mse": (1e-3, 1e-12), "converged": (0, 0)},
        {"steps": "the last digits decide when it stands still"},
        unsettled=("converged", False),
    )


class PositionsGivenCell(StudentCell):
    """The same students, which add omega A themselves to their attention."""

    @property
    def settings(self) -> dict:
        return {"given": self.task.omega}

    def seen(self, data):
        return beside_positions(self.task, data)


# Around the optimal learner's thresholds, 1/6 and 1/2, and alpha_c near 0.6 of students to whom omega A is given.
TENTHS = [round(0.1 * k, 2) for k in range(1, 11)]
register(RecoveryCell, "recovery", {"task": Task()})(
    paper={"seed": range(8), "alpha": [*TENTHS, 0.45, 0.55, 0.65], "d": 1000},
    laptop={"seed": range(4), "alpha": TENTHS, "d": 500},
    smoke={"seed": range(2), "alpha": [0.3, 0.8], "d": 100},
)
students("positions_given", {"starts": ("semantic", "random")}, PositionsGivenCell)(
    paper={"optimizer seed": both(8, 3), "alpha": [*TENTHS, 1.25, 1.5, 2.0], "d": 1000},
    laptop={"seed": range(4), "alpha": TENTHS[1::2], "d": 300},
    smoke={"seed": range(2), "alpha": [0.5, 1.0], "d": 60},
)
LIGHT = [Task(lam=share * Task().lam) for share in (0.25, 0.05, 0.01, 1e-3)]
students("penalty", {"starts": ("semantic", "random")}, PositionsGivenCell)(
    paper={"seed": range(4), "d": [500, 1000], "task": LIGHT, "alpha": [0.6, 0.8, 1.0, 2.0]},
    laptop={"task": LIGHT[::2], "alpha": [0.8, 2.0], "seed": range(2), "d": 300},
    smoke={"task": LIGHT[:2], "alpha": [1.0], "seed": range(2), "d": 60},
)

# At omega = 0.3; the penalty over (1 - omega)^2 is that of the task without positions.
lines("positions_given_theory", {"task": Task(omega=0.0, lam=Task().lam / (1 - Task().omega) ** 2)})(**LINE)
# Of these students: their penalty over the usual one, and the task without positions that has their minima.
PENALTIES = (1.0, 0.25, 0.05, 0.01, 1e-3, 1e-4)
LIGHTER = {share: Task(omega=0.0, lam=share * Task().lam / (1 - Task().omega) ** 2) for share in PENALTIES}
GIVEN_ALPHAS = (0.5, 0.55, 0.6, 0.7, 0.8, 1.0, 1.5, 2.0)
lines("penalty_theory")(
    paper={"task": [*LIGHTER.values()], "alphas": GIVEN_ALPHAS, "points": 2**10, "scrambles": 16},
    laptop={"task": [*LIGHTER.values()][::2], "alphas": GIVEN_ALPHAS[2::2], "points": 2**8, "scrambles": 16},
    smoke={"task": [*LIGHTER.values()][1:3], "alphas": GIVEN_ALPHAS[4::3], "points": 2**5, "scrambles": 8},
)
