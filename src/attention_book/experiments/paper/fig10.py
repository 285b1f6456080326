"""Figures 10, 11 and 12: results for correlated tokens, for a student of rank 2, and for untied Q and K.

Experiments:
    fig10: Slice at omega = 0.3, correlated tokens.
    fig11: Slice at omega = 0.3, a student of rank 2: three kinds of start, and published descent from random starts.
    fig12: Slice at omega = 0.3, untied Q and K.
    fig10_theory: Theory of Figures 10, 11 and 12: the lines at omega = 0.3 with their thresholds.
"""

from attention_phases.model.architectures import CORRELATION, Architecture
from attention_phases.task import Task

from ..grids import ALPHAS, GRIDS, cells_of
from ..lines import ArchitectureLineCell
from ..students import INFORMED, RANDOM, variants

FURTHER_ALPHAS = [2.25, 2.5, 2.75, 3.0]  # alphas beyond the published grid, because some of the transitions are there
CORRELATED, RANK2, UNTIED = Architecture(correlation=CORRELATION), Architecture("rank2"), Architecture("untied")
MAP_FORMS = {"correlated": CORRELATED, "rank2": RANK2, "untied": UNTIED}
SLICE = {
    "paper": {"seed": range(24), "alpha": ALPHAS, "d": 1000},
    "laptop": {"seed": range(4), "alpha": ALPHAS[::4], "d": 200},
    "smoke": {"seed": range(3), "alpha": ALPHAS[8::8], "d": 40},
}
LONGER_SLICE = {
    "paper": {"seed": range(24), "alpha": ALPHAS + FURTHER_ALPHAS, "d": 1000},
    "laptop": {"seed": range(4), "alpha": ALPHAS[::4] + FURTHER_ALPHAS[1::2], "d": 200},
    "smoke": SLICE["smoke"],
}
variants("fig10", {"architecture": CORRELATED})(**LONGER_SLICE)
DESCENT_OPTIONS = {"optimizer": "gd", "starts": RANDOM}
variants("fig11", {"architecture": RANK2, "starts": (*INFORMED, "mixed")})(
    paper=[SLICE["paper"], {**SLICE["paper"], **DESCENT_OPTIONS, "seed": range(10)}],
    laptop=[SLICE["laptop"], {**SLICE["laptop"], **DESCENT_OPTIONS, "seed": range(2)}],
    smoke=[SLICE["smoke"], {**SLICE["smoke"], **DESCENT_OPTIONS, "seed": range(2)}],
)
variants("fig12", {"architecture": UNTIED})(**LONGER_SLICE)

FIG10 = {
    "paper": {"alphas": (*ALPHAS[::2], *FURTHER_ALPHAS), "points": 2**9, "scrambles": 16},
    "laptop": {"alphas": (*ALPHAS[::4], *FURTHER_ALPHAS), "points": 2**6, "scrambles": 8},
    "smoke": {"alphas": (1.0, 2.0, 3.0), "points": 2**4, "scrambles": 4},
}


def fig10_theory(profile, names=tuple(MAP_FORMS)):
    """Return the cells that compute theoretical results at omega = 0.3 for Figures 10, 11 and 12."""
    table = {"task": Task(), "architecture": [MAP_FORMS[name] for name in names], **FIG10[profile]}
    return cells_of("fig10_theory", ArchitectureLineCell, table)


GRIDS["fig10_theory"] = fig10_theory
