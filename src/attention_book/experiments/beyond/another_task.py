"""Students that are trained on one task and tested on another task.

Experiments:
    another_task: Both starts, tested on other tasks, at an alpha where the semantic student has the lower training loss
        but predicts worse than the linear model.
"""

from dataclasses import dataclass, field, replace

from attention_phases.task import Task

from ..students import STUDENTS, StudentCell, students


@dataclass(frozen=True)
class AnotherTaskCell(StudentCell):
    """A cell (one unit of an experiment) that trains students on one task and tests them on another task.

    The tested task differs from the training task in the parameters `tested`.

    Columns:
        tested: parameters of the tested task that differ from the training task, as JSON: names and values
        tested_mse [1]: test error on the tested task, the mean over 4,000 of its sentences
        tested_linear_mse [1]: test error on the tested task of the linear model fitted to the student's data
    """

    kind = StudentCell.kind._replace(
        tolerances=STUDENTS | dict.fromkeys(("tested_mse", "tested_linear_mse"), (1.5e-3, 0))
    )

    tested: tuple = field(kw_only=True)

    @property
    def settings(self) -> dict:
        return {"tested": replace(self.task, **dict(self.tested))}


# Values of the parameters in which the tested task differs from the training task. The students of the last three tests
# are trained at omega = 0.55, where the semantic student does not predict better than the linear model at any alpha.
OTHER_TASKS = {
    "omega": (0.0, 0.15, 0.3, 0.45, 0.6, 0.8, 1.0),
    "matrix": [((a, b), (b, a)) for a, b in ((0.55, 0.45), (0.5, 0.5), (0.45, 0.55), (0.4, 0.6))],
    "sigma": (0.25, 0.35, 0.7, 1.0),
    "encoding": (0.25, 0.5, 1.5, 2.0),
}
TESTS = [(Task(), 1.4, ((name, value),)) for name, values in OTHER_TASKS.items() for value in values]
TESTS += [(Task(omega=0.55), 5.0, (("omega", value),)) for value in (0.3, 0.45, 0.8)]


def _tests(data_sets, step=1):
    """Return tuples (task, alpha, tested, seed) for every `step`-th of the `TESTS`, each with its own data sets.

    They are the values of an axis "task alpha tested seed".
    """
    return [(*test, data_sets * k + seed) for k, test in enumerate(TESTS[::step]) for seed in range(data_sets)]


students("another_task", cell_type=AnotherTaskCell)(
    paper={"task alpha tested seed": _tests(12), "d": 1000},
    laptop={"task alpha tested seed": _tests(4), "d": 300},
    smoke={"task alpha tested seed": _tests(3, 3), "d": 60},
)
