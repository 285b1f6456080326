"""Sizes of the experiments on tokens and teachers with structure (Result 4.2 in general, Appendices C.2, C.6, C.10)."""

from itertools import product

import numpy as np

from attention_phases.model.architectures import STANDARD
from attention_phases.task import Task

from .cells import INFORMED, ArchitectureLineCell, LineCell, StructuredCell
from .grids import experiment
from .student_grids import RANK2, VALUE, students

BLOCKS = 25  # of equal size in a power law: every d here is a multiple
COMPARED = 2.0  # alpha at which theory and students are compared in growing dimension
SEMANTIC = ("semantic",)


def structured(name, about, fixed=None, **sizes):
    """Enter an experiment on students of tasks with structure."""
    students(name, about, {"architecture": STANDARD} | (fixed or {}), StructuredCell, **sizes)


def power_law(exponent, source=0.0):
    """A task whose tokens have variances k^-exponent along the k-th of `BLOCKS` shares of the directions.

    Their mean is sigma^2. The teacher's entries have mean squares in proportion to the variances to the power `source`:
    above 0 it lies along the leading directions, below along the trailing ones. Its fields have the variance sigma^2.
    """
    variance = Task.sigma**2
    s = np.arange(1.0, BLOCKS + 1) ** -exponent
    s *= variance / s.mean()
    teacher = s**source
    teacher *= variance / (s * teacher).mean()
    return Task(spectrum=[(eigenvalue, 1 / BLOCKS, size) for eigenvalue, size in zip(s.tolist(), teacher.tolist())])


# By exponent and source: alphas around where both minima have equal training losses, and around where the semantic one
# predicts as well as the linear model.
SPECTRA = {
    (0.0, 0.0): ((1.1, 1.4), (1.4, 1.6)),
    (0.5, 0.0): ((0.8, 1.1), (1.1, 1.4)),
    (1.0, 0.0): ((0.4, 0.6), (0.8, 1.0)),
    (1.5, 0.0): ((0.2, 0.4), ()),
    (1.0, 1.0): ((0.2, 0.4), (0.3, 0.45)),
    (1.0, -1.0): ((1.7, 2.2), (2.2, 2.6)),
}
AROUND = [(power_law(*law), alpha) for law, (alphas, _) in SPECTRA.items() for alpha in alphas]
PREDICTING = {
    "task alpha": [(power_law(*law), alpha) for law, (_, alphas) in SPECTRA.items() for alpha in alphas],
    "starts": SEMANTIC,
}
STEEPEST = {"task": power_law(1.5), "alpha": [0.425, 0.525], "starts": SEMANTIC}  # fewest directions at a given d
GROWING = {"task": [power_law(*law) for law in SPECTRA], "alpha": COMPARED, "starts": SEMANTIC}
structured(
    "spectra",
    "Both minima for power-law spectra: around the crossing of their losses, and at one alpha in growing dimension.",
    paper=[
        {"seed": range(12), "task alpha": AROUND, "d": 1000},
        {"seed": range(6), **PREDICTING, "d": 1000},
        {"d": [500, 1000, 2000], "seed": range(48), **STEEPEST},
        {"d": [250, 500, 1000], "seed": range(8), **GROWING},
    ],
    laptop=[
        {"seed": range(4), "task alpha": AROUND, "d": 250},
        {"seed": range(4), **PREDICTING, "d": 250},
        {"d": [125, 250], "seed": range(8), **STEEPEST},
        {"d": [125, 250], "seed": range(4), **GROWING},
    ],
    smoke=[
        {"seed": range(2), "task alpha": AROUND, "d": 50},
        {"seed": range(2), **PREDICTING, "d": 50},
        {"d": [25, 50], "seed": range(4), **STEEPEST},
        {"d": [25, 50], "seed": range(4), **GROWING},
    ],
)

LAWS = [*((exponent, 0.0) for exponent in (0.0, 0.5, 0.75, 1.0, 1.5)), (1.0, -1.0), (1.0, 1.0)]
ALONG = (0.2, 0.3, 0.4, 0.5, 0.8, 1.25, 2.0, 2.5)
experiment(
    "spectra_theory",
    "Theory of power-law spectra over alpha.",
    LineCell,
    {"task": [power_law(*law) for law in LAWS]},
    paper={"alphas": ALONG, "points": 2**7, "scrambles": 16},
    laptop={"task": [power_law(*law) for law in SPECTRA], "alphas": ALONG[1::2], "points": 2**5, "scrambles": 4},
    smoke={"task": power_law(0.0), "alphas": (1.5, 2.0), "points": 2**5, "scrambles": 4},
)

TWO_TEACHERS = Task(teachers=(1.0, 0.5))
READERS = {"architecture starts": [(STANDARD, ("semantic", "second", "positional")), (RANK2, (*INFORMED, "mixed"))]}
LEARNT = {"alpha": 3.0, "architecture starts": [(STANDARD, SEMANTIC), (RANK2, ("mixed",))]}
structured(
    "two_teachers",
    "A teacher of rank 2, read by students of rank 1 and 2: a slice, and one alpha in growing dimension.",
    {"task": TWO_TEACHERS},
    paper=[
        {"seed": range(4), "alpha": [0.75, 1.25, 1.75, 2.25, 3.0, 4.0, 5.0], **READERS, "d": 1000},
        {"d": [250, 500, 1000], "seed": range(32), **LEARNT},
    ],
    laptop=[
        {"seed": range(4), "alpha": [0.75, 2.25, 4.0], **READERS, "d": 150},
        {"d": [75, 150], "seed": range(4), **LEARNT},
    ],
    smoke=[{"seed": range(2), "alpha": [0.75, 3.0], **READERS, "d": 40}, {"d": [20, 40], "seed": range(4), **LEARNT}],
)

experiment(
    "two_teachers_theory",
    "Theory of both students of a teacher of rank 2, where they are compared.",
    ArchitectureLineCell,
    {"task": TWO_TEACHERS, "architecture": [STANDARD, RANK2], "branches": INFORMED},
    paper={"alphas": (3.0,), "points": 2**10, "scrambles": 16},
    laptop={"alphas": (3.0,), "points": 2**5, "scrambles": 4},
    smoke={"alphas": (3.0,), "points": 2**5, "scrambles": 4},
)

SPARSE = [Task(density=0.2, l1=l1) for l1 in (0.0, 0.0025, 0.005, 0.01)]
ENCODED = ("semantic", "encoding")
PENALISED = {"task": SPARSE, "alpha": COMPARED, "starts": SEMANTIC}
structured(
    "sparse",
    "A sparse teacher, and students with an l1 penalty: a slice, and one alpha in growing dimension.",
    paper=[
        {"seed": range(6), "task": SPARSE, "alpha": [0.75, 1.0, 1.5], "starts": ENCODED, "d": 1000},
        {"seed": range(12), "task": SPARSE, "alpha": [1.15, 1.35], "starts": ENCODED, "d": 1000},
        {"seed": range(12, 60), "task": SPARSE[-1], "alpha": [1.15, 1.25], "starts": ENCODED, "d": 1000},
        {"d": [250, 500, 1000], "seed": range(10), **PENALISED},
    ],
    laptop=[
        {"seed": range(4), "task": SPARSE, "alpha": [0.75, 1.5], "starts": ENCODED, "d": 200},
        {"d": [100, 200], "seed": range(4), **PENALISED},
    ],
    smoke=[
        {"seed": range(2), "task": SPARSE, "alpha": [1.5], "starts": ENCODED, "d": 50},
        {"d": [25, 50], "seed": range(4), **PENALISED},
    ],
)

experiment(
    "sparse_theory",
    "Theory of students of a sparse teacher, with an l1 penalty, over alpha.",
    LineCell,
    {"task": SPARSE},
    paper={"alphas": (1.0, 1.5, 2.0), "points": 2**7, "scrambles": 16},
    laptop={"alphas": (1.5, 2.0), "points": 2**5, "scrambles": 4},
    smoke={"task": SPARSE[2], "alphas": (1.5, 2.0), "points": 2**5, "scrambles": 4},
)

SIDES, APART = (1.0, -1.0), 0.5  # two clusters, displaced to both sides of their middle
CLUSTERS = {
    "along the encoding": Task(clusters=[(0.25, (APART * a, APART * b)) for a, b in product(SIDES, SIDES)]),
    "along the encoding, one for both tokens": Task(clusters=[(0.5, (APART * a, APART * a)) for a in SIDES]),
    "along the teacher": Task(clusters=[(0.25, (0, 0), (APART * a, APART * b)) for a, b in product(SIDES, SIDES)]),
}
CLUSTERED = {"task": [*CLUSTERS.values()]}
structured(
    "clusters",
    "Tokens from two clusters a position: a slice, and one alpha in growing dimension.",
    paper=[
        {"seed": range(6), **CLUSTERED, "alpha": [0.5, 0.75, 1.0, 1.25], "d": 1000},
        {"seed": range(12), "task": CLUSTERED["task"][:2], "alpha": [1.4, 1.6], "starts": SEMANTIC, "d": 1000},
        {"d": [250, 500, 1000], "seed": range(8), **CLUSTERED, "alpha": COMPARED},
    ],
    laptop=[
        {"seed": range(4), **CLUSTERED, "alpha": [0.75, 1.5], "d": 150},
        {"d": [75, 150], "seed": range(4), **CLUSTERED, "alpha": COMPARED},
    ],
    smoke=[
        {"seed": range(2), **CLUSTERED, "alpha": [1.5], "d": 40},
        {"d": [20, 40], "seed": range(4), **CLUSTERED, "alpha": COMPARED},
    ],
)

experiment(
    "clusters_theory",
    "Theory of clustered tokens over alpha.",
    ArchitectureLineCell,
    {"architecture": STANDARD} | CLUSTERED,
    paper={"alphas": (0.5, 1.0, 2.0), "points": 2**6, "scrambles": 8},
    laptop={"alphas": (1.0, 2.0), "points": 2**5, "scrambles": 4},
    smoke={"task": CLUSTERS["along the encoding"], "alphas": (2.0,), "points": 2**5, "scrambles": 4},
)

ONLY_POSITIONS = {"task": Task(omega=1.0), "starts": INFORMED[1:]}
LOW_RANK_VALUE = {"task": Task(), "alpha": COMPARED, "architecture": [VALUE, STANDARD]}
structured(
    "limits",
    "A target of positions alone (Appendix D.1), and a low-rank value matrix (C.10).",
    paper=[
        {"d": [250, 500, 1000], "seed": range(6), "alpha": [1.0, 4.0], **ONLY_POSITIONS},
        {"d": [250, 500], "seed": range(12), **LOW_RANK_VALUE},
        {"d": 1000, "seed": range(8), **LOW_RANK_VALUE},
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
