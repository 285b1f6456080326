"""Experiments on structured tokens and teachers (the general form of Result 4.2), and on two limits of the theory.

Experiments:
    spectra: Both minima for power-law spectra: around the crossing of their losses, and at one alpha in growing
        dimension.
    spectra_theory: Theory of power-law spectra over alpha.
    two_teachers: Students of rank 1 and 2 of a teacher of rank 2: a slice, and one alpha in growing dimension.
    two_teachers_theory: Theory of both students of a teacher of rank 2, and the threshold where rank 2 replaces the
        positions by the second column.
    sparse: A sparse teacher, and students with an l1 penalty: a slice, and one alpha in growing dimension.
    sparse_theory: Theory of students of a sparse teacher, with an l1 penalty, over alpha.
    clusters: Tokens from two clusters per position: a slice, and one alpha in growing dimension.
    clusters_theory: Theory of clustered tokens over alpha.
    limits: A target of positions alone (Appendix D.1), and a low-rank value matrix (C.10).
"""

from decimal import Decimal
from itertools import product

import numpy as np

from attention_phases.model.architectures import STANDARD
from attention_phases.task import Task

from ..grids import data_sets, register
from ..lines import ArchitectureLineCell, lines
from ..paper.fig10 import RANK2
from ..paper.fig13 import VALUE
from ..students import INFORMED, variants

SHARES, MORE_SHARES, MOST_SHARES = 25, 100, 400  # numbers of equal groups of directions in a power-law spectrum
GROWN_ALPHA = 2.0  # alpha at which theory and students are compared in growing dimension
TEACHER_START = ("semantic",)


def powers(bases, exponent):
    """Raise numbers to a power, with results that are bitwise identical on every processor.

    NumPy's powers may differ in the last bit. The last bit matters because it enters the name of a cell and the seed of
    its draws.
    """
    return np.array([float(Decimal(base) ** Decimal(exponent)) for base in bases])


def power_law(exponent, source=0.0, shares=SHARES):
    """Return a task whose tokens have a power-law spectrum.

    The variance of the tokens is proportional to k^-exponent in the k-th of `shares` equal groups of directions, and
    its mean is sigma^2. The mean squares of the teacher's entries are proportional to the variances to the power
    `source`. If `source` is positive, the teacher lies along the leading directions, and if it is negative, along the
    trailing directions. The fields of the teacher have the variance sigma^2.
    """
    variance = Task.sigma**2
    s = powers(range(1, shares + 1), -exponent)
    s *= variance / s.mean()
    teacher = powers(s.tolist(), source)
    teacher *= variance / (s * teacher).mean()
    return Task(spectrum=[(eigenvalue, 1 / shares, size) for eigenvalue, size in zip(s.tolist(), teacher.tolist())])


# Each law (exponent, source and, if it is not `SHARES`, number of groups) has two sets of alphas. The first set is
# around the crossing of the training losses. The second set is around the alpha where the semantic test error crosses
# the test error of the linear model.
SPECTRA = {
    (0.0, 0.0): ((1.1, 1.4), (1.4, 1.6)),
    (0.5, 0.0): ((0.8, 1.1), (1.1, 1.4)),
    (1.0, 0.0): ((0.4, 0.6), (0.8, 1.0)),
    (1.5, 0.0): ((0.2, 0.4), ()),
    (1.0, 1.0): ((0.2, 0.4), (0.3, 0.45)),
    (1.0, -1.0): ((1.7, 2.2), (2.2, 2.6)),
}
FURTHER_SPECTRA = {
    (0.75, 0.0): ((0.5, 0.7), (1.1, 1.3)),
    (0.5, 0.0, MORE_SHARES): ((0.75, 0.95), (1.2, 1.4)),
    (0.75, 0.0, MORE_SHARES): ((), (0.95, 1.15)),
    (1.0, 0.0, MORE_SHARES): ((), (0.65, 0.8)),
}


def _law_axes(laws):
    """Return two tables of tasks and alphas for power-law spectra, one of them for the semantic start alone."""
    losses, errors = (
        [(power_law(*law), alpha) for law, alphas in laws.items() for alpha in alphas[kind]] for kind in (0, 1)
    )
    return {"task alpha": losses}, {"task alpha": errors, "starts": TEACHER_START}


CROSSING_AXES, PREDICTION_AXES = _law_axes(SPECTRA)
STEEP_LAW = {"task": power_law(1.5), "alpha": [0.425, 0.525], "starts": TEACHER_START}  # the fewest leading directions
GROWN_SPECTRA = {"task": [power_law(*law) for law in SPECTRA], "alpha": GROWN_ALPHA, "starts": TEACHER_START}
variants("spectra")(
    paper=[
        {"seed": range(12), **CROSSING_AXES, "d": 1000},
        {"seed": range(6), **PREDICTION_AXES, "d": 1000},
        {"d": [500, 1000, 2000], "seed": range(48), **STEEP_LAW},
        {"d": [250, 500, 1000], "seed": range(24), **GROWN_SPECTRA},
        *({"seed": range(seeds), **axes, "d": 1000} for seeds, axes in zip((8, 12), _law_axes(FURTHER_SPECTRA))),
    ],
    laptop=[
        {"seed": range(4), **CROSSING_AXES, "d": 250},
        {"seed": range(4), **PREDICTION_AXES, "d": 250},
        {"d": [125, 250], "seed": range(8), **STEEP_LAW},
        {"d": [125, 250], "seed": range(4), **GROWN_SPECTRA},
    ],
    smoke=[
        {"seed": range(2), **CROSSING_AXES, "d": 50},
        {"seed": range(2), **PREDICTION_AXES, "d": 50},
        {"d": [25, 50], "seed": range(4), **STEEP_LAW},
        {"d": [25, 50], "seed": range(4), **GROWN_SPECTRA},
    ],
)
EXPONENTS = (0.0, 0.5, 0.75, 1.0, 1.5)
LAWS = [*((exponent, 0.0, SHARES) for exponent in EXPONENTS), (1.0, -1.0, SHARES), (1.0, 1.0, SHARES)]
LAWS += [(exponent, 0.0, shares) for shares in (MORE_SHARES, MOST_SHARES) for exponent in EXPONENTS[1:-1]]
SLICE_ALPHAS = (0.2, 0.3, 0.4, 0.5, 0.8, 1.25, 2.0, 2.5)
lines("spectra_theory", {"task": [power_law(*law) for law in LAWS]})(
    paper={"alphas": SLICE_ALPHAS, "points": 2**7, "scrambles": 16},
    laptop={"task": [power_law(*law) for law in SPECTRA], "alphas": SLICE_ALPHAS[1::2], "points": 2**5, "scrambles": 4},
    smoke={"task": power_law(0.0), "alphas": (1.5, 2.0), "points": 2**5, "scrambles": 4},
)
TWO_TEACHERS = Task(teachers=(1.0, 0.5))
READERS = {"architecture starts": [(STANDARD, ("semantic", "second", "positional")), (RANK2, (*INFORMED, "mixed"))]}
LEARNERS = {"alpha": 3.0, "architecture starts": [(STANDARD, TEACHER_START), (RANK2, ("mixed",))]}
variants("two_teachers", {"task": TWO_TEACHERS})(
    paper=[
        {"seed": range(4), "alpha": [0.75, 1.25, 1.75, 2.25, 3.0, 4.0, 5.0], **READERS, "d": 1000},
        {"d": [250, 500, 1000], "seed": range(32), **LEARNERS},
    ],
    laptop=[
        {"seed": range(4), "alpha": [0.75, 2.25, 4.0], **READERS, "d": 150},
        {"d": [75, 150], "seed": range(4), **LEARNERS},
    ],
    smoke=[{"seed": range(2), "alpha": [0.75, 3.0], **READERS, "d": 40}, {"d": [20, 40], "seed": range(4), **LEARNERS}],
)
ONE_COLUMN = {"architecture": STANDARD, "branches": INFORMED, "alphas": (3.0,)}
TWO_COLUMNS = {"architecture": RANK2, "branches": ("semantic", "both"), "alphas": (3.0, 4.0, 5.0)}
register(ArchitectureLineCell, "two_teachers_theory", {"task": TWO_TEACHERS, "scrambles": 16})(
    paper=[{**ONE_COLUMN, "points": 2**10}, {**TWO_COLUMNS, "points": 2**9}],
    laptop=[{**columns, "points": 2**5, "scrambles": 4} for columns in (ONE_COLUMN, TWO_COLUMNS)],
    smoke=[{**columns, "points": 2**5, "scrambles": 4} for columns in (ONE_COLUMN, TWO_COLUMNS)],
)
SPARSE = [Task(density=0.2, l1=l1) for l1 in (0.0, 0.0025, 0.005, 0.01)]
ENCODED = ("semantic", "encoding")
SPARSE_POINTS = {"task": SPARSE, "alpha": GROWN_ALPHA, "starts": TEACHER_START}
variants("sparse")(
    paper=[
        {"seed": range(6), "task": SPARSE, "alpha": [0.75, 1.0, 1.5], "starts": ENCODED, "d": 1000},
        {"seed": range(12), "task": SPARSE, "alpha": [1.15, 1.35], "starts": ENCODED, "d": 1000},
        {"seed": range(12, 60), "task": SPARSE[-1], "alpha": [1.15, 1.25], "starts": ENCODED, "d": 1000},
        {"d": [250, 500, 1000], "seed": range(10), **SPARSE_POINTS},
    ],
    laptop=[
        {"seed": range(4), "task": SPARSE, "alpha": [0.75, 1.5], "starts": ENCODED, "d": 200},
        {"d": [100, 200], "seed": range(4), **SPARSE_POINTS},
    ],
    smoke=[
        {"seed": range(2), "task": SPARSE, "alpha": [1.5], "starts": ENCODED, "d": 50},
        {"d": [25, 50], "seed": range(4), **SPARSE_POINTS},
    ],
)
lines("sparse_theory", {"task": SPARSE})(
    paper={"alphas": (1.0, 1.5, 2.0), "points": 2**7, "scrambles": 16},
    laptop={"alphas": (1.5, 2.0), "points": 2**5, "scrambles": 4},
    smoke={"task": SPARSE[2], "alphas": (1.5, 2.0), "points": 2**5, "scrambles": 4},
)
SIDES, SHIFT = (1.0, -1.0), 0.5  # signs and size of the displacements of two clusters from their centre
CLUSTERS = {
    "along the encoding": Task(clusters=[(0.25, (SHIFT * a, SHIFT * b)) for a, b in product(SIDES, SIDES)]),
    "along the encoding, one for both tokens": Task(clusters=[(0.5, (SHIFT * a, SHIFT * a)) for a in SIDES]),
    "along the teacher": Task(clusters=[(0.25, (0, 0), (SHIFT * a, SHIFT * b)) for a, b in product(SIDES, SIDES)]),
}
CLUSTER_AXIS = {"task": [*CLUSTERS.values()]}
*PLACED_CLUSTERS, LEANING_CLUSTERS = CLUSTERS.values()
variants("clusters")(
    paper=[
        {"seed": range(6), **CLUSTER_AXIS, "alpha": [0.5, 0.75, 1.0, 1.25], "d": 1000},
        {"seed": range(24), "task": LEANING_CLUSTERS, "alpha": [0.3, 0.4], "d": 1000},
        {"seed": range(12), "task": PLACED_CLUSTERS, "alpha": [1.4, 1.6], "starts": TEACHER_START, "d": 1000},
        {"d": [250, 500, 1000], "seed": range(8), **CLUSTER_AXIS, "alpha": GROWN_ALPHA},
    ],
    laptop=[
        {"seed": range(4), **CLUSTER_AXIS, "alpha": [0.75, 1.5], "d": 150},
        {"d": [75, 150], "seed": range(4), **CLUSTER_AXIS, "alpha": GROWN_ALPHA},
    ],
    smoke=[
        {"seed": range(2), **CLUSTER_AXIS, "alpha": [1.5], "d": 40},
        {"d": [20, 40], "seed": range(4), **CLUSTER_AXIS, "alpha": GROWN_ALPHA},
    ],
)
register(ArchitectureLineCell, "clusters_theory", {"architecture": STANDARD} | CLUSTER_AXIS)(
    paper=[
        {"task": PLACED_CLUSTERS, "alphas": (1.0, 1.25, 2.0), "points": 2**9, "scrambles": 16},
        {"task": LEANING_CLUSTERS, "alphas": (0.3, 0.5, 1.0, 2.0), "points": 2**9, "scrambles": 16},
    ],
    laptop={"alphas": (1.0, 2.0), "points": 2**5, "scrambles": 4},
    smoke={"task": CLUSTERS["along the encoding"], "alphas": (2.0,), "points": 2**5, "scrambles": 4},
)
ONLY_POSITIONS = {"task": Task(omega=1.0), "starts": INFORMED[1:]}
LOW_RANK_VALUE = {"task": Task(), "alpha": GROWN_ALPHA, "architecture": [VALUE, STANDARD]}
variants("limits")(
    paper=[
        {"d": [250, 500, 1000], "seed": range(6), "alpha": [1.0, 4.0], **ONLY_POSITIONS},
        {"d seed": data_sets({250: 12, 500: 12, 1000: 8}), **LOW_RANK_VALUE},
    ],
    laptop=[
        {"d": [75, 150], "seed": range(4), "alpha": [1.0, 4.0], **ONLY_POSITIONS},
        {"d": [75, 150], "seed": range(4), **LOW_RANK_VALUE},
    ],
    smoke=[
        {"d": [20, 40], "seed": range(4), "alpha": [2.0], **ONLY_POSITIONS},
        {"d": [20, 40], "seed": range(4), **LOW_RANK_VALUE},
    ],
)
