"""Figure 2: results as functions of alpha, for one task.

Experiments:
    fig02: Slice of one task: both starts over alpha, by L-BFGS and by the published gradient descent.
    fig02_theory: Theory of Figure 2.
"""

import numpy as np

from attention_phases.task import Task

from ..grids import ALPHAS
from ..lines import lines
from ..students import students

students("fig02")(
    paper={"optimizer": ["lbfgs", "gd"], "seed": range(24), "alpha": ALPHAS, "d": 1000},
    laptop={"seed": range(8), "alpha": ALPHAS[::2], "d": 1000},
    smoke={"seed": range(3), "alpha": ALPHAS[::8], "d": 200},
)

FORTY_ALPHAS = tuple(np.linspace(ALPHAS[0], ALPHAS[-1], 40).tolist())
lines("fig02_theory", {"task": Task()})(
    paper={"alphas": FORTY_ALPHAS, "points": 2**12, "scrambles": 16},
    laptop={"alphas": FORTY_ALPHAS, "points": 2**9, "scrambles": 16},
    smoke={"alphas": tuple(np.linspace(ALPHAS[0], ALPHAS[-1], 6).tolist()), "points": 2**5, "scrambles": 8},
)
