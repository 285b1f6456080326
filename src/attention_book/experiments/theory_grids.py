"""Sizes of the theory that is stored: lines of the standard student and of others, and one step of breaking.

That of tokens and teachers with structure is in `variant_grids`.
"""

import numpy as np

from attention_phases.task import Task

from ..published import CRITICAL_ALPHA, LINEAR_ALPHA
from . import cells
from .cells import INFORMED
from .grids import ALPHAS, GRIDS, OMEGAS, cells_of, register, tasks
from .student_grids import ALTERNATIVE, CHANGED_TASKS
from .variant_grids import COMPARED, COMPARED_ALPHA, FURTHER_ALPHAS, MAPPED

PUBLISHED_OMEGAS = {*CRITICAL_ALPHA, *LINEAR_ALPHA}
# Of a line: alphas, quadrature points a scramble, scrambles.
LINE = {
    "paper": {"alphas": tuple(ALPHAS), "points": 2**10, "scrambles": 16},
    "laptop": {"alphas": tuple(ALPHAS[::2]), "points": 2**7, "scrambles": 16},
    "smoke": {"alphas": tuple(ALPHAS[::8]), "points": 2**5, "scrambles": 8},
}

# The standard student

FORTY = tuple(np.linspace(ALPHAS[0], ALPHAS[-1], 40).tolist())
register(
    "fig02_theory",
    "Theory of Figure 2.",
    {"task": Task()},
    paper={"alphas": FORTY, "points": 2**12, "scrambles": 16},
    laptop={"alphas": FORTY, "points": 2**9, "scrambles": 16},
    smoke={"alphas": tuple(np.linspace(ALPHAS[0], ALPHAS[-1], 6).tolist()), "points": 2**5, "scrambles": 8},
)
FURTHER_OMEGAS = [0.49, 0.51, 0.53, 0.55, 0.57, 0.59, 0.61, 0.63]  # with thresholds beyond the map, up to alpha = 12.8
THRESHOLDS_ONLY = tasks([*sorted(PUBLISHED_OMEGAS.difference(OMEGAS)), *FURTHER_OMEGAS])
register(
    "fig03_theory",
    "Theory of Figure 3: the lines of the map, and the thresholds at other omega.",
    paper=[LINE["paper"] | {"task": tasks(OMEGAS)}, LINE["paper"] | {"task": THRESHOLDS_ONLY, "alphas": ()}],
    laptop=[
        LINE["laptop"] | {"task": tasks(OMEGAS[::4])},
        LINE["laptop"] | {"task": tasks(FURTHER_OMEGAS[1::2]), "alphas": ()},
    ],
    smoke=LINE["smoke"] | {"task": tasks(OMEGAS[::8])},
)
register("fig08_theory", "Theory of Figure 8.", {"task": CHANGED_TASKS}, **LINE)
RIDGES = [Task(lam=lam) for lam in (1e-4, 3e-4, 0.001, 0.002, 0.003, 0.005, 0.01, 0.03, 0.1, 0.3, 1.0)]
FEW_ALPHAS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.25, 1.5, 2.0, 3.0, 4.5, 6.5, 9.0, 12.0)
register(
    "ridge",
    "Theory over the ridge penalty.",
    paper={"task": RIDGES, "alphas": FEW_ALPHAS, "points": 2**9, "scrambles": 16},
    laptop={"task": RIDGES[2:6:2] + RIDGES[6:], "alphas": FEW_ALPHAS, "points": 2**7, "scrambles": 16},
    smoke={"task": RIDGES[4:7:2], "alphas": FEW_ALPHAS[2:8:2], "points": 2**5, "scrambles": 8},
)
# At omega = 0.3; the penalty over (1 - omega)^2 is that of the task without positions.
register(
    "positions_given_theory",
    "Theory of students to whom omega A is given: losses over (1 - omega)^2 are those of the task without positions.",
    {"task": Task(omega=0.0, lam=Task().lam / (1 - Task().omega) ** 2)},
    **LINE,
)
# Of these students: their penalty over the usual one, and the task without positions that has their minima.
PENALTIES = (1.0, 0.25, 0.05, 0.01, 1e-3, 1e-4)
LIGHTER = {share: Task(omega=0.0, lam=share * Task().lam / (1 - Task().omega) ** 2) for share in PENALTIES}
GIVEN_ALPHAS = (0.5, 0.55, 0.6, 0.7, 0.8, 1.0, 1.5, 2.0)
register(
    "penalty_theory",
    "Theory of students to whom omega A is given, down to a ten-thousandth of the usual penalty.",
    paper={"task": [*LIGHTER.values()], "alphas": GIVEN_ALPHAS, "points": 2**10, "scrambles": 16},
    laptop={"task": [*LIGHTER.values()][::2], "alphas": GIVEN_ALPHAS[2::2], "points": 2**8, "scrambles": 16},
    smoke={"task": [*LIGHTER.values()][1:3], "alphas": GIVEN_ALPHAS[4::3], "points": 2**5, "scrambles": 8},
)
register(
    "fig09_theory",
    "Theory of Figure 9: the lines of the map.",
    paper=LINE["paper"] | {"task": ALTERNATIVE},
    laptop=LINE["laptop"] | {"task": ALTERNATIVE[::4]},
    smoke=LINE["smoke"] | {"task": ALTERNATIVE[::8]},
)
COPIED = tuple(ALPHAS[6::2])
register(
    "copies",
    "How close two copies of message passing come, over alpha and omega.",
    cell_type=cells.CopiesCell,
    paper={"task": tasks([0.02, 0.06, *OMEGAS[4::4]]), "alphas": COPIED, "points": 2**9, "scrambles": 16},
    laptop={"task": tasks(OMEGAS[4::10]), "alphas": tuple(ALPHAS[6::3]), "points": 2**8, "scrambles": 16},
    smoke={"task": tasks(OMEGAS[14:15]), "alphas": tuple(ALPHAS[12::12]), "points": 2**6, "scrambles": 16},
)

# Other architectures

FIG10 = {
    "paper": {"alphas": (*ALPHAS[::2], *FURTHER_ALPHAS), "points": 2**9, "scrambles": 16},
    "laptop": {"alphas": (*ALPHAS[::4], *FURTHER_ALPHAS), "points": 2**6, "scrambles": 8},
    "smoke": {"alphas": (1.0, 2.0, 3.0), "points": 2**4, "scrambles": 4},
}


def fig10_theory(profile, names=tuple(MAPPED)):
    """Theory of Figures 10, 11 and 12: the lines at omega = 0.3 with their thresholds."""
    table = {"task": Task(), "architecture": [MAPPED[name] for name in names], **FIG10[profile]}
    return cells_of("fig10_theory", cells.ArchitectureLineCell, table)


GRIDS["fig10_theory"] = fig10_theory
ONE_BRANCH = {"rank2": ("semantic",)}  # has no alpha_c to search for
BRANCHES = [(architecture, ONE_BRANCH.get(name, INFORMED)) for name, architecture in MAPPED.items()]
register(
    "fig14_theory",
    "Theory of Figure 14: the thresholds of its maps.",
    {"alphas": ()},
    cells.ArchitectureLineCell,
    paper={"task": tasks(OMEGAS[::2]), "architecture branches": BRANCHES, "points": 2**9, "scrambles": 16},
    laptop={"task": tasks(OMEGAS[::24]), "architecture branches": BRANCHES, "points": 2**6, "scrambles": 8},
    smoke={"task": tasks(OMEGAS[12:13]), "architecture branches": BRANCHES, "points": 2**4, "scrambles": 4},
)
register(
    "variants_theory",
    "Theory of every architecture that theory covers: the semantic branch.",
    {
        "task": Task(),
        "architecture alphas": [(COMPARED[name], (alpha,)) for name, alpha in COMPARED_ALPHA.items()],
        "branches": ("semantic",),
    },
    cells.ArchitectureLineCell,
    paper={"points": 2**11, "scrambles": 16},
    laptop={"points": 2**6, "scrambles": 8},
    smoke={"points": 2**5, "scrambles": 8},
)

COPIES_OF_VARIANTS = [  # near alpha_c; of rank 2, which has none, before its onset, soon after, and far from it
    (MAPPED["correlated"], (2.7,), INFORMED),
    (MAPPED["untied"], (2.3,), INFORMED),
    (MAPPED["rank2"], (0.75, 2.0), ("semantic",)),
    (MAPPED["rank2"], (0.5,), ("positional",)),
]
register(
    "variants_copies",
    "How close two copies of message passing come, for other architectures.",
    {"task": Task(), "architecture alphas branches": COPIES_OF_VARIANTS, "scrambles": 8},
    cells.ArchitectureCopiesCell,
    paper={"points": 2**10},
    laptop={"points": 2**8},
    smoke={"points": 2**5},
)

# Thresholds by other rules

# The published curves: both minima over alpha, and at omega = 0.3 the branch without overlaps.
TEN = tuple(np.linspace(2.0, 0.1, 10).tolist())
PUBLISHED_CURVES = [
    (Task(), (*np.linspace(2.0, 1.25, 8).tolist(), *np.linspace(1.24, 0.01, 12).tolist()), INFORMED),
    (Task(), tuple(np.linspace(2.275, 0.1, 10).tolist()), ("symmetric",)),
    (Task(omega=0.5), tuple(np.linspace(2.275, 0.1, 15).tolist()), INFORMED),
    (Task(omega=0.15), TEN, INFORMED),
    (Task(omega=0.14, matrix="alternative"), TEN, INFORMED),
]
register(
    "published_rule",
    "Thresholds and solutions along the published curves, by the published quadrature and on many points.",
    cell_type=cells.RuleCell,
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
# From omega = 0.2 Phi gains so little that its maximum is not seen with the usual number of points.
register(
    "one_step",
    "Both thresholds with one step of breaking over omega.",
    cell_type=cells.OneStepThresholdsCell,
    paper=[
        {"task": tasks([0.02, 0.04, 0.06, 0.1, 0.14]), "points": 2**12, "scrambles": 16},
        {"task": tasks([0.2, 0.3, 0.4, 0.45]), "points": 2**14, "scrambles": 16},
    ],
    laptop={"task": tasks([0.1, 0.3]), "points": 2**9, "scrambles": 8},
    smoke={"task": tasks([0.1]), "points": 2**9, "scrambles": 4},
)
SMALL = tasks([0.02, 0.04, 0.06, 0.1, 0.14, 0.2], matrix="alternative")
register(
    "one_step_alternative",
    "Both thresholds with one step of breaking at small omega, alternative A.",
    cell_type=cells.OneStepThresholdsCell,
    paper={"task": SMALL, "points": 2**12, "scrambles": 16},
    laptop={"task": SMALL[2:3], "points": 2**9, "scrambles": 8},
    smoke={"task": SMALL[1:2], "points": 2**8, "scrambles": 4},
)
# Each branch where it exists.
BROKEN = [(alpha, branch) for alpha in (0.65, 0.8, 0.95) for branch in INFORMED]
BROKEN += [(1.05, "positional"), *((alpha, "semantic") for alpha in (1.3, 1.8, 2.3, 3.0))]
BROKEN_LATER = [(alpha, branch) for alpha in (1.0, 1.5, 2.5, 4.0, 6.0, 8.0, 12.0) for branch in INFORMED]
register(
    "responses_theory",
    "Ground states with one step of breaking along alpha: their responses.",
    {"task": Task(omega=0.1)},
    cells.OneStepCell,
    paper=[
        {"alpha branch": BROKEN, "points": 2**12, "scrambles": 16},
        {"task": Task(), "alpha branch": BROKEN_LATER, "points": 2**13, "scrambles": 16},
    ],
    laptop={"alpha branch": BROKEN, "points": 2**9, "scrambles": 8},
    smoke={"alpha branch": BROKEN[-1:], "points": 2**8, "scrambles": 8},
)
