"""The state evolution as what it is first of all: the course of undamped message passing, iteration by iteration."""

from math import sqrt

import numpy as np
import pandas as pd

from .quadrature import POINTS, SCRAMBLES, gaussian_points
from .rank_one.state_evolution import Averages, Overlaps, average, conjugates, update


def trajectory(task, alpha, start, steps, points=POINTS, scrambles=SCRAMBLES, seed=0):
    """Overlaps by iteration from a given start (Eqs. 7 and 8, iterated).

    Parameters
    ----------
    task : Task
    alpha : float
    start : Overlaps
        Of the first weights, with theta^2 < sigma^2 q, and V.
    steps : int
    points, scrambles, seed : int
        Quadrature, see `gaussian_points`.

    Returns
    -------
    pandas.DataFrame
        By iteration, the start included: q, m, theta, V, and "q_error" and so on, the spread between courses that
        each see one scramble only, over the root of their number.
    """
    courses = []
    for net in gaussian_points(points, scrambles, seed):
        course = [start]
        for _ in range(steps):
            averages = Averages(*(each.item() for each in average(task, course[-1], net[None])))
            course.append(Overlaps(*map(float, update(task, conjugates(task, alpha, course[-1], averages)))))
        courses.append(course)
    errors = np.std(courses, axis=0, ddof=1) / sqrt(scrambles)
    table = pd.DataFrame(np.mean(courses, axis=0), columns=Overlaps._fields)
    table[[f"{name}_error" for name in Overlaps._fields]] = errors
    return table.rename_axis("iteration")
