"""Infinitely many sentences: the floors of the test errors, and where the phase diagram ends.

Each mechanism's student is then at its best. Fields ``kappa y`` are the semantic one's, ``(m, -m)`` the positional
one's, and the linear model mixes with E[Y]. Above an end omega* the semantic floor is the higher one, and no number of
sentences makes the semantic minimum win.
"""

from dataclasses import replace

import numpy as np
from scipy.optimize import minimize, minimize_scalar, root_scalar

from ..attention import attention, target_attention
from ..measured import UNKNOWN, Measured
from ..task import Task
from .baseline import linear_baseline, tensor_rule

COMPARED = {"critical": "positional", "linear": "linear"}  # what the semantic floor meets at each end
NODES = 40  # of each field; 20 give the ends to 1e-9
BRACKET = (0.4, 0.8)  # of kappa and m, from which their best values are searched


def floor_of(task: Task, kappa: float, m: float = 0.0, nodes: int = NODES) -> float:
    """Return the test error with infinite data of a student whose fields are ``kappa y + (m, -m)``."""
    z, weights = tensor_rule(nodes, 2)
    y = task.sigma * z
    miss = target_attention(y, task.omega, np.array(task.matrix)) - attention(kappa * y + m * np.array([1, -1]))
    return float(task.sigma**2 / 2 * (weights @ (miss**2).sum((1, 2))))


def floors(task: Task, nodes: int = NODES) -> dict[str, float]:
    """Return the floors "semantic", "positional" and "linear" of the test errors."""

    def lowest(floor) -> float:
        return floor(minimize_scalar(floor, bracket=BRACKET).x)

    return {
        "semantic": lowest(lambda kappa: floor_of(task, kappa, nodes=nodes)),
        "positional": lowest(lambda m: floor_of(task, 0.0, m, nodes)),
        "linear": linear_baseline(task, nodes=nodes),
    }


def mixed_floor(task: Task) -> tuple[float, float, float]:
    """Return the lowest floor of students that use both mechanisms, with its kappa and m, from several starts."""
    starts = [(kappa, m) for kappa in (0.1, 1.0) for m in (0.1, 0.5)]
    ends = [minimize(lambda at: floor_of(task, *at) / task.sigma**2, start, tol=1e-14) for start in starts]
    best = min(ends, key=lambda end: end.fun)
    kappa, m = np.abs(best.x)
    return best.fun * task.sigma**2, kappa, m


def end(task: Task, kind: str, nodes: int = NODES) -> Measured:
    """Return the omega* at which a threshold goes to infinity, whatever the omega of `task`; unknown if at none.

    kind: "critical", where the semantic floor meets the positional one, or "linear", where it meets the linear one
    """

    def gap(omega: float, nodes: int) -> float:
        level = floors(replace(task, omega=omega), nodes)
        return level["semantic"] - level[COMPARED[kind]]

    def crossing(nodes: int) -> float:
        return root_scalar(gap, args=(nodes,), bracket=(0.0, 1.0), xtol=1e-12).root

    if not gap(0.0, nodes) < 0 < gap(1.0, nodes):
        return UNKNOWN
    return Measured(crossing(nodes), abs(crossing(nodes) - crossing(nodes // 2)))
