"""Sizes of the theory that is stored: lines of the standard student and of others, and one step of breaking."""

import numpy as np

from attention_phases.task import Task

from ..published import CRITICAL_ALPHA, LINEAR_ALPHA
from .cells import (
    INFORMED,
    ArchitectureLineCell,
    CopiesCell,
    LineCell,
    OneStepCell,
    OneStepThresholdsCell,
    RuleCell,
)
from .grids import ALPHAS, CHANGED_TASKS, MAP_OMEGAS, OMEGAS, at, cells, sizes, tasks
from .variant_grids import COMPARED, COMPARED_ALPHA, FURTHER_ALPHAS, MAPPED

FURTHER_OMEGAS = (0.49, 0.51, 0.53, 0.55, 0.57, 0.59, 0.61, 0.63)  # with thresholds beyond the map, up to alpha = 12.8
PUBLISHED_OMEGAS = {*CRITICAL_ALPHA, *LINEAR_ALPHA}
RIDGES = (1e-4, 3e-4, 0.001, 0.002, 0.003, 0.005, 0.01, 0.03, 0.1, 0.3, 1.0)
FEW_ALPHAS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.25, 1.5, 2.0, 3.0, 4.5, 6.5, 9.0, 12.0)
# Of a line of theory: alphas, quadrature points a scramble, scrambles.
LINE = {"paper": (ALPHAS, 2**10, 16), "laptop": (ALPHAS[::2], 2**7, 16), "smoke": (ALPHAS[::8], 2**5, 8)}
MAP = {profile: (MAP_OMEGAS[profile], *size) for profile, size in LINE.items()}


def _lines(experiment, some, alphas, points, scrambles, cell_type=LineCell):
    axes = {"task": some}
    return cells(experiment, cell_type, axes, alphas=alphas, points=points, scrambles=scrambles)


@sizes(paper=(40, 2**12, 16), laptop=(40, 2**9, 16), smoke=(6, 2**5, 8))
def fig02_theory(count, points, scrambles, **task):
    """Theory of Figure 2."""
    alphas = tuple(np.linspace(ALPHAS[0], ALPHAS[-1], count).tolist())
    return _lines("fig02_theory", [Task(**task)], alphas, points, scrambles)


@sizes(
    paper=(*MAP["paper"], (*sorted(PUBLISHED_OMEGAS.difference(OMEGAS)), *FURTHER_OMEGAS)),
    laptop=(*MAP["laptop"], FURTHER_OMEGAS[1::2]),
    smoke=(*MAP["smoke"], ()),
)
def fig03_theory(omegas, alphas, points, scrambles, thresholds_alone):
    """Theory of Figure 3: the lines of the map, and the thresholds at other omega."""
    lines = _lines("fig03_theory", tasks(omegas), alphas, points, scrambles)
    return lines + _lines("fig03_theory", tasks(thresholds_alone), (), points, scrambles)


@sizes(**LINE)
def fig08_theory(alphas, points, scrambles):
    """Theory of Figure 8."""
    return _lines("fig08_theory", CHANGED_TASKS, alphas, points, scrambles)


@sizes(
    paper=(RIDGES, FEW_ALPHAS, 2**9, 16),
    laptop=(RIDGES[2::2], FEW_ALPHAS, 2**7, 16),
    smoke=(RIDGES[4:7:2], FEW_ALPHAS[2:8:2], 2**5, 8),
)
def ridge(lams, alphas, points, scrambles):
    """Theory over the ridge penalty."""
    return _lines("ridge", [Task(lam=lam) for lam in lams], alphas, points, scrambles)


@sizes(**LINE)
def positions_given_theory(alphas, points, scrambles, omega=0.3):
    """Theory of students to whom omega A is given: losses over (1 - omega)^2 are those of the task without positions.

    The penalty over (1 - omega)^2 is its penalty.
    """
    semantic = Task(omega=0.0, lam=Task().lam / (1 - omega) ** 2)
    return _lines("positions_given_theory", [semantic], alphas, points, scrambles)


@sizes(**MAP)
def fig09_theory(omegas, alphas, points, scrambles):
    """Theory of Figure 9: the lines of the map."""
    return _lines("fig09_theory", tasks(omegas, matrix="alternative"), alphas, points, scrambles)


@sizes(
    paper=((0.02, 0.06, *OMEGAS[4::4]), ALPHAS[6::2], 2**9, 16),
    laptop=(OMEGAS[4::10], ALPHAS[6::3], 2**8, 16),
    smoke=(OMEGAS[14:15], ALPHAS[12::12], 2**6, 16),
)
def copies(omegas, alphas, points, scrambles):
    """How close two copies of message passing come, over alpha and omega."""
    return _lines("copies", tasks(omegas), alphas, points, scrambles, CopiesCell)


@sizes(
    paper=(ALPHAS[::2] + FURTHER_ALPHAS, 2**9, 16),
    laptop=(ALPHAS[::4] + FURTHER_ALPHAS, 2**6, 8),
    smoke=((1.0, 2.0, 3.0), 2**4, 4),
)
def fig10_theory(alphas, points, scrambles, names=tuple(MAPPED)):
    """Theory of Figures 10, 11 and 12: the lines at omega = 0.3 with their thresholds."""
    axes = {"architecture": [MAPPED[name] for name in names]}
    size = {"alphas": alphas, "points": points, "scrambles": scrambles}
    return cells("fig10_theory", ArchitectureLineCell, axes, task=Task(), **size)


@sizes(paper=(OMEGAS[::2], 2**9, 16), laptop=(OMEGAS[::24], 2**6, 8), smoke=(OMEGAS[12:13], 2**4, 4))
def fig14_theory(omegas, points, scrambles):
    """Theory of Figure 14: the thresholds of its maps."""
    alone = {"rank2": ("semantic",)}  # has no alpha_c to search for
    variants = [(architecture, alone.get(name, INFORMED)) for name, architecture in MAPPED.items()]
    axes = {"task": tasks(omegas), ("architecture", "branches"): variants}
    return cells("fig14_theory", ArchitectureLineCell, axes, alphas=(), points=points, scrambles=scrambles)


@sizes(paper=(2**11, 16), laptop=(2**6, 8), smoke=(2**5, 8))
def variants_theory(points, scrambles):
    """Theory of every architecture that theory covers: the semantic branch."""
    compared = [(architecture, (COMPARED_ALPHA[name],)) for name, architecture in COMPARED.items()]
    size = {"points": points, "scrambles": scrambles, "branches": ("semantic",)}
    return cells("variants_theory", ArchitectureLineCell, {("architecture", "alphas"): compared}, task=Task(), **size)


@sizes(
    paper=(sorted(PUBLISHED_OMEGAS), 2**11, 16),
    laptop=((0.1, 0.3), 2**10, 8),
    smoke=((0.3,), 2**8, 4),
)
def published_rule(omegas, points, scrambles):
    """Both thresholds on the 144 points, at the published omega."""
    return cells("published_rule", RuleCell, {"task": tasks(omegas)}, points=points, scrambles=scrambles)


# From omega = 0.2 Phi gains so little that its maximum is not seen with the usual number of points.
@sizes(
    paper=({2**12: (0.02, 0.04, 0.06, 0.1, 0.14), 2**14: (0.2, 0.3, 0.4, 0.45)}, 16),
    laptop=({2**9: (0.1, 0.3)}, 8),
    smoke=({2**9: (0.1,)}, 4),
)
def one_step(omegas_by_points, scrambles):
    """Both thresholds with one step of breaking over omega."""
    axes = {("points", "task"): [(points, task) for points, some in omegas_by_points.items() for task in tasks(some)]}
    return cells("one_step", OneStepThresholdsCell, axes, scrambles=scrambles)


@sizes(
    paper=((0.02, 0.04, 0.06, 0.1, 0.14, 0.2), 2**12, 16),
    laptop=((0.06,), 2**9, 8),
    smoke=((0.06,), 2**9, 4),
)
def one_step_alternative(omegas, points, scrambles):
    """Both thresholds with one step of breaking at small omega, alternative A."""
    axes = {"task": tasks(omegas, matrix="alternative")}
    return cells("one_step_alternative", OneStepThresholdsCell, axes, points=points, scrambles=scrambles)


# Points (omega, alpha), and y, conjugate to the risk: around the inverse of the training loss, that is some hundreds.
@sizes(
    paper=(((0.1, 0.75), (0.02, 0.64)), (100.0, 200.0, 400.0, 800.0, 1600.0), 2**12, 16),
    laptop=(((0.1, 0.75),), (100.0, 300.0, 900.0), 2**8, 8),
    smoke=(((0.1, 0.75),), (300.0,), 2**8, 4),
)
def one_step_valleys(shown, ys, points, scrambles):
    """Phi, e and Sigma along y, and the ground state, of both branches at two points close to the transition."""
    axes = {("task", "alpha"): at(*shown), "branch": INFORMED}
    return cells("one_step_valleys", OneStepCell, axes, ys=ys, points=points, scrambles=scrambles)
