"""Students tested on another task than they were trained on.

Experiments:
    another_task: Both starts where the semantic one has the lower loss but not the better predictions, tested on
        another task.
"""

from dataclasses import dataclass, field, replace

from attention_phases.task import Task

from ..students import STUDENTS, StudentCell, students


@dataclass(frozen=True)
class AnotherTaskCell(StudentCell):
    """The same students, and their errors on another task: `tested` has what differs in it, by name.

    Columns:
        tested: what differs in the task that is tested, as JSON: names and values
        tested_mse [1]: test error on that task, the mean over 4,000 sentences of it
        tested_linear_mse [1]: the same of the linear model fitted to the student's data
    """

    kind = StudentCell.kind._replace(
        tolerances=STUDENTS | dict.fromkeys(("tested_mse", "tested_linear_mse"), (1.5e-3, 0))
    )

    tested: tuple = field(kw_only=True)

    @property
    def settings(self) -> dict:
        return {"tested": replace(self.task, **dict(self.tested))}


# What differs in the tested task; then where no alpha lets the semantic student predict better than the linear model.
OTHER_TASKS = {
    "omega": (0.0, 0.15, 0.3, 0.45, 0.6, 0.8, 1.0),
    "matrix": [((own, other), (other, own)) for own, other in ((0.55, 0.45), (0.5, 0.5), (0.45, 0.55), (0.4, 0.6))],
    "sigma": (0.25, 0.35, 0.7, 1.0),
    "encoding": (0.25, 0.5, 1.5, 2.0),
}
TESTS = [(Task(), 1.4, ((name, value),)) for name, values in OTHER_TASKS.items() for value in values]
TESTS += [(Task(omega=0.55), 5.0, (("omega", value),)) for value in (0.3, 0.45, 0.8)]


def _tests(data_sets, step=1):
    """An axis "task alpha tested seed" of every so many tests, each on data sets of its own."""
    return [(*test, data_sets * k + seed) for k, test in enumerate(TESTS[::step]) for seed in range(data_sets)]


students("another_task", cell_type=AnotherTaskCell)(
    paper={"task alpha tested seed": _tests(12), "d": 1000},
    laptop={"task alpha tested seed": _tests(4), "d": 300},
    smoke={"task alpha tested seed": _tests(3, 3), "d": 60},
)
