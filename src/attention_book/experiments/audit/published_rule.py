"""Thresholds and curves of the published theory, by the authors' quadrature and by one with many more points.

Experiments:
    published_rule: Thresholds and solutions along the published curves, by the published quadrature and with many
        points.
"""

from dataclasses import dataclass

import numpy as np

from attention_phases.task import Task

from ..grids import register, tasks
from ..kinds import Kind, with_errors
from ..lines import THRESHOLD_KINDS, OnNets, mark, prune
from ..paper.fig03 import PUBLISHED_OMEGAS
from ..students import INFORMED


def rows_by_published_rule(cell) -> list[dict]:
    """Compute thresholds or branches twice: with the authors' quadrature rules, and with many quadrature points.

    Without alphas, there is a row for each threshold that exists, with the label "critical" or "linear". `alpha` and
    `alpha_error` are the threshold with many points. `rule` and `exact` are the values of `coarse_threshold`, if the
    losses cross. The row "baseline" has the test error of the linear model.

    With alphas, there is a row for every `quantity` along the `branches`: `rule` is the value of `solve_coarsely`, and
    `many` and `many_error` are the values with many points.
    """
    from attention_phases.theory import linear_baseline, solve, threshold
    from attention_phases.theory.branches import OWN_OVERLAP

    from .authors_rule import coarse_threshold, rule_baseline, solve_coarsely

    task, rows = cell.task, []
    for branch in cell.branches:
        for alpha in cell.alphas:
            many = solve(task, alpha, branch, cell.points, **cell.quadrature)
            coarse = solve_coarsely(task, alpha, branch)
            values = coarse.overlaps._asdict() | {"train_loss": coarse.train_loss[0], "test_mse": coarse.test_mse[0]}
            converged = many.overlaps._asdict() | {"train_loss": many.train_loss, "test_mse": many.test_mse}
            own = [OWN_OVERLAP[branch]] if branch in OWN_OVERLAP else []
            for quantity in ("q", "V", "train_loss", "test_mse", *own):
                row = {"what": branch, "alpha": alpha, "quantity": quantity, "rule": abs(values[quantity])}
                row |= {"many": abs(converged[quantity]), "many_error": many.stderr[quantity]}
                rows.append(prune(row))
    if cell.alphas:
        return rows
    by_rule, exact = rule_baseline(task), linear_baseline(task)
    rows.append({"what": "baseline", "quantity": "test_mse", "rule": by_rule, "many": exact})
    for kind in THRESHOLD_KINDS:
        converged = threshold(task, kind, cell.points, **cell.quadrature)
        if converged.exists:
            coarse = dict(zip(("rule", "exact"), coarse_threshold(task, kind, converged.alpha.value)))
            rows.append(prune({**mark(kind, converged.alpha), **coarse}))
    return rows


@dataclass(frozen=True)
class RuleCell(OnNets):
    """A cell (one unit of an experiment) that computes results with the authors' quadrature and with a finer one.

    If it has `alphas`, the results are the branches at these alphas, otherwise both thresholds.

    Columns:
        what: what the row is about
            - critical: alpha_c, where the training losses of both branches cross
            - linear: alpha_l, where the semantic test error crosses the test error of the linear model
            - semantic: the semantic branch or valley
            - positional: the positional branch or valley
            - symmetric: the branch without overlaps
            - baseline: the linear model
        alpha [1]: sample complexity n/d of the solution, or the threshold with many points
        rule [1]: the quantity or the threshold by the published rules; empty if the losses do not cross
        many [1]: the quantity with many points
        exact [1]: threshold from overlaps by the published rules on 144 points, but with losses on many points
    """

    kind = Kind(
        rows_by_published_rule,
        with_errors(("alpha", "many"), (1e-3, 1e-9), (5e-2, 1e-9)) | {"rule": (5e-3, 1e-9), "exact": (5e-3, 0)},
    )

    alphas: tuple = ()
    branches: tuple = ()


# The published curves show both minima over alpha and, at omega = 0.3, the branch without overlaps.
TEN_ALPHAS = tuple(np.linspace(2.0, 0.1, 10).tolist())
PUBLISHED_CURVES = [
    (Task(), (*np.linspace(2.0, 1.25, 8).tolist(), *np.linspace(1.24, 0.01, 12).tolist()), INFORMED),
    (Task(), tuple(np.linspace(2.275, 0.1, 10).tolist()), ("symmetric",)),
    (Task(omega=0.5), tuple(np.linspace(2.275, 0.1, 15).tolist()), INFORMED),
    (Task(omega=0.15), TEN_ALPHAS, INFORMED),
    (Task(omega=0.14, matrix="alternative"), TEN_ALPHAS, INFORMED),
]
register(RuleCell, "published_rule")(
    paper=[
        {"task": tasks(sorted(PUBLISHED_OMEGAS)), "points": 2**11, "scrambles": 16},
        {"task alphas branches": PUBLISHED_CURVES, "points": 2**11, "scrambles": 8},
    ],
    laptop=[
        {"task": tasks([0.1, 0.3]), "points": 2**10, "scrambles": 8},
        {"task": Task(), "alphas": (2.0,), "branches": INFORMED, "points": 2**10, "scrambles": 8},
    ],
    smoke=[
        {"task": tasks([0.3]), "points": 2**8, "scrambles": 4},
        {"task": Task(), "alphas": (2.0,), "branches": INFORMED, "points": 2**8, "scrambles": 4},
    ],
)
