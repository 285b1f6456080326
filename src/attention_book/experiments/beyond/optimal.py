"""The optimal learner, and students that know the positional part omega A of the teacher.

Experiments:
    recovery: Message passing of the optimal learner from random weights.
    positions_given: Students that are given omega A, from the teacher and from random weights.
    penalty: Students that are given omega A, at small penalties, from the teacher and from random weights.
    positions_given_theory: Theory of students that are given omega A. Their losses divided by (1 - omega)^2 are the
        losses of a task without positions.
    penalty_theory: Theory of students that are given omega A, down to a ten-thousandth of the usual penalty.
"""

from dataclasses import dataclass, replace

import numpy as np

from attention_phases.task import Task

from ..grids import register
from ..kinds import Kind
from ..lines import LINE, lines
from ..students import OnData, StudentCell, seed_pairs, students


def look_for_teacher(cell):
    """Estimate the teacher by message passing, and return the test error and the squared cosine of the estimate.

    cell: a `RecoveryCell`.
    """
    from attention_phases.amp.recovery import recover
    from attention_phases.beyond.optimal import estimate_error

    q, steps, converged = recover(cell.task, cell.alpha, cell.d, cell.rng())
    test_mse = estimate_error(cell.task, min(q, 1.0)).value
    return [{"squared_cosine": q, "test_mse": test_mse, "steps": steps, "converged": converged}]


def with_positions_given(task, data):
    """Transform a training set so that fitting S to it is the same as fitting (1 - omega) S + omega A to the original.

    S is the attention of a student, and omega A is the positional part of the target. The misfits ``(1 - omega) s +
    omega A_aa - target`` equal 1 - omega times the misfits of S on the semantic part of the target.
    """
    from torch import tensor

    known = task.omega * tensor(np.diag(task.matrix)).to(data.targets)
    share = 1 - task.omega
    return replace(data, stiffness=share**2 * data.stiffness, targets=(data.targets - known) / share)


@dataclass(frozen=True)
class RecoveryCell(OnData):
    """A cell (one unit of an experiment) that runs the message passing of the optimal learner from random weights.

    The message passing is `amp.recovery`.

    Columns:
        squared_cosine [1]: squared cosine of the weights with the teacher
        converged: whether the iteration settled or found the teacher
    """

    kind = Kind(
        look_for_teacher,
        # If little is learnt, the iteration approaches its fixed point slowly, and it stops at a change of 1e-8.
        {"squared_cosine": (0, 1e-3), "test_mse": (1e-3, 1e-12), "converged": (0, 0)},
        {"steps": "the last digits decide when the iteration stops"},
        unsettled=("converged", False),
    )


class PositionsGivenCell(StudentCell):
    """A cell (one unit of an experiment) that trains students whose attention includes the teacher's positional part.

    This part is omega A.
    """

    @property
    def settings(self) -> dict:
        return {"given": self.task.omega}

    def seen(self, data):
        return with_positions_given(self.task, data)


# These alphas are around the thresholds 1/6 and 1/2 of the optimal learner. They are also around 0.6, close to the
# alpha_c of students that are given omega A.
ALPHAS_TO_ONE = [round(0.1 * k, 2) for k in range(1, 11)]
register(RecoveryCell, "recovery", {"task": Task()})(
    paper={"seed": range(8), "alpha": [*ALPHAS_TO_ONE, 0.45, 0.55, 0.65], "d": 1000},
    laptop={"seed": range(4), "alpha": ALPHAS_TO_ONE, "d": 500},
    smoke={"seed": range(2), "alpha": [0.3, 0.8], "d": 100},
)
students("positions_given", {"starts": ("semantic", "random")}, PositionsGivenCell)(
    paper={"optimizer seed": seed_pairs(8, 3), "alpha": [*ALPHAS_TO_ONE, 1.25, 1.5, 2.0], "d": 1000},
    laptop={"seed": range(4), "alpha": ALPHAS_TO_ONE[1::2], "d": 300},
    smoke={"seed": range(2), "alpha": [0.5, 1.0], "d": 60},
)
LIGHT_TASKS = [Task(lam=share * Task().lam) for share in (0.25, 0.05, 0.01, 1e-3)]
students("penalty", {"starts": ("semantic", "random")}, PositionsGivenCell)(
    paper={"seed": range(4), "d": [500, 1000], "task": LIGHT_TASKS, "alpha": [0.6, 0.8, 1.0, 2.0]},
    laptop={"task": LIGHT_TASKS[::2], "alpha": [0.8, 2.0], "seed": range(2), "d": 300},
    smoke={"task": LIGHT_TASKS[:2], "alpha": [1.0], "seed": range(2), "d": 60},
)

# In the equivalent task without positions, the penalty is divided by (1 - omega)^2, with omega = 0.3.
lines("positions_given_theory", {"task": Task(omega=0.0, lam=Task().lam / (1 - Task().omega) ** 2)})(**LINE)
# Penalties of students that are given omega A, in units of the usual penalty. For each penalty, a task without
# positions has the same minima.
PENALTIES = (1.0, 0.25, 0.05, 0.01, 1e-3, 1e-4)
PENALTY_TASKS = {share: Task(omega=0.0, lam=share * Task().lam / (1 - Task().omega) ** 2) for share in PENALTIES}
GIVEN_ALPHAS = (0.5, 0.55, 0.6, 0.7, 0.8, 1.0, 1.5, 2.0)
lines("penalty_theory")(
    paper={"task": [*PENALTY_TASKS.values()], "alphas": GIVEN_ALPHAS, "points": 2**10, "scrambles": 16},
    laptop={"task": [*PENALTY_TASKS.values()][::2], "alphas": GIVEN_ALPHAS[2::2], "points": 2**8, "scrambles": 16},
    smoke={"task": [*PENALTY_TASKS.values()][1:3], "alphas": GIVEN_ALPHAS[4::3], "points": 2**5, "scrambles": 8},
)
