"""Students from the authors' tables that no other experiment trains, and students trained with wrong settings.

The settings of gradient descent are wrong on purpose.

Experiments:
    published_cells: Cells of the authors' tables that other experiments lack, by both optimisers: omega > 0.5, and
        sigma = 1.
    slips: Part of the map of Figure 3 with wrong settings of gradient descent, on one data set that the map also has.
"""

from dataclasses import dataclass, field

from attention_phases.task import Task

from ..grids import ALPHAS, OMEGAS, tasks
from ..students import StudentCell, students

SLIPS = {"rate": {"rate": 0.1}, "steps": {"steps": 4500}}  # instead of the published 0.15 and 5,000


@dataclass(frozen=True)
class SlipCell(StudentCell):
    """A cell (one unit of an experiment) that trains students with a setting that is wrong on purpose (one of `SLIPS`).

    The question is whether the comparison with the published means would reveal the mistake.

    Columns:
        slip: what is wrong on purpose: 4,500 steps of gradient descent, or a rate of 0.1
    """

    kind = StudentCell.kind._replace(runs=None)

    slip: str = field(kw_only=True)

    @property
    def settings(self) -> dict:
        return SLIPS[self.slip]


OMEGA_TASKS = [Task(omega=0.55), Task(omega=0.55, matrix="alternative"), Task(omega=0.7, matrix="alternative")]
CELL_AXES = {"optimizer": ["gd", "lbfgs"], "task": [*OMEGA_TASKS, Task(sigma=1.0)]}
students("published_cells")(
    paper={"seed": range(10), **CELL_AXES, "alpha": ALPHAS, "d": 1000},
    laptop={"seed": range(2), **CELL_AXES, "alpha": ALPHAS[::6], "d": 300},
    smoke={"seed": range(2), **CELL_AXES, "alpha": ALPHAS[::12], "d": 100},
)
students("slips", {"slip": [*SLIPS], "optimizer": "gd", "seed": 0}, SlipCell)(
    paper={"task": tasks(OMEGAS[::3]), "alpha": ALPHAS[::2], "d": 1000},
    laptop={"task": tasks(OMEGAS[::12]), "alpha": ALPHAS[::6], "d": 300},
    smoke={"task": tasks(OMEGAS[::24]), "alpha": ALPHAS[::12], "d": 100},
)
