"""Figure 3: results as functions of alpha and omega.

Experiments:
    fig03: Map over alpha and omega, standard A, by both optimisers.
    fig03_minima: Several starts around both starts, on one data set: close to the transition, and far above it.
    fig03_theory: Theory of Figure 3: the lines of the map, and the thresholds at other omega.
"""

from ...published import CRITICAL_ALPHA, LINEAR_ALPHA
from ..grids import ALPHAS, OMEGAS, tasks, with_tasks
from ..lines import LINE, lines
from ..students import seed_pairs, students

# The seed is the slowest axis, so that an unfinished sweep contains complete maps.
students("fig03")(
    paper={"optimizer seed": seed_pairs(24, 10), "task": tasks(OMEGAS), "alpha": ALPHAS, "d": 1000},
    laptop={"optimizer seed": seed_pairs(6, 2), "task": tasks(OMEGAS[::4]), "alpha": ALPHAS[::2], "d": 300},
    smoke={"optimizer seed": seed_pairs(3, 2), "task": tasks(OMEGAS[::8]), "alpha": ALPHAS[::8], "d": 100},
)

CROSSING_POINTS = with_tasks((0.02, 0.64), (0.1, 0.75), (0.2, 0.95), (0.3, 1.25), (0.4, 1.77), (0.3, 2.0))
EIGHT_STARTS = ("semantic", *["near_semantic"] * 7, "positional", *["near_positional"] * 7)
FOUR_STARTS = ("semantic", *["near_semantic"] * 3, "positional", *["near_positional"] * 3)
students("fig03_minima")(
    paper={"seed": range(8), "task alpha": CROSSING_POINTS, "d": 1000, "starts": EIGHT_STARTS},
    laptop={"seed": range(3), "task alpha": CROSSING_POINTS, "d": 500, "starts": EIGHT_STARTS},
    smoke={"seed": range(3), "task alpha": CROSSING_POINTS[1:3], "d": 100, "starts": FOUR_STARTS},
)

PUBLISHED_OMEGAS = {*CRITICAL_ALPHA, *LINEAR_ALPHA}
FURTHER_OMEGAS = [0.49, 0.51, 0.53, 0.55, 0.57, 0.59, 0.61, 0.63]  # values of omega outside the map
THRESHOLDS_ONLY = tasks([*sorted(PUBLISHED_OMEGAS.difference(OMEGAS)), *FURTHER_OMEGAS])
lines("fig03_theory")(
    paper=[LINE["paper"] | {"task": tasks(OMEGAS)}, LINE["paper"] | {"task": THRESHOLDS_ONLY, "alphas": ()}],
    laptop=[
        LINE["laptop"] | {"task": tasks(OMEGAS[::4])},
        LINE["laptop"] | {"task": tasks(FURTHER_OMEGAS[1::2]), "alphas": ()},
    ],
    smoke=LINE["smoke"] | {"task": tasks(OMEGAS[::8])},
)
