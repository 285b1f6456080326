"""Figure 15: the minima that training from random starts reaches.

Experiments:
    fig15: Adam from random starts at alpha = 2, and the two minima on the same data, with which the end points are
        compared.
    fig15_fractions: Random starts over alpha and d, by three optimisers: how often each minimum is found.
    first_steps: The first steps of gradient descent from random weights.
"""

from dataclasses import dataclass

from attention_phases.task import Task

from ..grids import register
from ..kinds import Kind
from ..students import INFORMED, RANDOM, OnData, students


def take_first_steps(cell):
    """Train students by gradient descent, and return their overlaps after given numbers of steps.

    cell: a `FirstStepsCell`.
    """
    import torch

    from attention_phases.training.optimizers import gradient_descent, start_weights

    (data, rng), rows = cell.draw(), []
    weights = torch.stack([start_weights("random", data.teacher, rng) for _ in range(cell.count)])
    for before, step in zip((0, *cell.steps), cell.steps):
        weights, _ = gradient_descent(data, cell.task.lam, weights, steps=step - before)
        for number, student in enumerate(weights):
            rows.append({"step": step, "number": number, **cell.overlaps(data, student)})
    return rows


@dataclass(frozen=True)
class FirstStepsCell(OnData):
    """A cell (one unit of an experiment) that records overlaps in the first steps from random starts.

    Training is gradient descent. The overlaps of the `count` students are recorded after each number of `steps`.
    """

    kind = Kind(take_first_steps, {name: (1e-3, 3e-6) for name in ("q", "m", "theta")})

    count: int
    steps: tuple


# The two minima in which a random start may end are trained on the same data. In the larger dimension, only these two
# minima are trained.
SEARCHES = {"optimizer starts": [("lbfgs", INFORMED), ("adam", RANDOM)]}
students("fig15", {"alpha": 2.0})(
    paper=[{"seed": range(140), **SEARCHES, "d": 100}, {"seed": range(24), "d": 1000}],
    laptop=[{"seed": range(40), **SEARCHES, "d": 100}, {"seed": range(8), "d": 500}],
    smoke=[{"seed": range(8), **SEARCHES, "d": 30}, {"seed": range(3), "d": 60}],
)


def _searches(runs):
    """Return pairs (optimizer, starts): L-BFGS from two informed starts, and three optimisers from random starts.

    They are the values of an axis "optimizer starts".
    """
    return [("lbfgs", INFORMED), *((optimizer, RANDOM * runs) for optimizer in ("adam", "gd", "lbfgs"))]


SIX_ALPHAS = [0.5, 1.0, 1.5, 2.0, 3.0, 4.0]
students("fig15_fractions")(
    paper={"d": [50, 100, 200, 500, 1000], "seed": range(12), "alpha": SIX_ALPHAS, "optimizer starts": _searches(4)},
    laptop={"d": [50, 100], "seed": range(6), "alpha": [0.5, 1.0, 2.0, 4.0], "optimizer starts": _searches(4)},
    smoke={"d": 30, "seed": range(3), "alpha": [1.0, 2.0], "optimizer starts": _searches(2)},
)

FIRST_STEPS = {"task": Task(), "alpha": 2.0, "count": 16, "steps": (0, 25, 50, 75, 100, 150, 200)}
register(FirstStepsCell, "first_steps", FIRST_STEPS)(
    paper={"seed": range(4), "d": 1000}, laptop={"seed": range(4), "d": 1000}, smoke={"seed": range(2), "d": 100}
)
