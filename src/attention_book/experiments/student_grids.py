"""Sizes of the experiments that train the standard student (paper, Sections 5 and E)."""

from attention_phases.task import Task

from . import cells
from .cells import INFORMED
from .grids import ALPHAS, OMEGAS, at, completed, register, tasks

DIMENSIONS = [10, 15, 23, 36, 56, 87, 135, 209, 323, 500]
RANDOM = ("random",)


def students(name, about, fixed=None, cell_type=cells.StudentCell, **sizes):
    """Enter an experiment on students: of the standard task and by L-BFGS, unless a table says otherwise."""
    fixed = completed(fixed or {}, {"task": Task(), "optimizer": "lbfgs"})
    register(name, about, fixed, cell_type, **sizes)


def both(seeds, repeated):
    """An axis "optimizer seed": L-BFGS, and on the first data sets again gradient descent as published."""
    return [("lbfgs", seed) for seed in range(seeds)] + [("gd", seed) for seed in range(repeated)]


students(
    "fig02",
    "Slice of one task: both starts over alpha, by L-BFGS and by the published gradient descent.",
    paper={"optimizer": ["lbfgs", "gd"], "seed": range(24), "alpha": ALPHAS, "d": 1000},
    laptop={"seed": range(8), "alpha": ALPHAS[::2], "d": 1000},
    smoke={"seed": range(3), "alpha": ALPHAS[::8], "d": 200},
)
# In maps, one instance of all of a map comes after the other, so that a part of the work is a whole map.
students(
    "fig03",
    "Map over alpha and omega, standard A, by both optimisers.",
    paper={"optimizer seed": both(24, 10), "task": tasks(OMEGAS), "alpha": ALPHAS, "d": 1000},
    laptop={"optimizer seed": both(6, 2), "task": tasks(OMEGAS[::4]), "alpha": ALPHAS[::2], "d": 300},
    smoke={"optimizer seed": both(3, 2), "task": tasks(OMEGAS[::8]), "alpha": ALPHAS[::8], "d": 100},
)
BEYOND = [Task(omega=0.55), Task(omega=0.55, matrix="alternative"), Task(omega=0.7, matrix="alternative")]
PUBLISHED = {"optimizer": ["gd", "lbfgs"], "task": [*BEYOND, Task(sigma=1.0)]}
students(
    "published_cells",
    "What the authors' tables have beside ours, by both optimisers: omega beyond a half, and sigma = 1.",
    paper={"seed": range(10), **PUBLISHED, "alpha": ALPHAS, "d": 1000},
    laptop={"seed": range(2), **PUBLISHED, "alpha": ALPHAS[::6], "d": 300},
    smoke={"seed": range(2), **PUBLISHED, "alpha": ALPHAS[::12], "d": 100},
)
students(
    "slips",
    "Part of the map of Figure 3 with slips in gradient descent, on one data set that the map has without them.",
    {"slip": [*cells.SLIPS], "optimizer": "gd", "seed": 0},
    cells.SlipCell,
    paper={"task": tasks(OMEGAS[::3]), "alpha": ALPHAS[::2], "d": 1000},
    laptop={"task": tasks(OMEGAS[::12]), "alpha": ALPHAS[::6], "d": 300},
    smoke={"task": tasks(OMEGAS[::24]), "alpha": ALPHAS[::12], "d": 100},
)
CROSSED = at((0.02, 0.64), (0.1, 0.75), (0.2, 0.95), (0.3, 1.25), (0.4, 1.77), (0.3, 2.0))
EIGHT_AROUND = ("semantic", *["near_semantic"] * 7, "positional", *["near_positional"] * 7)
FOUR_AROUND = ("semantic", *["near_semantic"] * 3, "positional", *["near_positional"] * 3)
students(
    "fig03_minima",
    "Several starts around each of the two, on one data set: close to the transition, and far beyond it.",
    paper={"seed": range(8), "task alpha": CROSSED, "d": 1000, "starts": EIGHT_AROUND},
    laptop={"seed": range(3), "task alpha": CROSSED, "d": 500, "starts": EIGHT_AROUND},
    smoke={"seed": range(3), "task alpha": CROSSED[1:3], "d": 100, "starts": FOUR_AROUND},
)
# At small d the published gradient descent stays in the valley where it starts, L-BFGS may leave it.
students(
    "fig07",
    "Both minima in growing dimension, at alpha = 1.5; Figure 3's left panel and Figure 7.",
    {"alpha": 1.5},
    paper={"optimizer": ["lbfgs", "gd"], "seed": range(100), "d": DIMENSIONS},
    laptop={"optimizer": "gd", "seed": range(8), "d": DIMENSIONS},
    smoke={"optimizer": "gd", "seed": range(4), "d": DIMENSIONS[:7:3]},
)
CHANGED = {"omega": (0.2, 0.3, 0.7), "sigma": (0.3, 0.5, 0.7), "lam": (0.1, 0.01, 0.001)}
# Each once: the standard task stands in all three of the panels.
CHANGED_TASKS = list(dict.fromkeys(Task(**{name: value}) for name, some in CHANGED.items() for value in some))
students(
    "fig08",
    "Slices over alpha with one parameter of the task changed, by both optimisers.",
    paper={"optimizer seed": both(24, 24), "task": CHANGED_TASKS, "alpha": ALPHAS, "d": 1000},
    laptop={"optimizer seed": both(6, 2), "task": CHANGED_TASKS, "alpha": ALPHAS[::2], "d": 300},
    smoke={"optimizer seed": both(3, 2), "task": CHANGED_TASKS, "alpha": ALPHAS[::8], "d": 100},
)
ALTERNATIVE = tasks(OMEGAS, matrix="alternative")
students(
    "fig09",
    "Map over alpha and omega, alternative A, by both optimisers.",
    paper={"optimizer seed": both(10, 10), "task": ALTERNATIVE, "alpha": ALPHAS, "d": 1000},
    laptop={"optimizer seed": both(6, 2), "task": ALTERNATIVE[::4], "alpha": ALPHAS[::2], "d": 300},
    smoke={"optimizer seed": both(3, 2), "task": ALTERNATIVE[::8], "alpha": ALPHAS[::8], "d": 100},
)
# The minima that a random start may end in are trained on the same data; then these alone, in a large dimension.
SEARCHES = {"optimizer starts": [("lbfgs", INFORMED), ("adam", RANDOM)]}
students(
    "fig15",
    "Adam from random starts at alpha = 2, and the two minima on the same data, to tell where a run has ended.",
    {"alpha": 2.0},
    paper=[{"seed": range(140), **SEARCHES, "d": 100}, {"seed": range(24), "d": 1000}],
    laptop=[{"seed": range(40), **SEARCHES, "d": 100}, {"seed": range(8), "d": 500}],
    smoke=[{"seed": range(8), **SEARCHES, "d": 30}, {"seed": range(3), "d": 60}],
)


def _searches(runs):
    """The two minima, and random starts by three optimisers."""
    return [("lbfgs", INFORMED), *((optimizer, RANDOM * runs) for optimizer in ("adam", "gd", "lbfgs"))]


students(
    "fig15_fractions",
    "Random starts over alpha and d, by three optimisers: how often is which minimum found?",
    paper={
        "d": [50, 100, 200, 500, 1000],
        "seed": range(12),
        "alpha": [0.5, 1.0, 1.5, 2.0, 3.0, 4.0],
        "optimizer starts": _searches(4),
    },
    laptop={"d": [50, 100], "seed": range(6), "alpha": [0.5, 1.0, 2.0, 4.0], "optimizer starts": _searches(4)},
    smoke={"d": 30, "seed": range(3), "alpha": [1.0, 2.0], "optimizer starts": _searches(2)},
)
# At small alpha students stay near their starts, for which theory has no minimum, or one with less overlap.
REMEMBERED = [Task(omega=0.18, matrix="alternative"), Task(lam=0.001), Task(sigma=0.7)]
students(
    "memory",
    "Three kinds of starts at small alpha, in growing dimension: where do the students end?",
    {"starts": (*INFORMED, *RANDOM * 3)},
    paper={"d": [250, 500, 1000, 2000], "seed": range(16), "task": REMEMBERED, "alpha": ALPHAS[4]},
    laptop={"d": [125, 250, 500], "seed": range(8), "task": REMEMBERED, "alpha": ALPHAS[4]},
    smoke={"d": 50, "seed": range(3), "task": REMEMBERED, "alpha": ALPHAS[8]},
)
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


students(
    "another_task",
    "Both starts where the semantic one has the lower loss but not the better predictions, tested on another task.",
    {},
    cells.AnotherTaskCell,
    paper={"task alpha tested seed": _tests(12), "d": 1000},
    laptop={"task alpha tested seed": _tests(4), "d": 300},
    smoke={"task alpha tested seed": _tests(3, 3), "d": 60},
)
