"""Sizes of the experiments on minima: where they cross, how many there are, message passing to them, ways to them."""

from attention_phases.task import Task

from . import cells
from .grids import at, register, tasks
from .student_grids import both, students

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
    cell_type=cells.LoopCell,
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
    cell_type=cells.ValleyCell,
    paper={"d": [500, 1000], "seed": range(12), **CLOSE, "count": 50},
    laptop={"d": 250, "seed": range(4), **CLOSE, "count": 20},
    smoke={"d": 60, "seed": range(3), **CLOSE, "count": 6},
)
# The worst fitted 5 % of the sentences: in eight searches that tried all, those that led lower were in the worst 4 %.
register(
    "searched",
    "Searches of both valleys by way of single sentences, on the same data sets; Langevin descent as a control.",
    {"worst": 0.05},
    cells.SearchCell,
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
# Larger tokens: the teacher and one start displaced from it lead to different minima.
LARGER = {"task": Task(sigma=0.75), "alpha": 0.8, "valley": "semantic", "noise": 1.0, "count": 2}
register(
    "landscape",
    "Many starts in one valley, on one data set; the noise of the starts is varied at omega = 0.3.",
    cell_type=cells.ValleyCell,
    paper=[
        {"seed": range(4), **NOISY, "d": 1000, "count": 100},
        {"seed": range(12), "d": [250, 500, 1000, 2000], **LARGER},
    ],
    laptop=[{"seed": range(2), **NOISY, "d": 500, "count": 30}, {"seed": range(4), "d": [125, 250], **LARGER}],
    smoke=[{"seed": range(2), **NOISY, "d": 60, "count": 6}, {"seed": range(2), "d": [30, 60], **LARGER}],
)
# Alphas by omega on the semantic branch, far above the transition and close to it; two points on the positional one.
PASSED_AT = {0.3: (2.0, 1.5, 1.25), 0.2: (1.5, 0.95), 0.1: (1.5, 0.75), 0.02: (1.5, 0.64), 0.4: (2.0,), 0.5: (2.0,)}
PASSED = [(omega, alpha, "semantic") for omega, alphas in PASSED_AT.items() for alpha in alphas]
PASSED += [(0.3, 1.5, "positional"), (0.1, 0.75, "positional")]
register(
    "stability",
    "Message passing on several data sets at several alpha and omega: how it converges, and whether.",
    cell_type=cells.MessagePassingCell,
    paper={"seed": range(4), "task alpha start": at(*PASSED), "d": 1000},
    laptop={"seed": range(2), "task alpha start": at(*PASSED), "d": 250},
    smoke={"seed": range(2), "task alpha start": at(*PASSED[::6]), "d": 60},
)
register(
    "plane",
    "The training loss on the plane through both minima and the origin.",
    {"task": Task(), "alpha": [1.0, 2.0], "seed": 0},
    cells.PlaneCell,
    paper={"d": 1000, "across": 61},
    laptop={"d": 1000, "across": 61},
    smoke={"d": 100, "across": 15},
)
register(
    "first_steps",
    "The first steps of gradient descent from random weights.",
    {"task": Task(), "alpha": 2.0, "count": 16, "steps": (0, 25, 50, 75, 100, 150, 200)},
    cells.FirstStepsCell,
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
    cell_type=cells.StayCell,
    paper=[
        {"seed": range(12), **OFTEN, "d": 250, **SMALL_AND_DISPLACED},
        {"seed": range(4, 8), **OFTEN, "d": 1000},
        {"seed": range(2, 6), **OFTEN, "d": 2000},
        {"seed": range(2), **RARELY, "alpha": [12.0, 25.0], "d": 1000},
        {"seed": range(4), **OFTEN, "d": 500, **SMALL_AND_DISPLACED},
        {"seed": 0, **OFTEN, "d": 1000, **SMALL_AND_DISPLACED},
        {"seed": range(4), **RARELY, "d": 250, **SMALL_AND_DISPLACED},
        {"seed": range(2), **RARELY, "d": 500, **SMALL_AND_DISPLACED},
        {"seed": range(8), **RARELY, "alpha": [6.0, 8.0], "d": [250, 500]},
        {"seed": range(4), **RARELY, "alpha": [6.0, 8.0], "d": [1000, 2000]},
    ],
    laptop=[
        {"seed": range(4), **OFTEN, "d": [125, 250], **SMALL_AND_DISPLACED},
        {"seed": range(2), **RARELY, "alpha": [1.5, 4.0], "d": [125, 250], **SMALL_AND_DISPLACED},
    ],
    smoke={"seed": range(3), **OFTEN, "alpha": [0.8, 2.3], "d": [50, 100], **SMALL_AND_DISPLACED, "steps": (300, 1000)},
)
# Where the two responses are compared: alpha_c of replica-symmetric theory, and at omega = 0.3 beyond it, on other data
# sets than those of "staying".
register(
    "responses",
    "Ends of descent from teacher and encoding, with their curvature, at the replica-symmetric alpha_c and beyond.",
    cell_type=cells.StayCell,
    paper=[
        {"seed": range(8), "task alpha": at((0.1, 0.7514), (0.2, 0.9484), (0.3, 1.2514)), "d": [250, 500, 1000]},
        {"seed": range(4), "task alpha": at((0.1, 0.7514), (0.2, 0.9484), (0.3, 1.2514)), "d": 2000},
        {"seed": range(4, 12), "task alpha": at((0.3, 1.5), (0.3, 2.5), (0.3, 4.0)), "d": [250, 500, 1000]},
    ],
    laptop={"seed": range(4), "task alpha": at((0.1, 0.7514), (0.3, 1.2514)), "d": [125, 250]},
    smoke={"seed": range(2), "task alpha": at((0.1, 0.7514), (0.3, 1.2514)), "d": [50, 100]},
)
# The data sets of Figure 15. "fig15_fractions" has their students by the published gradient descent, Adam and L-BFGS.
ON_SAME_DATA = {"task": Task(), "alpha": [2.0, 4.0], "seed": range(12)}
QUICK = ["rate 1.5", "rate 3", "momentum", "minibatches, rate 1.5", "backtracking"]
QUICK += [f"lbfgs after {steps}" for steps in (10, 100, 1000)]
OTHER_WAYS = [*QUICK, "gd longer", "rate 0.015", "minibatches", "capped"]
# Gradient descent that begins as far from zero as the first steps of L-BFGS lead: by a long step, or by larger weights.
FAR = [{"way": "rate 1.5 after a long step", "d": [200, 500]}, {"way": "rate 1.5", "d": [200, 500], "noise": 0.4}]
register(
    "descents",
    "Other ways down from the starts of Figure 15, on the same sentences.",
    cell_type=cells.DescentCell,
    paper=[
        {"way": OTHER_WAYS, "d": 200, **ON_SAME_DATA},
        {"way": QUICK, "d": 500, **ON_SAME_DATA},
        *({**ways, **ON_SAME_DATA} for ways in FAR),
    ],
    laptop={"way": OTHER_WAYS, "d": 100, **ON_SAME_DATA, "seed": range(4)},
    smoke={"way": ["rate 3", "lbfgs after 10", "minibatches"], "d": 30, **ON_SAME_DATA, "alpha": 2.0, "seed": range(3)},
)
HINTED = {"hints": (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2), "count": 2, **ON_SAME_DATA}
register(
    "hints",
    "Starts with a hint of the teacher, by three optimisers.",
    {"way": ["lbfgs", "gd", "adam"]},
    cells.DescentCell,
    paper=[{"d": 200, "noise": [0.03, 0.1, 0.3], **HINTED}, {"d": 500, **HINTED}],
    laptop={"d": 100, "noise": [0.03, 0.1, 0.3], **HINTED, "seed": range(4)},
    smoke={"d": 30, **HINTED, "hints": (0.03, 0.3), "alpha": 2.0, "seed": range(2)},
)
# The data sets of "staying": what L-BFGS makes of random weights there.
register(
    "staying_random",
    "L-BFGS from small random weights across the positional border.",
    {"way": "lbfgs"},
    cells.DescentCell,
    paper=[
        {"d": [250, 500], "seed": range(12), **OFTEN},
        {"d": [250, 500], "seed": range(8), **RARELY, "alpha": [1.5, 4.0, 6.0, 8.0, 12.0]},
        {"d": 1000, "seed": range(4, 8), **OFTEN},
    ],
    laptop={"d": [125, 250], "seed": range(4), **OFTEN},
    smoke={"d": [50, 100], "seed": range(3), **OFTEN, "alpha": [0.8, 2.3]},
)
# Around the optimal learner's thresholds, 1/6 and 1/2, and alpha_c near 0.6 of students to whom omega A is given.
TENTHS = [round(0.1 * k, 2) for k in range(1, 11)]
register(
    "recovery",
    "Message passing of the optimal learner, from random weights.",
    {"task": Task()},
    cells.RecoveryCell,
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
