"""A comparison of theory with students of increasing dimension, for every architecture that theory covers.

Experiments:
    variants_size: Every architecture that theory covers, in growing dimension: theory against students.
    variants_theory: Theory of the semantic branch for every architecture that theory covers.
"""

from attention_phases.model.architectures import Architecture
from attention_phases.task import Task

from ..grids import register
from ..lines import ArchitectureLineCell
from ..paper.fig10 import CORRELATED, RANK2, UNTIED
from ..students import variants

# As the dimension grows, students that start at the teacher are compared with theory. The comparison is at an alpha
# above alpha_c, because students of small d leave this minimum at smaller alpha. For correlated tokens
# alpha_c is above 2.
CASES = {
    "correlated": CORRELATED,
    "untied": UNTIED,
    "rank2": RANK2,
    "three tokens": Architecture(tokens=3),
    "four tokens": Architecture(tokens=4),
}
COMPARED_ALPHA = dict.fromkeys(CASES, 2.0) | {"correlated": 3.0}
GROWTH = {"architecture alpha": [(architecture, COMPARED_ALPHA[name]) for name, architecture in CASES.items()]}
variants("variants_size", {"starts": ("semantic",)})(
    paper={"d": [250, 500, 1000, 2000], "seed": range(24), **GROWTH},
    laptop={"d": [125, 250, 500], "seed": range(12), **GROWTH},
    smoke={"d": [50, 100], "seed": range(4), **GROWTH},
)

COMPARED_LINES = {"architecture alphas": [(CASES[name], (alpha,)) for name, alpha in COMPARED_ALPHA.items()]}
register(ArchitectureLineCell, "variants_theory", {"task": Task(), **COMPARED_LINES, "branches": ("semantic",)})(
    paper={"points": 2**11, "scrambles": 16},
    laptop={"points": 2**6, "scrambles": 8},
    smoke={"points": 2**5, "scrambles": 8},
)
