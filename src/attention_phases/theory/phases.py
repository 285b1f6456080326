"""The phase diagram: which of the two minima has the lower training loss at each omega and alpha."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import nan
from typing import TYPE_CHECKING, Any

from ..errors import check_kind, check_positive, check_several
from ..machine import map_jobs
from ..measured import NO_VALUE
from ..quadrature import SCRAMBLES
from ..records import origin_of
from ..task import Task
from .baseline import linear_baseline
from .branches import MINIMA, follow
from .thresholds import MIDDLE_POINTS, Gap

if TYPE_CHECKING:
    import pandas as pd


def phase_diagram(
    omegas: Sequence[float],
    alphas: Sequence[float],
    task: Task = Task(),  # noqa: B008
    points: int = MIDDLE_POINTS,
    scrambles: int = SCRAMBLES,
    seed: int = 0,
    workers: int | None = None,
    report: Callable[[], object] | None = None,
) -> "pd.DataFrame":
    """Return the phase diagram: the student with the lowest training loss, and its test error, at each omega and alpha.

    The table has a row for each omega and alpha, with these columns: omega; alpha; `phase`, the branch with the lowest
    training loss among the branches that are minima, or None; `gap`, the training loss of the semantic minimum minus
    the training loss of the positional minimum, NaN if one of them does not exist; `test_mse` of the phase, NaN if
    there is none; the standard errors of both; and `linear_mse`, the test error of the linear model.

    >>> from attention_phases import phase_diagram
    >>> table = phase_diagram([0.3], [0.9, 1.6], points=256, scrambles=8)
    >>> table["phase"].tolist()
    ['positional', 'semantic']

    Args:
        omegas: values of omega, which replace the omega of the task
        alphas: sample complexities
        points, scrambles, seed: as for `follow`
        workers: number of processes, as for `train`
        report: function that is called after each omega
    """
    import pandas as pd  # slow to import

    check_kind("task", task, Task)
    quadrature = {"points": points, "scrambles": scrambles, "seed": seed}
    omegas, alphas = (check_several(name, some) for name, some in (("omegas", omegas), ("alphas", alphas)))
    jobs = [(replace(task, omega=omega), alphas, quadrature) for omega in omegas]
    table = pd.DataFrame([row for rows in map_jobs(_phases, jobs, workers, report) for row in rows])
    table.attrs |= origin_of(task=task, **quadrature)
    return table


def _phases(job: tuple) -> list[dict[str, Any]]:
    """Return the rows of the phase-diagram table at one omega."""
    task, alphas, quadrature = job
    branches = {branch: follow(task, branch, alphas, **quadrature) for branch in MINIMA}
    rows, linear_mse = [], linear_baseline(task)
    for alpha in sorted(check_positive("alphas", alpha) for alpha in alphas):
        known = {name: found[alpha] for name, found in branches.items() if alpha in found}
        minima = {name: solution for name, solution in known.items() if not solution.gain > 1}
        phase = min(minima, key=lambda name: minima[name].train_loss, default=None)
        gap = Gap.of(minima, nan) if len(minima) == len(MINIMA) else None
        test = (minima[phase].test_mse, minima[phase].stderr["test_mse"]) if phase else NO_VALUE
        row = {"gap": (gap.value, gap.stderr) if gap else NO_VALUE, "test_mse": test}
        values = {name: value for name, (value, _) in row.items()} | {f"{name}_error": row[name][1] for name in row}
        where = {"omega": task.omega, "alpha": alpha, "phase": phase}
        rows.append({**where, **values, "linear_mse": linear_mse})
    return rows
