"""The cells of the experiments on other architectures, at each profile's size (Figures 10 to 15)."""

from dataclasses import replace

import numpy as np

from attention_phases.model.architectures import CORRELATION, Architecture
from attention_phases.task import Task

from .cells import ArchitectureCell, ArchitectureLineCell, StudentCell
from .rank_one_grids import ALPHAS, MAP_OMEGAS, descended

FURTHER_ALPHAS = (2.25, 2.5, 2.75, 3.0)  # where some of the transitions lie, beyond the published grid
LONG_ALPHAS = tuple(np.linspace(0.01, 4.0, 25).tolist())  # of the rank-2 student, as published
CORRELATED, RANK2, UNTIED = Architecture(correlation=CORRELATION), Architecture("rank2"), Architecture("untied")
VALUE, FULL_VALUE = Architecture("value"), Architecture("full_value")
STANDARD_STARTS, RANK2_STARTS = ("semantic", "positional"), ("semantic", "positional", "mixed")
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
CROSSING = {"rank2": ("semantic",)}  # has no alpha_c to search for
MAPPED = {"correlated": CORRELATED, "rank2": RANK2, "untied": UNTIED}


def architecture_cell(experiment, architecture, alpha, d, seed, starts=STANDARD_STARTS, task=None, optimizer="lbfgs"):
    """The cell of one architecture at one alpha."""
    task = task or Task()
    return ArchitectureCell(experiment, task, alpha, d, seed, optimizer, starts, architecture=architecture)


def _slice(experiment, profile, architecture, starts=STANDARD_STARTS, d=1000, further=()):
    alphas, seeds, d = {
        "paper": (ALPHAS + further, 24, d),
        "laptop": (ALPHAS[::4] + further[1::2], 4, max(d // 5, 100)),
        "smoke": (ALPHAS[8::8], 3, 40),
    }[profile]
    return [
        architecture_cell(experiment, architecture, alpha, d, seed, starts) for seed in range(seeds) for alpha in alphas
    ]


def fig10(profile):
    """Slice at omega = 0.3, correlated tokens."""
    return _slice("fig10", profile, CORRELATED, further=FURTHER_ALPHAS)


def fig11(profile):
    """Slice at omega = 0.3, a student of rank 2: three kinds of start, and as published, descent from random ones."""
    informed = _slice("fig11", profile, RANK2, RANK2_STARTS)
    repeated = [each for each in informed if each.seed < descended("fig11", profile)]
    return informed + [replace(each, optimizer="gd", starts=("random",)) for each in repeated]


def fig12(profile):
    """Slice at omega = 0.3, untied Q and K."""
    return _slice("fig12", profile, UNTIED, further=FURTHER_ALPHAS)


def fig13(profile):
    """Slice at omega = 0.3, a rank-one correction of the value matrix, and the student without it on the same data."""
    return _with_control("fig13", profile, VALUE)


def fig13_full(profile):
    """Slice at omega = 0.3, a full value matrix, whose gradient costs of order d^3, and the student without it."""
    return _with_control("fig13_full", profile, FULL_VALUE, d=200)


def _with_control(experiment, profile, student, d=1000):
    return [each for one in (student, Architecture()) for each in _slice(experiment, profile, one, d=d)]


def fig14(profile):
    """Maps over alpha and omega of the architectures that theory covers."""
    return _maps("fig14", profile, MAPPED)


def fig14_random(profile):
    """Map of rank 2 as published, by descent from random starts; L-BFGS from these and from informed ones."""
    omegas, alphas, d = {
        "paper": (MAP_OMEGAS["paper"][::2], LONG_ALPHAS[::2], 1000),
        "laptop": (MAP_OMEGAS["laptop"], LONG_ALPHAS[::4], 200),
        "smoke": (MAP_OMEGAS["smoke"], LONG_ALPHAS[::12], 60),
    }[profile]
    return [
        architecture_cell("fig14_random", RANK2, alpha, d, seed, starts, Task(omega=omega), optimizer)
        for seed in range(descended("fig14_random", profile))
        for optimizer, starts in (("lbfgs", STANDARD_STARTS), ("lbfgs", ("random",)), ("gd", ("random",)))
        for omega in omegas
        for alpha in alphas
    ]


def fig14_value(profile):
    """Maps over alpha and omega with a rank-one correction of the value matrix, and without it."""
    return _maps("fig14_value", profile, {"value": VALUE, "none": Architecture()})


def _maps(experiment, profile, architectures):
    """Cells of maps, one instance of all of them after the other, so that a part of the work is a whole map."""
    omegas = MAP_OMEGAS[profile]
    step, seeds, d = {"paper": (1, 8, 500), "laptop": (4, 2, 150), "smoke": (12, 2, 60)}[profile]
    return [
        architecture_cell(experiment, architecture, alpha, d, seed, task=Task(omega=omega))
        for seed in range(seeds)
        for name, architecture in architectures.items()
        for omega in omegas
        for alpha in (LONG_ALPHAS if name == "rank2" else ALPHAS)[::step]
    ]


def fig10_theory(profile, names=tuple(MAPPED)):
    """Theory of Figures 10, 11 and 12: the lines at omega = 0.3 with their thresholds."""
    alphas, points, scrambles = {
        "paper": (ALPHAS[::2] + FURTHER_ALPHAS, 2**9, 16),
        "laptop": (ALPHAS[::4] + FURTHER_ALPHAS, 2**6, 8),
        "smoke": ((1.0, 2.0, 3.0), 2**4, 4),
    }[profile]
    return [_line("fig10_theory", MAPPED[name], Task(), alphas, points, scrambles) for name in names]


def fig14_theory(profile):
    """Theory of Figure 14: the thresholds of its maps."""
    step, points, scrambles = {"paper": (2, 2**9, 16), "laptop": (24, 2**6, 8), "smoke": (6, 2**4, 4)}[profile]
    omegas = MAP_OMEGAS["paper"][::step]
    if profile == "smoke":
        omegas = omegas[2:3]
    return [
        _line("fig14_theory", each, Task(omega=omega), (), points, scrambles, CROSSING.get(name, STANDARD_STARTS))
        for omega in omegas
        for name, each in MAPPED.items()
    ]


def _line(experiment, architecture, task, alphas, points, scrambles, branches=STANDARD_STARTS):
    return ArchitectureLineCell(
        experiment, task, alphas, points, scrambles, architecture=architecture, branches=branches
    )


def fig15(profile):
    """Adam from random starts at alpha = 2, and the two minima on the same data, to tell where a run has ended.

    And the two minima in a large dimension.
    """
    seeds, d, some, large = {
        "paper": (140, 100, 24, 1000),
        "laptop": (40, 100, 8, 500),
        "smoke": (8, 30, 3, 60),
    }[profile]
    searches = [each for seed in range(seeds) for each in _searches("fig15", 2.0, d, seed, ("adam",), 1)]
    return searches + [StudentCell("fig15", Task(), 2.0, large, seed, "lbfgs") for seed in range(some)]


def fig15_fractions(profile):
    """Random starts over alpha and d, by Adam and gradient descent: how often is which minimum found?"""
    alphas, dimensions, seeds, runs = {
        "paper": ((0.5, 1.0, 1.5, 2.0, 3.0, 4.0), (50, 100, 200, 500, 1000), 12, 4),
        "laptop": ((0.5, 1.0, 2.0, 4.0), (50, 100), 6, 4),
        "smoke": ((1.0, 2.0), (30,), 3, 2),
    }[profile]
    return [
        each
        for d in dimensions
        for seed in range(seeds)
        for alpha in alphas
        for each in _searches("fig15_fractions", alpha, d, seed, ("adam", "gd"), runs)
    ]


def _searches(experiment, alpha, d, seed, optimizers, runs):
    """The informed minima of one data set, and runs from random starts on it."""
    informed = StudentCell(experiment, Task(), alpha, d, seed, "lbfgs")
    return [informed] + [replace(informed, optimizer=each, starts=("random",) * runs) for each in optimizers]


def variants_size(profile):
    """Every architecture that theory covers, in growing dimension: theory against students."""
    dimensions, seeds = {
        "paper": ((250, 500, 1000, 2000), 24),
        "laptop": ((125, 250, 500), 12),
        "smoke": ((50, 100), 4),
    }[profile]
    return [
        architecture_cell("variants_size", architecture, COMPARED_ALPHA[name], d, seed, ("semantic",))
        for d in dimensions
        for seed in range(seeds)
        for name, architecture in COMPARED.items()
    ]


def variants_theory(profile):
    """Theory of every architecture that theory covers: the semantic branch."""
    points, scrambles = {"paper": (2**11, 16), "laptop": (2**6, 8), "smoke": (2**5, 8)}[profile]
    return [
        _line("variants_theory", each, Task(), (COMPARED_ALPHA[name],), points, scrambles, ("semantic",))
        for name, each in COMPARED.items()
    ]


ALL = (fig10, fig10_theory, fig11, fig12, fig13, fig13_full, fig14, fig14_random, fig14_theory, fig14_value, fig15,
        fig15_fractions, variants_size, variants_theory)  # fmt: skip
