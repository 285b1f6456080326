"""The state evolution read as the course of undamped message passing, iteration by iteration."""

import numpy as np
import pandas as pd

from ..measured import standard_error
from ..task import Task
from .quadrature import SCRAMBLES, gaussian_points, pool, usual_points
from .rank_one.state_evolution import Overlaps, average, conjugates, update


def trajectory(
    task: Task, alpha: float, start: Overlaps, steps: int, points: int | None = None, scrambles=SCRAMBLES, seed=0
) -> pd.DataFrame:
    """Return the overlaps by iteration from a given start (Eqs. 7 and 8, iterated).

    Parameters
    ----------
    task : Task
    alpha : float
    start : Overlaps
        Of the first weights, with theta^2 < sigma^2 q, and V.
    steps : int
    points, scrambles, seed : int
        Quadrature, see `gaussian_points`; by default `usual_points` of "solution".

    Returns
    -------
    pandas.DataFrame
        By iteration, the start included: q, m, theta, V, and their standard errors as "q_error" and so on, from
        courses that each see one scramble only.
    """
    courses = []
    for net in gaussian_points(usual_points("solution") if points is None else points, scrambles, seed):
        course = [start]
        for _ in range(steps):
            averages = pool(average(task, course[-1], net[None]))
            course.append(Overlaps(*map(float, update(task, conjugates(task, alpha, course[-1], averages)))))
        courses.append(course)
    table = pd.DataFrame(np.mean(courses, axis=0), columns=Overlaps._fields)
    table[[f"{name}_error" for name in Overlaps._fields]] = standard_error(courses)
    return table.rename_axis("iteration")
