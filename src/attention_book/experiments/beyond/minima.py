"""The minima of the training loss: their change with alpha, their number in a valley, and searches for lower minima.

Experiments:
    hysteresis: Students followed up and down in alpha, each starting from the last minimum.
    lowest: Many displaced starts around both informed starts on the same data, whose lowest minimum is compared with
        them.
    searched: Searches of both valleys that leave out single sentences, on the same data sets; Langevin descent as
        control.
    landscape: Many starts in one valley, on one data set; the noise of the starts is varied at omega = 0.3.
"""

from dataclasses import dataclass, replace

import numpy as np

from attention_phases.task import Task

from ..grids import register, tasks, with_tasks
from ..kinds import ROUNDING, Kind
from ..students import STUDENTS, OnData
from .crossing import NEAR_ALPHAS

SAME_DISTANCE = 1e-2  # largest relative distance between the weights of two end points in the same minimum


def train_along(cell):
    """Train students along increasing and decreasing alpha, each from the minimum at the previous alpha.

    The result has a row for each `way` and each alpha (`at`). One data set is drawn at the largest alpha, and its first
    sentences are the data sets at smaller alphas. The way "up" starts from the encoding at the smallest alpha. The way
    "down" starts from the teacher at the largest alpha. The `excess` is the training loss without the part that no
    student can fit.

    cell: a `LoopCell`.
    """
    from attention_phases.model.sentences import sentence_count
    from attention_phases.training.optimizers import fit, start_weights

    task, (whole, rng) = cell.task, cell.draw()
    ways = (("up", "positional", sorted(cell.alphas)), ("down", "semantic", sorted(cell.alphas, reverse=True)))
    rows = []
    for way, start, alphas in ways:
        weights = start_weights(start, whole.teacher, rng)
        for alpha in alphas:
            count = sentence_count(alpha, cell.d)
            kept = {name: getattr(whole, name)[:count] for name in ("inputs", "stiffness", "targets")}
            student = fit(replace(whole, **kept, floor=0.0), task.lam, weights[None])[0]
            weights = student.weights
            row = {"way": way, "at": alpha, **cell.overlaps(whole, weights)}
            rows.append(row | {"excess": student.train_loss, "grad_norm": student.grad_norm})
    return rows


def descend(cell):
    """Train a student by L-BFGS from each of several starts in one valley, and return a row for each student.

    The first start has no noise. Cosines are absolute values, because Q and -Q are the same student.

    cell: a `ValleyCell`.
    """
    from .searches import cosines, descents

    data, students, _ = descents(cell)
    similarity = cosines(students)
    distances = np.sqrt(2 * np.maximum(1 - similarity, 0)) + 2 * np.eye(cell.count)
    return [
        {
            "number": k,
            "train_loss": student.train_loss,
            **cell.overlaps(data, student.weights),
            "minimum": label,
            "nearest": distances[k].min(),
            "aligned": similarity[k, (k + 1) % cell.count],
        }
        for k, (student, label) in enumerate(zip(students, _labels(distances)))
    ]


def search(cell):
    """Search a valley for its lowest minimum from several starts, and return a row for each minimum found.

    There are two rows for each start, "descent" and "hop". After them, there is one row for each `temperature` of
    "anneal", which begins at the end point of the start without noise.

    cell: a `SearchCell`.
    """
    from .searches import anneal, cosines, descents, hop

    data, starts, rng = descents(cell)
    rows, students = [], []
    for k, student in enumerate(starts):
        lower, hops = hop(data, cell.task.lam, student, cell.worst)
        rows += [{"search": "descent", "number": k}, {"search": "hop", "number": k, "hops": hops}]
        students += [student, lower]
    for temperature in cell.temperatures:
        rows.append({"search": "anneal", "number": 0, "temperature": temperature})
        students.append(anneal(data, cell.task.lam, starts[0], temperature, rng))
    lowest = int(np.argmin([student.train_loss for student in students]))
    for row, student, aligned in zip(rows, students, cosines(students)[lowest]):
        row |= {"train_loss": student.train_loss, **cell.overlaps(data, student.weights)}
        row["aligned"] = float(aligned)
    return rows


def search_first(cell):
    """Run `search` from only the noise-free start, and return its first two rows."""
    return search(replace(cell, count=1, temperatures=()))


def _labels(distances):
    """Number the distinct minima, and return for each student the number of its minimum.

    Students within a distance of `SAME_DISTANCE` are in the same minimum.
    """
    labels = []
    for k, row in enumerate(distances):
        equal = np.flatnonzero(row[:k] < SAME_DISTANCE)
        labels.append(labels[equal[0]] if len(equal) else max(labels, default=-1) + 1)
    return labels


def valley_runs(cell):
    """Return all cyclic permutations of the rows of a `ValleyCell`, which stand in for repeated runs.

    Runs must begin at displaced starts, and the starts of the cell are displaced already.
    """
    rows = descend(cell)
    return [rows[k:] + rows[:k] for k in range(len(rows))]


def search_runs(cell):
    """Search a valley from each start of a `SearchCell`, and return a list of rows for each start.

    The rows are as from `search_first`. They serve as runs, because rounding decides in which minimum a search ends.
    """
    rows = search(replace(cell, temperatures=()))
    return [rows[k : k + 2] for k in range(0, len(rows), 2)]


@dataclass(frozen=True)
class LoopCell(OnData):
    """A cell (one unit of an experiment) that trains students along a series of alphas, each from the previous minimum.

    The series is followed upwards and downwards. `alpha` is the largest of the `alphas`.

    Columns:
        way: direction along alpha
            - up: sentences are added
            - down: sentences are removed
        at [1]: alpha at which the student was trained; the column alpha is the largest alpha of the cell
        excess [1]: training loss minus the part that no student can fit
    """

    kind = Kind(
        train_along,
        # There are many minima, and rounding decides which of them a student reaches at the next alpha. On another
        # processor m differed by up to 5e-3 and theta by up to 1e-3, at omega = 0.1.
        {"q": (0.1, 0), "m": (0, 0.02), "theta": (0, 0.01), "excess": (0.02, 0)},
        ROUNDING,
    )

    alphas: tuple


@dataclass(frozen=True)
class ValleyCell(OnData):
    """A cell (one unit of an experiment) that trains students from displaced starts in a valley of the training loss.

    The `count` starts are displaced by noise of standard deviation `noise`, except for the first start.

    Columns:
        valley: valley that contains the starts
            - semantic: the semantic branch or valley
            - positional: the positional branch or valley
        minimum: number of the student's minimum among the distinct minima of its data set
        nearest [1]: distance to the nearest other end point, divided by the size of both
        aligned [1]: |cosine| with the end point of the next start
    """

    kind = Kind(descend, STUDENTS | {"nearest": (0, 2e-3), "aligned": (0, 1e-4), "minimum": (0, 0)}, runs=valley_runs)

    valley: str
    noise: float
    count: int


@dataclass(frozen=True)
class SearchCell(ValleyCell):
    """A cell (one unit of an experiment) that searches for the lowest minimum of a valley, from several known minima.

    The search is `searches.hop`. It begins at the end points of training from displaced starts.

    Columns:
        aligned [1]: |cosine| with the lowest minimum found from all starts of the cell
        worst [1]: share of the sentences that are tried, beginning with the largest misfit
        temperatures: temperatures of Langevin descent, as JSON
        search: how the minimum was found
            - descent: L-BFGS from the start
            - hop: from the end point of L-BFGS by leaving out single sentences
            - anneal: from the end point of L-BFGS by Langevin descent
        hops: number of times that a lower minimum was found
        temperature [1]: temperature of the first step of Langevin descent, in units of R
    """

    kind = Kind(
        search,
        STUDENTS,
        {
            "hops": "rounding decides how many hops of a whole search lead lower",
            "aligned": "rounding decides in which minimum the search ends",
        },
        beginning=search_first,
        runs=search_runs,
    )

    worst: float
    temperatures: tuple


LOOP_ALPHAS = (*(round(0.05 * k, 2) for k in range(4, 20)), *(round(1 + 0.1 * k, 1) for k in range(21)))
FEWER_ALPHAS = tuple(round(0.2 * k, 1) for k in range(1, 16))
FEWEST_ALPHAS = (0.4, 1.0, 1.6, 2.2)
register(LoopCell, "hysteresis")(
    paper={"seed": range(12), "task": tasks(NEAR_ALPHAS), "d": 1000, "alphas": LOOP_ALPHAS, "alpha": LOOP_ALPHAS[-1]},
    laptop={"seed": range(3), "task": tasks(NEAR_ALPHAS), "d": 400, "alphas": FEWER_ALPHAS, "alpha": FEWER_ALPHAS[-1]},
    smoke={"seed": range(2), "task": tasks(NEAR_ALPHAS), "d": 60, "alphas": FEWEST_ALPHAS, "alpha": FEWEST_ALPHAS[-1]},
)
# These alphas are close to the alpha_c of theory. Starts around the teacher are displaced by noise as large as Q*.
VALLEYS = {
    "task alpha": with_tasks((0.1, 0.75), (0.2, 0.95), (0.3, 1.25)),
    "valley noise": [("semantic", 1.0), ("positional", 0.1)],
}
register(ValleyCell, "lowest")(
    paper={"d": [500, 1000], "seed": range(12), **VALLEYS, "count": 50},
    laptop={"d": 250, "seed": range(4), **VALLEYS, "count": 20},
    smoke={"d": 60, "seed": range(3), **VALLEYS, "count": 6},
)
# The search tries the 5 % of the sentences with the largest misfits. In eight searches that tried all sentences, every
# sentence that led to a lower minimum was among the 4 % with the largest misfits.
register(SearchCell, "searched", {"worst": 0.05})(
    paper={"d": [250, 500, 1000], "seed": range(24), **VALLEYS, "count": 6, "temperatures": (0.001, 0.003, 0.01)},
    laptop={"d": [125, 250], "seed": range(4), **VALLEYS, "count": 4, "temperatures": (0.003, 0.01)},
    smoke={"d": [30, 60], "seed": range(3), **VALLEYS, "count": 3, "temperatures": (0.01,)},
)
# At omega = 0.3, starts around the encoding are displaced by noise of several sizes. Starts around the teacher are
# displaced by noise as large as Q*.
NOISES = [*((0.3, 1.5, "positional", noise) for noise in (0.01, 0.03, 0.1, 0.3)), (0.3, 1.5, "semantic", 1.0)]
NOISES += [(0.1, 0.75, "positional", 0.1), (0.1, 0.75, "semantic", 1.0)]
NOISE_AXES = {"task alpha valley noise": with_tasks(*NOISES)}
# With larger tokens, a start at the teacher and a start displaced from the teacher lead to different minima.
SIGMA_AXES = {"task": Task(sigma=0.75), "alpha": 0.8, "valley": "semantic", "noise": 1.0, "count": 2}
register(ValleyCell, "landscape")(
    paper=[
        {"seed": range(4), **NOISE_AXES, "d": 1000, "count": 100},
        {"seed": range(12), "d": [250, 500, 1000, 2000], **SIGMA_AXES},
    ],
    laptop=[{"seed": range(2), **NOISE_AXES, "d": 500, "count": 30}, {"seed": range(4), "d": [125, 250], **SIGMA_AXES}],
    smoke=[{"seed": range(2), **NOISE_AXES, "d": 60, "count": 6}, {"seed": range(2), "d": [30, 60], **SIGMA_AXES}],
)
