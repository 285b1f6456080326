"""Sizes of the experiments on data: the standard student's and the transformer's (paper, Sections 5, A and E)."""

from attention_phases.errors import check_count
from attention_phases.histogram import VARIANTS
from attention_phases.task import Task

from . import cells
from .cells import INFORMED
from .grids import ALPHAS, GRIDS, OMEGAS, at, cells_of, completed, register, tasks

DIMENSIONS = [10, 15, 23, 36, 56, 87, 135, 209, 323, 500]
RANDOM = ("random",)


def students(name, about, fixed=None, cell_type=cells.StudentCell, **sizes):
    """Enter an experiment on students: of the standard task and by L-BFGS, unless a table says otherwise."""
    fixed = completed(fixed or {}, {"task": Task(), "optimizer": "lbfgs"})
    register(name, about, cell_type, fixed, **sizes)


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
    """The two minima, and random starts by two optimisers."""
    return [("lbfgs", INFORMED), ("adam", RANDOM * runs), ("gd", RANDOM * runs)]


students(
    "fig15_fractions",
    "Random starts over alpha and d, by Adam and gradient descent: how often is which minimum found?",
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

# The minima themselves: where they cross, how many there are, message passing to them

# omega: alphas around where students cross, close enough for a straight line.
NEAR = {0.1: (0.65, 0.71, 0.77), 0.2: (0.86, 0.92, 0.98), 0.3: (1.18, 1.24, 1.3)}
CROSSING = {"task alpha": at(*((omega, alpha) for omega, alphas in NEAR.items() for alpha in alphas))}


def _data_sets(by_dimension):
    """An axis "d seed": so many data sets by dimension."""
    return [(d, seed) for d, count in by_dimension.items() for seed in range(count)]


students(
    "crossing",
    "Both starts around the crossing of the training losses, with control variates, in growing dimension.",
    {},
    cells.ControlledCell,
    paper={"d seed": _data_sets({250: 300, 500: 200, 1000: 120, 2000: 50}), **CROSSING},
    laptop={"d seed": _data_sets({250: 60, 500: 30}), **CROSSING},
    smoke={"d seed": _data_sets({50: 12, 100: 8}), **CROSSING},
)
UP_AND_DOWN = (*(round(0.05 * k, 2) for k in range(4, 20)), *(round(1 + 0.1 * k, 1) for k in range(21)))
FEWER = tuple(round(0.2 * k, 1) for k in range(1, 16))
FEWEST = (0.4, 1.0, 1.6, 2.2)
register(
    "hysteresis",
    "Students followed up and down in alpha, each start from the last minimum.",
    cells.LoopCell,
    paper={"seed": range(12), "task": tasks(NEAR), "d": 1000, "alphas": UP_AND_DOWN, "alpha": UP_AND_DOWN[-1]},
    laptop={"seed": range(3), "task": tasks(NEAR), "d": 400, "alphas": FEWER, "alpha": FEWER[-1]},
    smoke={"seed": range(2), "task": tasks(NEAR), "d": 60, "alphas": FEWEST, "alpha": FEWEST[-1]},
)
# Close to where theory has alpha_c; the noise of the starts around the teacher is of the size of Q*.
CLOSE = {
    "task alpha": at((0.1, 0.75), (0.2, 0.95), (0.3, 1.25)),
    "valley noise": [("semantic", 1.0), ("positional", 0.1)],
}
register(
    "lowest",
    "Many displaced starts around both informed ones on the same data: how far above the lowest does descent end?",
    cells.ValleyCell,
    paper={"d": [500, 1000], "seed": range(12), **CLOSE, "count": 50},
    laptop={"d": 250, "seed": range(4), **CLOSE, "count": 20},
    smoke={"d": 60, "seed": range(3), **CLOSE, "count": 6},
)
# The worst fitted 5 % of the sentences are tried: in eight searches that tried all, those that led lower were among the
# worst 4 %.
register(
    "searched",
    "Searches of both valleys by way of single sentences, on the same data sets; Langevin descent as a control.",
    cells.SearchCell,
    {"worst": 0.05},
    paper={"d": [250, 500, 1000], "seed": range(24), **CLOSE, "count": 6, "temperatures": (0.001, 0.003, 0.01)},
    laptop={"d": [125, 250], "seed": range(4), **CLOSE, "count": 4, "temperatures": (0.003, 0.01)},
    smoke={"d": [30, 60], "seed": range(3), **CLOSE, "count": 3, "temperatures": (0.01,)},
)
# The noise of the starts, which around the teacher is of the size of Q*, is varied at omega = 0.3.
NOISY = {
    "task alpha valley noise": at(
        *((0.3, 1.5, "positional", noise) for noise in (0.01, 0.03, 0.1, 0.3)),
        (0.3, 1.5, "semantic", 1.0),
        (0.1, 0.75, "positional", 0.1),
        (0.1, 0.75, "semantic", 1.0),
    )
}
register(
    "landscape",
    "Many starts in one valley, on one data set; the noise of the starts is varied at omega = 0.3.",
    cells.ValleyCell,
    paper={"seed": range(4), **NOISY, "d": 1000, "count": 100},
    laptop={"seed": range(2), **NOISY, "d": 500, "count": 30},
    smoke={"seed": range(2), **NOISY, "d": 60, "count": 6},
)
# Alphas by omega on the semantic branch, far above the transition and close to it; two points on the positional one.
PASSED_AT = {0.3: (2.0, 1.5, 1.25), 0.2: (1.5, 0.95), 0.1: (1.5, 0.75), 0.02: (1.5, 0.64), 0.4: (2.0,), 0.5: (2.0,)}
PASSED = [(omega, alpha, "semantic") for omega, alphas in PASSED_AT.items() for alpha in alphas]
PASSED += [(0.3, 1.5, "positional"), (0.1, 0.75, "positional")]
register(
    "stability",
    "Message passing on several data sets at several alpha and omega: how it converges, and whether.",
    cells.MessagePassingCell,
    paper={"seed": range(4), "task alpha start": at(*PASSED), "d": 1000},
    laptop={"seed": range(2), "task alpha start": at(*PASSED), "d": 250},
    smoke={"seed": range(2), "task alpha start": at(*PASSED[::6]), "d": 60},
)
register(
    "tracking",
    "Message passing from its first step, undamped and damped, and where it settles.",
    cells.TrackingCell,
    {"task": Task(omega=0.1), "alpha": 1.5, "steps": 12},
    paper={"seed": range(4), "d": 2000},
    laptop={"seed": range(4), "d": 1000},
    smoke={"seed": range(2), "d": 200},
)
register(
    "plane",
    "The training loss on the plane through both minima and the origin.",
    cells.PlaneCell,
    {"task": Task(), "alpha": [1.0, 2.0], "seed": 0},
    paper={"d": 1000, "across": 61},
    laptop={"d": 1000, "across": 61},
    smoke={"d": 100, "across": 15},
)
register(
    "first_steps",
    "The first steps of gradient descent from random weights.",
    cells.FirstStepsCell,
    {"task": Task(), "alpha": 2.0, "count": 16, "steps": (0, 25, 50, 75, 100, 150, 200)},
    paper={"seed": range(4), "d": 1000},
    laptop={"seed": range(4), "d": 1000},
    smoke={"seed": range(2), "d": 100},
)
# On both sides of where the positional solution of theory becomes a saddle: 1.088 at omega = 0.1, near 16 at 0.3.
BEYOND_BORDER = {0.1: (0.8, 1.3, 1.8, 2.3, 3.0), 0.3: (1.5, 4.0, 12.0, 25.0)}
OFTEN, RARELY = ({"task": Task(omega=omega), "alpha": [*alphas]} for omega, alphas in BEYOND_BORDER.items())
SMALL_AND_DISPLACED = {"sizes": (0.002, 0.1), "steps": (300, 1000, 3000, 10_000), "kicks": (0.1, 0.2, 0.4)}
register(
    "staying",
    "Ends of descent across the positional border: their softest directions, and whether descent from small weights,"
    " or from displaced ends, ends there too.",
    cells.StayCell,
    paper=[
        {"seed": range(12), **OFTEN, "d": 250, **SMALL_AND_DISPLACED},
        {"seed": range(4, 8), **OFTEN, "d": 1000},
        {"seed": range(2, 6), **OFTEN, "d": 2000},
        {"seed": range(2), **RARELY, "alpha": [12.0, 25.0], "d": 1000},
        {"seed": range(4), **OFTEN, "d": 500, **SMALL_AND_DISPLACED},
        {"seed": 0, **OFTEN, "d": 1000, **SMALL_AND_DISPLACED},
        {"seed": range(4), **RARELY, "d": 250, **SMALL_AND_DISPLACED},
        {"seed": range(2), **RARELY, "d": 500, **SMALL_AND_DISPLACED},
    ],
    laptop=[
        {"seed": range(4), **OFTEN, "d": [125, 250], **SMALL_AND_DISPLACED},
        {"seed": range(2), **RARELY, "alpha": [1.5, 4.0], "d": [125, 250], **SMALL_AND_DISPLACED},
    ],
    smoke={"seed": range(3), **OFTEN, "alpha": [0.8, 2.3], "d": [50, 100], **SMALL_AND_DISPLACED, "steps": (300, 1000)},
)
# Around the optimal learner's thresholds, 1/6 and 1/2, and alpha_c near 0.6 of students to whom omega A is given.
TENTHS = [round(0.1 * k, 2) for k in range(1, 11)]
register(
    "recovery",
    "Message passing of the optimal learner, from random weights.",
    cells.RecoveryCell,
    {"task": Task()},
    paper={"seed": range(8), "alpha": [*TENTHS, 0.45, 0.55, 0.65], "d": 1000},
    laptop={"seed": range(4), "alpha": TENTHS, "d": 500},
    smoke={"seed": range(2), "alpha": [0.3, 0.8], "d": 100},
)
students(
    "positions_given",
    "Students to whom omega A is given, from the teacher and from random weights.",
    {"starts": ("semantic", "random")},
    cells.PositionsGivenCell,
    paper={"optimizer seed": both(8, 3), "alpha": [*TENTHS, 1.25, 1.5, 2.0], "d": 1000},
    laptop={"seed": range(4), "alpha": TENTHS[1::2], "d": 300},
    smoke={"seed": range(2), "alpha": [0.5, 1.0], "d": 60},
)
LIGHT = [Task(lam=share * Task().lam) for share in (0.25, 0.05, 0.01, 1e-3)]
students(
    "penalty",
    "Students to whom omega A is given, at small penalties, from the teacher and from random weights.",
    {"starts": ("semantic", "random")},
    cells.PositionsGivenCell,
    paper={"seed": range(4), "d": [500, 1000], "task": LIGHT, "alpha": [0.6, 0.8, 1.0, 2.0]},
    laptop={"task": LIGHT[::2], "alpha": [0.8, 2.0], "seed": range(2), "d": 300},
    smoke={"task": LIGHT[:2], "alpha": [1.0], "seed": range(2), "d": 60},
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
    smoke={"task alpha tested seed": _tests(2, 3), "d": 60},
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
    return cells_of("histogram", cells.CountingCell, {**table, "variant": [*variants]})


GRIDS["histogram"] = histogram
register(
    "counting_control",
    'First runs of the experiment "histogram" again, whose SGD begins where Adam has not yet found a minimum.',
    cells.CountingCell,
    paper=COUNTED["paper"] | {"seed": range(4), "adam_epochs": 3, "variant": [*VARIANTS]},
    laptop=COUNTED["laptop"] | {"seed": range(1), "adam_epochs": 3, "variant": [*VARIANTS]},
    smoke=COUNTED["smoke"] | {"adam_epochs": 1, "variant": [*VARIANTS]},
)
# Starts and data sets are those of runs of the experiment "histogram", exchanged between them: every start sees some
# data sets for a few epochs, each in its own order, and many starts see one data set for as long as the paper trains.
register(
    "lost_letters",
    "How many semantic runs lose a letter, and does the start or do the data decide it?",
    cells.ExchangedCell,
    {"variant": "semantic"},
    paper=[
        {"data_seed": range(4), "start_seed": range(40), "sequences": 50_000, "epochs": cells.EXCHANGED},
        {"data_seed": range(1), "start_seed": range(40), "sequences": 50_000, "epochs": 200},
    ],
    laptop=[
        {"data_seed": range(2), "start_seed": range(3), "sequences": 50_000, "epochs": cells.EXCHANGED},
        {"data_seed": range(1), "start_seed": range(4), "sequences": 50_000, "epochs": 20},
    ],
    smoke=[
        {"data_seed": range(2), "start_seed": range(2), "sequences": 2_000, "epochs": 3},
        {"data_seed": range(1), "start_seed": range(3), "sequences": 2_000, "epochs": 4},
    ],
)
