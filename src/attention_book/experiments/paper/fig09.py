"""Figure 9: results as functions of alpha and omega, for the alternative matrix A.

Experiments:
    fig09: Map over alpha and omega, alternative A, by both optimisers.
    fig09_theory: Theory of Figure 9: the lines of the map.
"""

from ..grids import ALPHAS, OMEGAS, tasks
from ..lines import LINE, lines
from ..students import seed_pairs, students

ALTERNATIVE = tasks(OMEGAS, matrix="alternative")
students("fig09")(
    paper={"optimizer seed": seed_pairs(10, 10), "task": ALTERNATIVE, "alpha": ALPHAS, "d": 1000},
    laptop={"optimizer seed": seed_pairs(6, 2), "task": ALTERNATIVE[::4], "alpha": ALPHAS[::2], "d": 300},
    smoke={"optimizer seed": seed_pairs(3, 2), "task": ALTERNATIVE[::8], "alpha": ALPHAS[::8], "d": 100},
)

lines("fig09_theory")(
    paper=LINE["paper"] | {"task": ALTERNATIVE},
    laptop=LINE["laptop"] | {"task": ALTERNATIVE[::4]},
    smoke=LINE["smoke"] | {"task": ALTERNATIVE[::8]},
)
