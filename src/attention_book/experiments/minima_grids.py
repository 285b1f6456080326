"""Sizes of the experiments on the minima themselves: where they cross, how many there are, message passing to them."""

from attention_phases.task import Task

from .cells import (
    ControlledCell,
    LoopCell,
    MessagePassingCell,
    PositionsGivenCell,
    RecoveryCell,
    SearchCell,
    ValleyCell,
)
from .grids import at, experiment, tasks
from .student_grids import both, students

# omega: alphas around where students cross, close enough for a straight line.
AROUND = {0.1: (0.65, 0.71, 0.77), 0.2: (0.86, 0.92, 0.98), 0.3: (1.18, 1.24, 1.3)}
CROSSED = {"task alpha": at(*((omega, alpha) for omega, alphas in AROUND.items() for alpha in alphas))}


def _data_sets(by_dimension):
    """An axis "d seed": so many data sets by dimension."""
    return [(d, seed) for d, count in by_dimension.items() for seed in range(count)]


students(
    "crossing",
    "Both starts around the crossing of the training losses, with control variates, in growing dimension.",
    {},
    ControlledCell,
    paper={"d seed": _data_sets({250: 300, 500: 200, 1000: 120, 2000: 50}), **CROSSED},
    laptop={"d seed": _data_sets({250: 60, 500: 30}), **CROSSED},
    smoke={"d seed": _data_sets({50: 12, 100: 8}), **CROSSED},
)
UP_AND_DOWN = (*(round(0.05 * k, 2) for k in range(4, 20)), *(round(1 + 0.1 * k, 1) for k in range(21)))
FEWER = tuple(round(0.2 * k, 1) for k in range(1, 16))
FEWEST = (0.4, 1.0, 1.6, 2.2)
experiment(
    "hysteresis",
    "Students followed up and down in alpha, each start from the last minimum.",
    LoopCell,
    paper={"seed": range(12), "task": tasks(AROUND), "d": 1000, "alphas": UP_AND_DOWN, "alpha": UP_AND_DOWN[-1]},
    laptop={"seed": range(3), "task": tasks(AROUND), "d": 400, "alphas": FEWER, "alpha": FEWER[-1]},
    smoke={"seed": range(2), "task": tasks(AROUND), "d": 60, "alphas": FEWEST, "alpha": FEWEST[-1]},
)
# Close to where theory has alpha_c; the noise of the starts around the teacher is of the size of Q*.
CLOSE = {
    "task alpha": at((0.1, 0.75), (0.2, 0.95), (0.3, 1.25)),
    "valley noise": [("semantic", 1.0), ("positional", 0.1)],
}
experiment(
    "lowest",
    "Many displaced starts around both informed ones on the same data: how far above the lowest does descent end?",
    ValleyCell,
    paper={"d": [500, 1000], "seed": range(12), **CLOSE, "count": 50},
    laptop={"d": 250, "seed": range(4), **CLOSE, "count": 20},
    smoke={"d": 60, "seed": range(3), **CLOSE, "count": 6},
)
# The worst fitted 5 % of the sentences are tried: in eight searches that tried all, those that led lower were among the
# worst 4 %.
experiment(
    "searched",
    "Searches of both valleys by way of single sentences, on the same data sets; Langevin descent as a control.",
    SearchCell,
    {"worst": 0.05},
    paper={"d": [250, 500, 1000], "seed": range(24), **CLOSE, "count": 6, "temperatures": (0.001, 0.003, 0.01)},
    laptop={"d": [125, 250], "seed": range(4), **CLOSE, "count": 4, "temperatures": (0.003, 0.01)},
    smoke={"d": [30, 60], "seed": range(3), **CLOSE, "count": 3, "temperatures": (0.01,)},
)
# The noise of the starts, which around the teacher is of the size of Q*, is varied at omega = 0.3.
VALLEYS = {
    "task alpha valley noise": at(
        *((0.3, 1.5, "positional", noise) for noise in (0.01, 0.03, 0.1, 0.3)),
        (0.3, 1.5, "semantic", 1.0),
        (0.1, 0.75, "positional", 0.1),
        (0.1, 0.75, "semantic", 1.0),
    )
}
experiment(
    "landscape",
    "Many starts in one valley, on one data set; the noise of the starts is varied at omega = 0.3.",
    ValleyCell,
    paper={"seed": range(4), **VALLEYS, "d": 1000, "count": 100},
    laptop={"seed": range(2), **VALLEYS, "d": 500, "count": 30},
    smoke={"seed": range(2), **VALLEYS, "d": 60, "count": 6},
)
# Alphas by omega on the semantic branch, far above the transition and close to it; two points on the positional one.
SEMANTIC = {0.3: (2.0, 1.5, 1.25), 0.2: (1.5, 0.95), 0.1: (1.5, 0.75), 0.02: (1.5, 0.64), 0.4: (2.0,), 0.5: (2.0,)}
PASSED = [(omega, alpha, "semantic") for omega, alphas in SEMANTIC.items() for alpha in alphas]
PASSED += [(0.3, 1.5, "positional"), (0.1, 0.75, "positional")]
experiment(
    "stability",
    "Message passing on several data sets at several alpha and omega: how it converges, and whether.",
    MessagePassingCell,
    paper={"seed": range(4), "task alpha start": at(*PASSED), "d": 1000},
    laptop={"seed": range(2), "task alpha start": at(*PASSED), "d": 250},
    smoke={"seed": range(2), "task alpha start": at(*PASSED[::6]), "d": 60},
)
# Around the optimal learner's thresholds, 1/6 and 1/2, and alpha_c near 0.6 of students to whom omega A is given.
LEARNT = [round(0.1 * k, 2) for k in range(1, 11)]
experiment(
    "recovery",
    "Message passing of the optimal learner, from random weights.",
    RecoveryCell,
    {"task": Task()},
    paper={"seed": range(8), "alpha": [*LEARNT, 0.45, 0.55, 0.65], "d": 1000},
    laptop={"seed": range(4), "alpha": LEARNT, "d": 500},
    smoke={"seed": range(2), "alpha": [0.3, 0.8], "d": 100},
)
students(
    "positions_given",
    "Students to whom omega A is given, from the teacher and from random weights.",
    {"starts": ("semantic", "random")},
    PositionsGivenCell,
    paper={"optimizer seed": both(8, 3), "alpha": [*LEARNT, 1.25, 1.5, 2.0], "d": 1000},
    laptop={"seed": range(4), "alpha": LEARNT[1::2], "d": 300},
    smoke={"seed": range(2), "alpha": [0.5, 1.0], "d": 60},
)
