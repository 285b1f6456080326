"""Figure 14: results for architectures other than the standard one, as functions of alpha and omega.

Experiments:
    fig14: Maps over alpha and omega of the architectures that theory covers.
    fig14_random: Map of rank 2 by the published descent from random starts, and by L-BFGS from random and informed
        starts.
    fig14_value: Maps over alpha and omega with a rank-one correction of the value matrix, and without it.
    fig14_theory: Theory of Figure 14: the thresholds of its maps.
"""

import numpy as np

from attention_phases.model.architectures import STANDARD

from ..grids import ALPHAS, OMEGAS, register, tasks
from ..lines import ArchitectureLineCell
from ..students import INFORMED, RANDOM, variants
from .fig10 import MAP_FORMS, RANK2
from .fig13 import VALUE

LONG_ALPHAS = ALPHAS + np.linspace(2.0, 4.0, 25).tolist()[1:]  # published alphas for the student of rank 2


def _map_axis(omegas, step):
    """Return tuples (architecture, task, alpha) for the architectures that theory covers.

    They are the values of an axis "architecture task alpha", with every `step`-th published alpha.
    """
    alphas = {name: (LONG_ALPHAS[::2] if name == "rank2" else ALPHAS)[::step] for name in MAP_FORMS}
    return [(MAP_FORMS[name], task, alpha) for name in MAP_FORMS for task in tasks(omegas) for alpha in alphas[name]]


variants("fig14")(
    paper={"seed": range(8), "architecture task alpha": _map_axis(OMEGAS, 1), "d": 500},
    laptop={"seed": range(2), "architecture task alpha": _map_axis(OMEGAS[::4], 4), "d": 150},
    smoke={"seed": range(2), "architecture task alpha": _map_axis(OMEGAS[::8], 12), "d": 60},
)
RANDOM_RUNS = {"optimizer starts": [("lbfgs", INFORMED), ("lbfgs", RANDOM), ("gd", RANDOM)]}
variants("fig14_random", {"architecture": RANK2})(
    paper={"seed": range(10), **RANDOM_RUNS, "task": tasks(OMEGAS[::2]), "alpha": LONG_ALPHAS[::4], "d": 1000},
    laptop={"seed": range(2), **RANDOM_RUNS, "task": tasks(OMEGAS[::4]), "alpha": LONG_ALPHAS[::8], "d": 200},
    smoke={"seed": range(2), **RANDOM_RUNS, "task": tasks(OMEGAS[::8]), "alpha": LONG_ALPHAS[::24], "d": 60},
)
VALUE_FORMS = {"architecture": [VALUE, STANDARD]}
variants("fig14_value")(
    paper={"seed": range(8), **VALUE_FORMS, "task": tasks(OMEGAS), "alpha": ALPHAS, "d": 500},
    laptop={"seed": range(2), **VALUE_FORMS, "task": tasks(OMEGAS[::4]), "alpha": ALPHAS[::4], "d": 150},
    smoke={"seed": range(2), **VALUE_FORMS, "task": tasks(OMEGAS[::8]), "alpha": ALPHAS[::12], "d": 60},
)

ONE_BRANCH = {"rank2": ("semantic",)}  # rank 2 has no alpha_c, whose search would need the positional branch, too
MAPPED_BRANCHES = [(architecture, ONE_BRANCH.get(name, INFORMED)) for name, architecture in MAP_FORMS.items()]
register(ArchitectureLineCell, "fig14_theory", {"alphas": ()})(
    paper={"task": tasks(OMEGAS[::2]), "architecture branches": MAPPED_BRANCHES, "points": 2**9, "scrambles": 16},
    laptop={"task": tasks(OMEGAS[::24]), "architecture branches": MAPPED_BRANCHES, "points": 2**6, "scrambles": 8},
    smoke={"task": tasks(OMEGAS[12:13]), "architecture branches": MAPPED_BRANCHES, "points": 2**4, "scrambles": 4},
)
