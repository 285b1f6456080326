"""Figure 8: results as functions of alpha for modified tasks, and theory as a function of the ridge penalty.

Experiments:
    fig08: Slices over alpha with one parameter of the task changed, by both optimisers.
    fig08_theory: Theory of Figure 8.
    ridge: Theory over the ridge penalty.
"""

from attention_phases.task import Task

from ..grids import ALPHAS
from ..lines import LINE, lines
from ..students import seed_pairs, students

CHANGED_VALUES = {"omega": (0.2, 0.3, 0.7), "sigma": (0.3, 0.5, 0.7), "lam": (0.1, 0.01, 0.001)}
# The standard task is in all three panels of the figure but only once in this list.
CHANGED_TASKS = list(dict.fromkeys(Task(**{name: value}) for name, span in CHANGED_VALUES.items() for value in span))
students("fig08")(
    paper={"optimizer seed": seed_pairs(24, 24), "task": CHANGED_TASKS, "alpha": ALPHAS, "d": 1000},
    laptop={"optimizer seed": seed_pairs(6, 2), "task": CHANGED_TASKS, "alpha": ALPHAS[::2], "d": 300},
    smoke={"optimizer seed": seed_pairs(3, 2), "task": CHANGED_TASKS, "alpha": ALPHAS[::8], "d": 100},
)

lines("fig08_theory", {"task": CHANGED_TASKS})(**LINE)
RIDGES = [Task(lam=lam) for lam in (1e-4, 3e-4, 0.001, 0.002, 0.003, 0.005, 0.01, 0.03, 0.1, 0.3, 1.0)]
FEW_ALPHAS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.25, 1.5, 2.0, 3.0, 4.5, 6.5, 9.0, 12.0)
lines("ridge")(
    paper={"task": RIDGES, "alphas": FEW_ALPHAS, "points": 2**9, "scrambles": 16},
    laptop={"task": RIDGES[2:6:2] + RIDGES[6:], "alphas": FEW_ALPHAS, "points": 2**7, "scrambles": 16},
    smoke={"task": RIDGES[4:7:2], "alphas": FEW_ALPHAS[2:8:2], "points": 2**5, "scrambles": 8},
)
