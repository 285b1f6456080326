"""Training from small random weights: which methods end in the semantic valley, and what this depends on.

Experiments:
    descents: Other optimisers from the starts of Figure 15, on the same sentences.
    hints: Starts with a hint of the teacher, by three optimisers.
    staying_random: L-BFGS from small random weights across the positional border.
"""

from dataclasses import dataclass

import numpy as np

from attention_phases.task import Task

from ..grids import register
from ..kinds import ROUNDING, Kind, displaced_runs
from ..students import STUDENTS, OnData
from .staying import EARLY_BORDER, LATE_BORDER


def descend_by_legs(cell, displaced=0.0):
    """Train students from small random weights, and return a row for each student after each stage of training.

    There are `count` students for each of the `hints`. A start is ``noise N(0, 1) + hint Q*``. For one data set, the
    random part N(0, 1) is the same in all cells and for all hints.

    cell: a `DescentCell`.
    displaced: relative displacement of every weight of the starts; the data are not displaced.
    """
    import torch

    from attention_phases.model.two_tokens import risk

    from .ways_down import WAYS

    (data, rng), rows = cell.draw(), []
    drawn = torch.from_numpy(rng.standard_normal((cell.count, cell.d), dtype=np.float32))
    weights = torch.cat([cell.noise * drawn + hint * data.teacher for hint in cell.hints])
    away = torch.from_numpy(rng.standard_normal(tuple(weights.shape), dtype=np.float32))
    weights = weights * (1 + displaced * away)
    for leg, (method, settings) in enumerate(WAYS[cell.way], 1):
        weights = method(data, cell.task.lam, weights, rng=rng, **settings)
        for number, student in enumerate(weights):
            value, gradient = risk(data, student[None], cell.task.lam)
            row = {"leg": leg, "hint": cell.hints[number // cell.count], "number": number % cell.count}
            row |= {**cell.overlaps(data, student), "train_loss": value.item() / cell.d}
            rows.append(row | {"grad_norm": torch.linalg.vector_norm(gradient).item()})
    return rows


@dataclass(frozen=True)
class DescentCell(OnData):
    """A cell (one unit of an experiment) that trains students from small random weights plus multiples of the teacher.

    The multiples are given as `hints`. A hint may be zero.

    Columns:
        way: an optimiser, or several optimisers in succession
        number: number of the start, 0 to count - 1
        hints: multiples of the teacher that are added to a start, as JSON
        leg: number of the part of the way after which the student is measured, from 1
        hint [1]: multiple of the teacher that is added to the start
    """

    kind = Kind(descend_by_legs, STUDENTS, ROUNDING, runs=displaced_runs)

    way: str
    noise: float = 0.1
    hints: tuple = (0.0,)
    count: int = 4


# These are the data sets of Figure 15, on which the experiment "fig15_fractions" trains with Adam, L-BFGS and the
# published gradient descent.
SAME_DATA = {"task": Task(), "alpha": [2.0, 4.0], "seed": range(12)}
QUICK = ["rate 1.5", "rate 3", "momentum", "minibatches, rate 1.5", "backtracking"]
QUICK += [f"lbfgs after {steps}" for steps in (10, 100, 1000)]
SOME_WAYS = ["rate 3", "lbfgs after 10", "minibatches", "rate 1.5 after a long step"]
OTHER_WAYS = [*QUICK, "gd longer", "rate 0.015", "minibatches", "capped"]
# In these runs gradient descent begins as far from zero as L-BFGS is after its first steps. It begins after one long
# step, or at larger weights.
FAR_STARTS = [{"way": "rate 1.5 after a long step"}, {"way": ["rate 1.5", "gd"], "noise": 0.4}]
register(DescentCell, "descents")(
    paper=[
        {"way": OTHER_WAYS, "d": 200, **SAME_DATA},
        {"way": QUICK, "d": 500, **SAME_DATA},
        *({"d": [200, 500], **ways, **SAME_DATA} for ways in FAR_STARTS),
    ],
    laptop={"way": OTHER_WAYS, "d": 100, **SAME_DATA, "seed": range(4)},
    smoke={"way": SOME_WAYS, "d": 30, **SAME_DATA, "alpha": 2.0, "seed": range(3)},
)
HINTED_STARTS = {"hints": (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2), "count": 2, **SAME_DATA}
register(DescentCell, "hints", {"way": ["lbfgs", "gd", "adam"]})(
    paper=[{"d": 200, "noise": [0.03, 0.1, 0.3], **HINTED_STARTS}, {"d": 500, **HINTED_STARTS}],
    laptop={"d": 100, "noise": [0.03, 0.1, 0.3], **HINTED_STARTS, "seed": range(4)},
    smoke={"d": 30, **HINTED_STARTS, "hints": (0.03, 0.3), "alpha": 2.0, "seed": range(2)},
)
# These cells train with L-BFGS from random weights on the data sets of the experiment "staying".
register(DescentCell, "staying_random", {"way": "lbfgs"})(
    paper=[
        {"d": [250, 500], "seed": range(12), **EARLY_BORDER},
        {"d": [250, 500], "seed": range(8), **LATE_BORDER, "alpha": [1.5, 4.0, 6.0, 8.0, 12.0]},
        {"d": 1000, "seed": range(4, 8), **EARLY_BORDER},
    ],
    laptop={"d": [125, 250], "seed": range(4), **EARLY_BORDER},
    smoke={"d": [50, 100], "seed": range(3), **EARLY_BORDER, "alpha": [0.8, 2.3]},
)
