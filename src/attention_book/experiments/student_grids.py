"""Sizes of the experiments that train students and transformers (paper, Sections 5, A and E)."""

import numpy as np

from attention_phases.errors import check_count
from attention_phases.histogram.counting import VARIANTS
from attention_phases.model.architectures import CORRELATION, STANDARD, Architecture
from attention_phases.task import Task

from .cells import EXCHANGED, INFORMED, SLIPS, ArchitectureCell, CountingCell, ExchangedCell, SlipCell, StudentCell
from .grids import ALPHAS, GRIDS, OMEGAS, at, cells, completed, experiment, tasks

DIMENSIONS = [10, 15, 23, 36, 56, 87, 135, 209, 323, 500]
RANDOM = ("random",)


def students(name, about, fixed=None, cell_type=StudentCell, **sizes):
    """Enter an experiment on students: of the standard task and by L-BFGS, unless a table says otherwise."""
    fixed = completed(fixed or {}, {"task": Task(), "optimizer": "lbfgs"})
    experiment(name, about, cell_type, fixed, **sizes)


def both(seeds, repeated):
    """An axis "optimizer seed": L-BFGS, and on the first data sets again gradient descent as published."""
    return [("lbfgs", seed) for seed in range(seeds)] + [("gd", seed) for seed in range(repeated)]


# The standard student

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
    {"slip": [*SLIPS], "optimizer": "gd", "seed": 0},
    SlipCell,
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
    """The two minima, and random starts by two optimisers."""
    return [("lbfgs", INFORMED), ("adam", RANDOM * runs), ("gd", RANDOM * runs)]


FRACTIONS = [0.5, 1.0, 1.5, 2.0, 3.0, 4.0]
FEWER_FRACTIONS = [0.5, 1.0, 2.0, 4.0]
students(
    "fig15_fractions",
    "Random starts over alpha and d, by Adam and gradient descent: how often is which minimum found?",
    paper={
        "d": [50, 100, 200, 500, 1000],
        "seed": range(12),
        "alpha": FRACTIONS,
        "optimizer starts": _searches(4),
    },
    laptop={"d": [50, 100], "seed": range(6), "alpha": FEWER_FRACTIONS, "optimizer starts": _searches(4)},
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

# Other architectures

FURTHER_ALPHAS = [2.25, 2.5, 2.75, 3.0]  # where some of the transitions lie, beyond the published grid
LONG_ALPHAS = ALPHAS + np.linspace(2.0, 4.0, 25).tolist()[1:]  # of the rank-2 student, as published
CORRELATED, RANK2, UNTIED = Architecture(correlation=CORRELATION), Architecture("rank2"), Architecture("untied")
VALUE, FULL_VALUE = Architecture("value"), Architecture("full_value")
MAPPED = {"correlated": CORRELATED, "rank2": RANK2, "untied": UNTIED}
# Where theory and students are compared in growing dimension: the minimum that the semantic start leads to. Before
# alpha_c, which correlated tokens have beyond alpha = 2, students of small d leave it.
COMPARED = {
    "correlated": CORRELATED,
    "untied": UNTIED,
    "rank2": RANK2,
    "three tokens": Architecture(tokens=3),
    "four tokens": Architecture(tokens=4),
}
COMPARED_ALPHA = dict.fromkeys(COMPARED, 2.0) | {"correlated": 3.0}
SLICE = {
    "paper": {"seed": range(24), "alpha": ALPHAS, "d": 1000},
    "laptop": {"seed": range(4), "alpha": ALPHAS[::4], "d": 200},
    "smoke": {"seed": range(3), "alpha": ALPHAS[8::8], "d": 40},
}
LONGER_SLICE = {
    "paper": {"seed": range(24), "alpha": ALPHAS + FURTHER_ALPHAS, "d": 1000},
    "laptop": {"seed": range(4), "alpha": ALPHAS[::4] + FURTHER_ALPHAS[1::2], "d": 200},
    "smoke": SLICE["smoke"],
}


def variants(name, about, fixed, **sizes):
    """Enter an experiment on students of other architectures."""
    students(name, about, fixed, ArchitectureCell, **sizes)


variants("fig10", "Slice at omega = 0.3, correlated tokens.", {"architecture": CORRELATED}, **LONGER_SLICE)
BY_DESCENT = {"optimizer": "gd", "starts": RANDOM}
variants(
    "fig11",
    "Slice at omega = 0.3, a student of rank 2: three kinds of start, and as published, descent from random ones.",
    {"architecture": RANK2, "starts": (*INFORMED, "mixed")},
    paper=[SLICE["paper"], {**SLICE["paper"], **BY_DESCENT, "seed": range(10)}],
    laptop=[SLICE["laptop"], {**SLICE["laptop"], **BY_DESCENT, "seed": range(2)}],
    smoke=[SLICE["smoke"], {**SLICE["smoke"], **BY_DESCENT, "seed": range(2)}],
)
variants("fig12", "Slice at omega = 0.3, untied Q and K.", {"architecture": UNTIED}, **LONGER_SLICE)
variants(
    "fig13",
    "Slice at omega = 0.3, a rank-one correction of the value matrix, and the student without it on the same data.",
    {"architecture": [VALUE, STANDARD]},
    **SLICE,
)
variants(
    "fig13_full",
    "Slice at omega = 0.3, a full value matrix, whose gradient costs of order d^3, and the student without it.",
    {"architecture": [FULL_VALUE, STANDARD]},
    paper={"seed": range(24), "alpha": ALPHAS, "d": 200},
    laptop={"seed": range(4), "alpha": ALPHAS[::4], "d": 100},
    smoke={"seed": range(3), "alpha": ALPHAS[8::8], "d": 40},
)


def _mapped(omegas, step):
    """Architecture, task and alpha of the maps that theory covers, with every so many of the published alphas."""
    alphas = {name: (LONG_ALPHAS[::2] if name == "rank2" else ALPHAS)[::step] for name in MAPPED}
    return [(MAPPED[name], task, alpha) for name in MAPPED for task in tasks(omegas) for alpha in alphas[name]]


variants(
    "fig14",
    "Maps over alpha and omega of the architectures that theory covers.",
    {},
    paper={"seed": range(8), "architecture task alpha": _mapped(OMEGAS, 1), "d": 500},
    laptop={"seed": range(2), "architecture task alpha": _mapped(OMEGAS[::4], 4), "d": 150},
    smoke={"seed": range(2), "architecture task alpha": _mapped(OMEGAS[::8], 12), "d": 60},
)
RANDOM_TOO = {"optimizer starts": [("lbfgs", INFORMED), ("lbfgs", RANDOM), ("gd", RANDOM)]}
variants(
    "fig14_random",
    "Map of rank 2 as published, by descent from random starts; L-BFGS from these and from informed ones.",
    {"architecture": RANK2},
    paper={"seed": range(10), **RANDOM_TOO, "task": tasks(OMEGAS[::2]), "alpha": LONG_ALPHAS[::4], "d": 1000},
    laptop={"seed": range(2), **RANDOM_TOO, "task": tasks(OMEGAS[::4]), "alpha": LONG_ALPHAS[::8], "d": 200},
    smoke={"seed": range(2), **RANDOM_TOO, "task": tasks(OMEGAS[::8]), "alpha": LONG_ALPHAS[::24], "d": 60},
)
CORRECTED = {"architecture": [VALUE, STANDARD]}
variants(
    "fig14_value",
    "Maps over alpha and omega with a rank-one correction of the value matrix, and without it.",
    {},
    paper={"seed": range(8), **CORRECTED, "task": tasks(OMEGAS), "alpha": ALPHAS, "d": 500},
    laptop={"seed": range(2), **CORRECTED, "task": tasks(OMEGAS[::4]), "alpha": ALPHAS[::4], "d": 150},
    smoke={"seed": range(2), **CORRECTED, "task": tasks(OMEGAS[::8]), "alpha": ALPHAS[::12], "d": 60},
)
GROWING = {"architecture alpha": [(architecture, COMPARED_ALPHA[name]) for name, architecture in COMPARED.items()]}
variants(
    "variants_size",
    "Every architecture that theory covers, in growing dimension: theory against students.",
    {"starts": ("semantic",)},
    paper={"d": [250, 500, 1000, 2000], "seed": range(24), **GROWING},
    laptop={"d": [125, 250, 500], "seed": range(12), **GROWING},
    smoke={"d": [50, 100], "seed": range(4), **GROWING},
)

# Transformers that count

COUNTED = {
    "paper": {"seed": range(10), "sequences": 50_000, "adam_epochs": 200, "sgd_epochs": 100},
    "laptop": {"seed": range(2), "sequences": 50_000, "adam_epochs": 20, "sgd_epochs": 10},
    "smoke": {"seed": range(2), "sequences": 2_000, "adam_epochs": 4, "sgd_epochs": 2},
}


def histogram(profile, runs=None, variants=VARIANTS):
    """The counting task, all runs of both variants or some of them: Figures 4, 5, 6 and Table 1."""
    table = COUNTED[profile] if runs is None else COUNTED[profile] | {"seed": range(check_count("runs", runs))}
    return cells("histogram", CountingCell, {**table, "variant": [*variants]})


GRIDS["histogram"] = histogram
experiment(
    "counting_control",
    'First runs of the experiment "histogram" again, whose SGD begins where Adam has not yet found a minimum.',
    CountingCell,
    paper=COUNTED["paper"] | {"seed": range(4), "adam_epochs": 3, "variant": [*VARIANTS]},
    laptop=COUNTED["laptop"] | {"seed": range(1), "adam_epochs": 3, "variant": [*VARIANTS]},
    smoke=COUNTED["smoke"] | {"adam_epochs": 1, "variant": [*VARIANTS]},
)
# Starts and data sets are those of runs of the experiment "histogram", exchanged between them: every start sees some
# data sets for a few epochs, each in its own order, and many starts see one data set for as long as the paper trains.
experiment(
    "lost_letters",
    "How many semantic runs lose a letter, and does the start or do the data decide it?",
    ExchangedCell,
    {"variant": "semantic"},
    paper=[
        {"data_seed": range(4), "start_seed": range(40), "sequences": 50_000, "epochs": EXCHANGED},
        {"data_seed": range(1), "start_seed": range(40), "sequences": 50_000, "epochs": 200},
    ],
    laptop=[
        {"data_seed": range(2), "start_seed": range(3), "sequences": 50_000, "epochs": EXCHANGED},
        {"data_seed": range(1), "start_seed": range(4), "sequences": 50_000, "epochs": 20},
    ],
    smoke=[
        {"data_seed": range(2), "start_seed": range(2), "sequences": 2_000, "epochs": 3},
        {"data_seed": range(1), "start_seed": range(3), "sequences": 2_000, "epochs": 4},
    ],
)
