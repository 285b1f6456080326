"""Experiments by name, with their sizes by profile: trained students and transformers (paper, Sections 5, A and E).

`variant_grids`, `minima_grids` and `theory_grids` have the others, written with the same few functions.
"""

from functools import wraps
from itertools import product

import numpy as np

from attention_phases.errors import check_choice, check_count
from attention_phases.histogram.counting import VARIANTS
from attention_phases.task import Task

from .cells import EXCHANGED, INFORMED, SLIPS, CountingCell, ExchangedCell, SlipCell, StudentCell

PROFILES = ("paper", "laptop", "smoke")
ALPHAS = tuple(np.linspace(0.01, 2.0, 25).tolist())  # as published
OMEGAS = tuple(round(0.02 * k, 2) for k in range(1, 26))
MAP_OMEGAS = {"paper": OMEGAS, "laptop": OMEGAS[::4], "smoke": OMEGAS[::8]}

GRIDS = {}  # by name: a function of the profile, and of parameters that differ from the published ones


def grid(name, profile, **changes):
    """Cells of the experiment `name` at the size of `profile`, other than published where `changes` says so."""
    return GRIDS[check_choice("name", name, tuple(GRIDS))](check_choice("profile", profile, PROFILES), **changes)


def sizes(**by_profile):
    """Decorator that makes an experiment of a function: the arguments that it takes, by profile."""

    def register(cells_of):
        @wraps(cells_of)
        def at_profile(profile, **changes):
            return cells_of(*by_profile[profile], **changes)

        GRIDS[cells_of.__name__] = at_profile
        return at_profile

    return register


def cells(experiment, cell_type, axes, **fixed):
    """A cell for every combination of values along the axes, the last axis fastest.

    Args:
        axes: values by field; by several fields, such as ("task", "alpha"), tuples of their values.
        fixed: fields that all cells share, where no axis has them.
    """
    combined = []
    for point in product(*axes.values()):
        fields = {}
        for names, value in zip(axes, point):
            fields |= {names: value} if isinstance(names, str) else dict(zip(names, value))
        combined.append(cell_type(experiment, **{**fixed, **fields}))
    return combined


def students(experiment, axes, cell_type=StudentCell, **fixed):
    """Cells of students: of the standard task and by L-BFGS, unless another one is given."""
    return cells(experiment, cell_type, axes, **{"task": Task(), "optimizer": "lbfgs", **fixed})


def tasks(omegas, **parameters):
    """A task for each omega."""
    return [Task(omega=omega, **parameters) for omega in omegas]


def at(*points):
    """(task, alpha) of points (omega, alpha)."""
    return [(Task(omega=omega), alpha) for omega, alpha in points]


DIMENSIONS = (10, 15, 23, 36, 56, 87, 135, 209, 323, 500)
CHANGED = {"omega": (0.2, 0.3, 0.7), "sigma": (0.3, 0.5, 0.7), "lam": (0.1, 0.01, 0.001)}  # of Figure 8
# The tasks of Figure 8, each once: the standard one stands in all three of its panels.
CHANGED_TASKS = tuple(dict.fromkeys(Task(**{name: value}) for name, some in CHANGED.items() for value in some))
CROSSED = ((0.02, 0.64), (0.1, 0.75), (0.2, 0.95), (0.3, 1.25), (0.4, 1.77), (0.3, 2.0))  # omega, alpha
# At small alpha the theory has neither minimum here, and yet students stay near their starts.
REMEMBERED = (Task(omega=0.18, matrix="alternative"), Task(lam=0.001), Task(sigma=0.7))


@sizes(
    paper=(ALPHAS, 24, 1000, ("lbfgs", "gd")),
    laptop=(ALPHAS[::2], 8, 1000, ("lbfgs",)),
    smoke=(ALPHAS[::8], 3, 200, ("lbfgs",)),
)
def fig02(alphas, seeds, d, optimizers, **task):
    """Slice of one task: both starts over alpha, by L-BFGS and by the published gradient descent."""
    axes = {"optimizer": optimizers, "seed": range(seeds), "alpha": alphas}
    return students("fig02", axes, d=d, task=Task(**task))


def _by_both(experiment, axes, repeated, d):
    """By L-BFGS, and the first `repeated` instances again by gradient descent as published, on the same data."""
    first = axes | {"seed": range(repeated)}
    return students(experiment, axes, d=d) + students(experiment, first, d=d, optimizer="gd")


# In maps, one instance of all of a map comes after the other, so that a part of the work is a whole map.
@sizes(
    paper=(MAP_OMEGAS["paper"], ALPHAS, 24, 10, 1000),
    laptop=(MAP_OMEGAS["laptop"], ALPHAS[::2], 6, 2, 300),
    smoke=(MAP_OMEGAS["smoke"], ALPHAS[::8], 3, 2, 100),
)
def fig03(omegas, alphas, seeds, repeated, d):
    """Map over alpha and omega, standard A, by both optimisers."""
    axes = {"seed": range(seeds), "task": tasks(omegas), "alpha": alphas}
    return _by_both("fig03", axes, repeated, d)


@sizes(
    paper=(ALPHAS, 10, 1000),
    laptop=(ALPHAS[::6], 2, 300),
    smoke=(ALPHAS[::12], 2, 100),
)
def published_cells(alphas, seeds, d):
    """What the authors' tables have beside ours, by both optimisers: omega beyond a half, and sigma = 1."""
    beyond = [Task(omega=0.55), Task(omega=0.55, matrix="alternative"), Task(omega=0.7, matrix="alternative")]
    axes = {"seed": range(seeds), "optimizer": ("gd", "lbfgs"), "task": [*beyond, Task(sigma=1.0)], "alpha": alphas}
    return students("published_cells", axes, d=d)


@sizes(
    paper=(OMEGAS[::3], ALPHAS[::2], 1000),
    laptop=(OMEGAS[::12], ALPHAS[::6], 300),
    smoke=(OMEGAS[::24], ALPHAS[::12], 100),
)
def slips(omegas, alphas, d):
    """Part of the map of Figure 3 with slips in gradient descent, on one data set that the map has without them."""
    axes = {"slip": tuple(SLIPS), "task": tasks(omegas), "alpha": alphas}
    return students("slips", axes, SlipCell, d=d, optimizer="gd", seed=0)


@sizes(paper=(8, CROSSED, 1000, 7), laptop=(3, CROSSED, 500, 7), smoke=(3, CROSSED[1:3], 100, 3))
def fig03_minima(seeds, points, d, near):
    """Several starts around each of the two, on one data set: close to the transition, and far beyond it."""
    starts = ("semantic", *["near_semantic"] * near, "positional", *["near_positional"] * near)
    axes = {"seed": range(seeds), ("task", "alpha"): at(*points)}
    return students("fig03_minima", axes, d=d, starts=starts)


@sizes(
    paper=(("lbfgs", "gd"), 100, DIMENSIONS),
    laptop=(("gd",), 8, DIMENSIONS),
    smoke=(("gd",), 4, DIMENSIONS[:7:3]),
)
def fig07(optimizers, seeds, dimensions):
    """Both minima in growing dimension, at alpha = 1.5; Figure 3's left panel and Figure 7.

    At small d the published gradient descent stays in the valley where it starts, L-BFGS may leave it.
    """
    axes = {"optimizer": optimizers, "seed": range(seeds), "d": dimensions}
    return students("fig07", axes, alpha=1.5)


@sizes(paper=(ALPHAS, 24, 24, 1000), laptop=(ALPHAS[::2], 6, 2, 300), smoke=(ALPHAS[::8], 3, 2, 100))
def fig08(alphas, seeds, repeated, d):
    """Slices over alpha with one parameter of the task changed, by both optimisers."""
    axes = {"seed": range(seeds), "task": CHANGED_TASKS, "alpha": alphas}
    return _by_both("fig08", axes, repeated, d)


@sizes(
    paper=(MAP_OMEGAS["paper"], ALPHAS, 10, 10, 1000),
    laptop=(MAP_OMEGAS["laptop"], ALPHAS[::2], 6, 2, 300),
    smoke=(MAP_OMEGAS["smoke"], ALPHAS[::8], 3, 2, 100),
)
def fig09(omegas, alphas, seeds, repeated, d):
    """Map over alpha and omega, alternative A, by both optimisers."""
    axes = {"seed": range(seeds), "task": tasks(omegas, matrix="alternative"), "alpha": alphas}
    return _by_both("fig09", axes, repeated, d)


@sizes(paper=(140, 100, 24, 1000), laptop=(40, 100, 8, 500), smoke=(8, 30, 3, 60))
def fig15(seeds, d, large_seeds, large_d):
    """Adam from random starts at alpha = 2, and the two minima on the same data, to tell where a run has ended.

    And the two minima in a large dimension.
    """
    axes = {"seed": range(seeds), ("optimizer", "starts"): [("lbfgs", INFORMED), ("adam", ("random",))]}
    large = {"seed": range(large_seeds)}
    return students("fig15", axes, alpha=2.0, d=d) + students("fig15", large, alpha=2.0, d=large_d)


@sizes(
    paper=((50, 100, 200, 500, 1000), 12, (0.5, 1.0, 1.5, 2.0, 3.0, 4.0), 4),
    laptop=((50, 100), 6, (0.5, 1.0, 2.0, 4.0), 4),
    smoke=((30,), 3, (1.0, 2.0), 2),
)
def fig15_fractions(dimensions, seeds, alphas, runs):
    """Random starts over alpha and d, by Adam and gradient descent: how often is which minimum found?"""
    random = ("random",) * runs
    searches = [("lbfgs", INFORMED), ("adam", random), ("gd", random)]
    axes = {"d": dimensions, "seed": range(seeds), "alpha": alphas, ("optimizer", "starts"): searches}
    return students("fig15_fractions", axes)


@sizes(
    paper=((250, 500, 1000, 2000), 16, ALPHAS[4]),
    laptop=((125, 250, 500), 8, ALPHAS[4]),
    smoke=((50,), 3, ALPHAS[8]),
)
def memory(dimensions, seeds, alpha):
    """Three kinds of starts where the theory has neither minimum, in growing dimension: where do the students end?"""
    axes = {"d": dimensions, "seed": range(seeds), "task": REMEMBERED}
    return students("memory", axes, alpha=alpha, starts=(*INFORMED, "random", "random", "random"))


@sizes(paper=(10, 50_000, 200, 100), laptop=(2, 50_000, 20, 10), smoke=(2, 2_000, 4, 2))
def histogram(all_runs, sequences, adam_epochs, sgd_epochs, runs=None, variants=VARIANTS):
    """The counting task, all runs of both variants or some of them: Figures 4, 5, 6 and Table 1."""
    axes = {"seed": range(all_runs if runs is None else check_count("runs", runs)), "variant": variants}
    size = {"sequences": sequences, "adam_epochs": adam_epochs, "sgd_epochs": sgd_epochs}
    return cells("histogram", CountingCell, axes, **size)


@sizes(paper=(4, 50_000, 3, 100), laptop=(1, 50_000, 3, 10), smoke=(2, 2_000, 1, 2))
def counting_control(runs, sequences, adam_epochs, sgd_epochs):
    """First runs of the experiment "histogram" again, whose SGD begins where Adam has not yet found a minimum."""
    size = {"sequences": sequences, "adam_epochs": adam_epochs, "sgd_epochs": sgd_epochs}
    return cells("counting_control", CountingCell, {"seed": range(runs), "variant": VARIANTS}, **size)


# Data sets, starts and epochs of the exchange; starts and epochs on the first data set alone; sequences.
@sizes(
    paper=((4, 40, EXCHANGED), (40, 200), 50_000),
    laptop=((2, 3, EXCHANGED), (4, 20), 50_000),
    smoke=((2, 2, 3), (3, 4), 2_000),
)
def lost_letters(exchange, alone, sequences):
    """How many semantic runs lose a letter, and does the start or do the data decide it?

    Starts and data sets are those of runs of the experiment "histogram", exchanged between them: every start sees some
    data sets for a few epochs, each in its own order, and many starts see one data set for as long as the paper trains.
    """
    blocks = []
    for data_sets, starts, epochs in (exchange, (1, *alone)):
        axes = {"data_seed": range(data_sets), "start_seed": range(starts)}
        size = {"sequences": sequences, "epochs": epochs}
        blocks += cells("lost_letters", ExchangedCell, axes, variant="semantic", **size)
    return blocks
