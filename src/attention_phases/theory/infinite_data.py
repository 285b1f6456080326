"""Infinitely many sentences: the floors of the test errors, and where the phase diagram ends.

Each mechanism's student is then at its best. Weights ``kappa Q* + m 1_d`` give a token the field ``kappa y + m (sigma n
+ p)``: the encoding ``p = +-1`` comes with Gaussian noise, as weights along 1_d read the entries of the token too. The
linear model, which mixes by E[Y], has no such noise. Above an end omega* the semantic floor is the higher one, and no
number of sentences makes the semantic minimum win.
"""

from dataclasses import replace

import numpy as np
from scipy.optimize import minimize_scalar, root_scalar

from ..attention import attention, target_attention
from ..measured import UNKNOWN, Measured
from ..task import Task
from .baseline import linear_baseline, mean_attention, tensor_rule

COMPARED = {"critical": "positional", "linear": "linear"}  # what the semantic floor meets at each end
NODES = 40  # of each number that is averaged over; 20 give the ends to 1e-9
BRACKET = (0.2, 0.8)  # of kappa and m, from which their best values are searched


def floors(task: Task, nodes: int = NODES) -> dict[str, float]:
    """Return the floors "semantic", "positional" and "linear" of the test errors."""
    z, weights = tensor_rule(nodes, 2)
    target, mean = target_attention(task.sigma * z, task.omega, np.array(task.matrix)), mean_attention(task, nodes)

    def miss(fields, aim) -> float:
        return float(task.sigma**2 / 2 * (weights @ ((aim - attention(fields)) ** 2).sum((1, 2))))

    def lowest(miss_of) -> float:
        return miss_of(minimize_scalar(miss_of, bracket=BRACKET).x)

    linear = linear_baseline(task, nodes=nodes)
    return {
        "semantic": lowest(lambda kappa: miss(kappa * task.sigma * z, target)),
        # its attention is independent of Y
        "positional": linear + lowest(lambda m: miss(m * (task.sigma * z + [1, -1]), mean)),
        "linear": linear,
    }


def end(task: Task, kind: str) -> Measured:
    """Return the omega* at which a threshold goes to infinity, whatever the omega of `task`; unknown if at none.

    kind: "critical", where the semantic floor meets the positional one, or "linear", where it meets the linear one
    """

    def gap(omega: float, nodes: int = NODES) -> float:
        level = floors(replace(task, omega=omega), nodes)
        return level["semantic"] - level[COMPARED[kind]]

    def crossing(nodes: int = NODES) -> float:
        return root_scalar(gap, args=(nodes,), bracket=(0.0, 1.0), xtol=1e-12).root

    if not gap(0.0) < 0 < gap(1.0):
        return UNKNOWN
    return Measured(crossing(), abs(crossing() - crossing(NODES // 2)))
