"""The end points of training at small alpha, where students remain close to their initial weights.

Experiments:
    memory: End points of students from three kinds of starts at small alpha, in growing dimension.
"""

from attention_phases.task import Task

from ..grids import ALPHAS
from ..students import INFORMED, RANDOM, students

# At small alpha, students remain near their starts, although theory has no minimum there, or only a minimum with a
# smaller overlap.
REMEMBERED_TASKS = [Task(omega=0.18, matrix="alternative"), Task(lam=0.001), Task(sigma=0.7)]
students("memory", {"starts": (*INFORMED, *RANDOM * 3)})(
    paper={"d": [250, 500, 1000, 2000], "seed": range(16), "task": REMEMBERED_TASKS, "alpha": ALPHAS[4]},
    laptop={"d": [125, 250, 500], "seed": range(8), "task": REMEMBERED_TASKS, "alpha": ALPHAS[4]},
    smoke={"d": 50, "seed": range(3), "task": REMEMBERED_TASKS, "alpha": ALPHAS[8]},
)
