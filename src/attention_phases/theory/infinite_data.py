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
from ..errors import ResultError
from ..measured import UNKNOWN, Measured
from ..task import Task
from .baseline import linear_baseline, mean_attention, tensor_rule

COMPARED = {"critical": "positional", "linear": "linear"}  # what the semantic floor meets at each end
NODES = 40  # of each number that is averaged over; 20 give the ends to 1e-9
BRACKET = (0.2, 0.8)  # of kappa and m, from which their best values are searched
TIE = 1e-12  # relative difference of two floors that rounding makes
XTOL = 1e-12  # of an end
UNSURE = 0.2  # an end whose error is a larger share of it is not known


def floors(task: Task, nodes: int = NODES) -> dict[str, float]:
    """Return the floors "semantic", "positional" and "linear" of the test errors."""
    z, weights = tensor_rule(nodes, 2)
    target, mean = target_attention(task.sigma * z, task.omega, np.array(task.matrix)), mean_attention(task, nodes)

    def miss(fields, aim) -> float:
        return float(task.sigma**2 / 2 * (weights @ ((aim - attention(fields)) ** 2).sum((1, 2))))

    def lowest(miss_of) -> float:
        # large tokens may want weights that are as much smaller, and no student needs to be worse than weights of zero
        scales = {1.0, max(task.sigma, 1.0)}
        found = (minimize_scalar(miss_of, bracket=[weight / scale for weight in BRACKET]).x for scale in scales)
        return min(map(miss_of, (*found, 0.0)))

    linear = linear_baseline(task, nodes=nodes)
    return {
        "semantic": lowest(lambda kappa: miss(kappa * task.sigma * z, target)),
        # its attention is independent of Y
        "positional": linear + lowest(lambda m: miss(m * (task.sigma * z + [1, -1]), mean)),
        "linear": linear,
    }


def end(task: Task, kind: str) -> Measured:
    """Return the omega* at which a threshold goes to infinity, whatever the omega of `task`.

    NaN if at none: if both students of A alone are best with weights of zero, which makes them one. `ResultError` if
    the floors do not tell, as those of very small tokens, which vanish.

    kind: "critical", where the semantic floor meets the positional one, or "linear", where it meets the linear one
    """

    def gap(omega: float, nodes: int = NODES) -> float:
        level = floors(replace(task, omega=omega), nodes)
        return level["semantic"] - level[COMPARED[kind]]

    def crossing(nodes: int = NODES) -> float:
        return root_scalar(gap, args=(nodes,), bracket=(0.0, 1.0), xtol=XTOL).root

    first, last, semantic = gap(0.0), gap(1.0), floors(replace(task, omega=1.0))["semantic"]
    unread = task.sigma**2 / 2 * ((np.array(task.matrix) - 0.5) ** 2).sum()  # of A, by weights of zero
    if first < 0 and last <= TIE * unread and semantic >= (1 - TIE) * unread:
        return UNKNOWN
    if first < 0 < min(last, gap(1.0, NODES // 2)):
        value = crossing()
        error = max(abs(value - crossing(NODES // 2)), XTOL)
        if error <= UNSURE * value:
            return Measured(value, error)
    raise ResultError(
        f"the {kind} end is not known at sigma = {task.sigma:g}: floors of this sigma and A are not precise enough"
    )
