"""Sizes of the experiments on students of other architectures (Figures 10 to 14)."""

import numpy as np

from attention_phases.model.architectures import CORRELATION, Architecture
from attention_phases.task import Task

from .cells import INFORMED, ArchitectureCell
from .grids import ALPHAS, MAP_OMEGAS, OMEGAS, sizes, students, tasks

FURTHER_ALPHAS = (2.25, 2.5, 2.75, 3.0)  # where some of the transitions lie, beyond the published grid
LONG_ALPHAS = tuple(np.linspace(0.01, 4.0, 25).tolist())  # of the rank-2 student, as published
STANDARD = Architecture()
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
SLICE = {"paper": (ALPHAS, 24, 1000), "laptop": (ALPHAS[::4], 4, 200), "smoke": (ALPHAS[8::8], 3, 40)}
LONGER_SLICE = SLICE | {
    "paper": (ALPHAS + FURTHER_ALPHAS, 24, 1000),
    "laptop": (ALPHAS[::4] + FURTHER_ALPHAS[1::2], 4, 200),
}


def _variants(experiment, axes, **fixed):
    return students(experiment, axes, ArchitectureCell, **fixed)


@sizes(**LONGER_SLICE)
def fig10(alphas, seeds, d):
    """Slice at omega = 0.3, correlated tokens."""
    return _variants("fig10", {"seed": range(seeds), "alpha": alphas}, d=d, architecture=CORRELATED)


@sizes(paper=(ALPHAS, 24, 10, 1000), laptop=(ALPHAS[::4], 4, 2, 200), smoke=(ALPHAS[8::8], 3, 2, 40))
def fig11(alphas, seeds, repeated, d):
    """Slice at omega = 0.3, a student of rank 2: three kinds of start, and as published, descent from random ones."""
    every, first = ({"seed": range(count), "alpha": alphas} for count in (seeds, repeated))
    informed = _variants("fig11", every, d=d, architecture=RANK2, starts=(*INFORMED, "mixed"))
    return informed + _variants("fig11", first, d=d, architecture=RANK2, starts=("random",), optimizer="gd")


@sizes(**LONGER_SLICE)
def fig12(alphas, seeds, d):
    """Slice at omega = 0.3, untied Q and K."""
    return _variants("fig12", {"seed": range(seeds), "alpha": alphas}, d=d, architecture=UNTIED)


@sizes(**SLICE)
def fig13(alphas, seeds, d):
    """Slice at omega = 0.3, a rank-one correction of the value matrix, and the student without it on the same data."""
    axes = {"architecture": (VALUE, STANDARD), "seed": range(seeds), "alpha": alphas}
    return _variants("fig13", axes, d=d)


@sizes(paper=(ALPHAS, 24, 200), laptop=(ALPHAS[::4], 4, 100), smoke=(ALPHAS[8::8], 3, 40))
def fig13_full(alphas, seeds, d):
    """Slice at omega = 0.3, a full value matrix, whose gradient costs of order d^3, and the student without it."""
    axes = {"architecture": (FULL_VALUE, STANDARD), "seed": range(seeds), "alpha": alphas}
    return _variants("fig13_full", axes, d=d)


# Of maps: omegas, every how many of the published alphas, instances, dimension.
MAP = {
    "paper": (MAP_OMEGAS["paper"], 1, 8, 500),
    "laptop": (MAP_OMEGAS["laptop"], 4, 2, 150),
    "smoke": (MAP_OMEGAS["smoke"], 12, 2, 60),
}


@sizes(**MAP)
def fig14(omegas, step, seeds, d):
    """Maps over alpha and omega of the architectures that theory covers."""
    points = [
        (architecture, task, alpha)
        for architecture in MAPPED.values()
        for task in tasks(omegas)
        for alpha in (LONG_ALPHAS if architecture == RANK2 else ALPHAS)[::step]
    ]
    return _variants("fig14", {"seed": range(seeds), ("architecture", "task", "alpha"): points}, d=d)


@sizes(
    paper=(10, OMEGAS[::2], LONG_ALPHAS[::2], 1000),
    laptop=(2, MAP_OMEGAS["laptop"], LONG_ALPHAS[::4], 200),
    smoke=(2, MAP_OMEGAS["smoke"], LONG_ALPHAS[::12], 60),
)
def fig14_random(seeds, omegas, alphas, d):
    """Map of rank 2 as published, by descent from random starts; L-BFGS from these and from informed ones."""
    searches = [("lbfgs", INFORMED), ("lbfgs", ("random",)), ("gd", ("random",))]
    axes = {"seed": range(seeds), ("optimizer", "starts"): searches, "task": tasks(omegas), "alpha": alphas}
    return _variants("fig14_random", axes, d=d, architecture=RANK2)


@sizes(**MAP)
def fig14_value(omegas, step, seeds, d):
    """Maps over alpha and omega with a rank-one correction of the value matrix, and without it."""
    axes = {"seed": range(seeds), "architecture": (VALUE, STANDARD), "task": tasks(omegas), "alpha": ALPHAS[::step]}
    return _variants("fig14_value", axes, d=d)


@sizes(paper=((250, 500, 1000, 2000), 24), laptop=((125, 250, 500), 12), smoke=((50, 100), 4))
def variants_size(dimensions, seeds):
    """Every architecture that theory covers, in growing dimension: theory against students."""
    compared = [(architecture, COMPARED_ALPHA[name]) for name, architecture in COMPARED.items()]
    axes = {"d": dimensions, "seed": range(seeds), ("architecture", "alpha"): compared}
    return _variants("variants_size", axes, task=Task(), starts=("semantic",))
