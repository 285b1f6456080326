"""The cells of each experiment, at each profile's size (paper, Sections 5 and E)."""

from dataclasses import replace

import numpy as np

from attention_phases.task import Task

from ..published import CRITICAL_ALPHA, LINEAR_ALPHA
from .cells import CopiesCell, LineCell, StudentCell

PROFILES = ("paper", "laptop", "smoke")
ALPHAS = tuple(np.linspace(0.01, 2.0, 25).tolist())  # as published
OMEGAS = tuple(round(0.02 * k, 2) for k in range(1, 26))
DIMENSIONS = (10, 15, 23, 36, 56, 87, 135, 209, 323, 500)
MAP_OMEGAS = {"paper": OMEGAS, "laptop": OMEGAS[::4], "smoke": OMEGAS[::8]}
CHANGED = {"omega": (0.2, 0.3, 0.7), "sigma": (0.3, 0.5, 0.7), "lam": (0.1, 0.01, 0.001)}  # of Figure 8
CROSSED = ((0.02, 0.64), (0.1, 0.75), (0.2, 0.95), (0.3, 1.25), (0.4, 1.77), (0.3, 2.0))  # omega, alpha
# At small alpha the theory has neither minimum here, and yet students stay near their starts.
REMEMBERED = (Task(omega=0.18, matrix="alternative"), Task(lam=0.001), Task(sigma=0.7))
# Instances that gradient descent, run as published, repeats; the smaller profiles repeat two.
DESCENDED = {"fig03": 10, "fig08": 24, "fig09": 10, "fig11": 10, "fig14_random": 10}
# Alphas of a line of theory, quadrature points a scramble, scrambles.
THEORY_SIZE = {"paper": (ALPHAS, 2**10, 16), "laptop": (ALPHAS[::2], 2**7, 16), "smoke": (ALPHAS[::8], 2**5, 8)}


def fig02(profile, **task):
    """Slice of one task: both starts over alpha, by L-BFGS and by the published gradient descent."""
    task = Task(**task)
    alphas, seeds, d, optimizers = {
        "paper": (ALPHAS, 24, 1000, ("lbfgs", "gd")),
        "laptop": (ALPHAS[::2], 8, 1000, ("lbfgs",)),
        "smoke": (ALPHAS[::8], 3, 200, ("lbfgs",)),
    }[profile]
    return [
        StudentCell("fig02", task, alpha, d, seed, optimizer)
        for optimizer in optimizers
        for seed in range(seeds)
        for alpha in alphas
    ]


def fig02_theory(profile, **task):
    """Theory of Figure 2."""
    _, points, scrambles = THEORY_SIZE[profile]
    alphas, points = {"paper": (40, 4 * points), "laptop": (40, 4 * points), "smoke": (6, points)}[profile]
    alphas = tuple(np.linspace(ALPHAS[0], ALPHAS[-1], alphas).tolist())
    return [LineCell("fig02_theory", Task(**task), alphas, points, scrambles)]


def fig03(profile):
    """Map over alpha and omega, standard A, by both optimisers."""
    return _by_both(_map("fig03", profile, "standard", _size(profile)[1]), profile)


def fig07(profile):
    """Both minima in growing dimension, at alpha = 1.5; Figure 3's left panel and Figure 7.

    At small d the published gradient descent stays in the valley where it starts, L-BFGS may leave it.
    """
    dimensions, seeds, optimizers = {
        "paper": (DIMENSIONS, 100, ("lbfgs", "gd")),
        "laptop": (DIMENSIONS, 8, ("gd",)),
        "smoke": (DIMENSIONS[:7:3], 4, ("gd",)),
    }[profile]
    return [
        StudentCell("fig07", Task(), 1.5, d, seed, optimizer)
        for optimizer in optimizers
        for seed in range(seeds)
        for d in dimensions
    ]


def fig08(profile):
    """Slices over alpha with one parameter of the task changed, by both optimisers."""
    alphas, seeds, d = _size(profile)
    cells = [
        StudentCell("fig08", task, alpha, d, seed, "lbfgs")
        for seed in range(seeds)
        for task in _changed_tasks()
        for alpha in alphas
    ]
    return _by_both(cells, profile)


def _by_both(cells, profile):
    """The cells, and the first instances of them again by gradient descent, on the same data."""
    repeated = descended(cells[0].experiment, profile)
    return cells + [replace(each, optimizer="gd") for each in cells if each.seed < repeated]


def descended(experiment, profile):
    """How many instances of an experiment gradient descent repeats."""
    return DESCENDED[experiment] if profile == "paper" else 2


def _changed_tasks():
    """The tasks of Figure 8, each once: the standard one stands in all three of its panels."""
    return list(dict.fromkeys(Task(**{name: value}) for name, some in CHANGED.items() for value in some))


def fig09(profile):
    """Map over alpha and omega, alternative A, by both optimisers."""
    return _by_both(_map("fig09", profile, "alternative", {"paper": 10}.get(profile) or _size(profile)[1]), profile)


def fig03_size(profile):
    """Around both thresholds at omega = 0.1 in growing dimension: does finite size part students and theory?"""
    dimensions, seeds, alphas = {
        "paper": ((250, 500, 1000, 2000), 24, ALPHAS[6:14]),
        "laptop": ((125, 250, 500), 16, ALPHAS[6:14:2]),
        "smoke": ((50, 100), 3, ALPHAS[4:16:4]),
    }[profile]
    return [
        StudentCell("fig03_size", Task(omega=0.1), alpha, d, seed, "lbfgs")
        for d in dimensions
        for seed in range(seeds)
        for alpha in alphas
    ]


def fig03_minima(profile):
    """Several starts around each of the two, on one data set: close to the transition, and far beyond it."""
    where, seeds, d, near = {
        "paper": (CROSSED, 8, 1000, 7),
        "laptop": (CROSSED, 3, 500, 7),
        "smoke": (CROSSED[1:3], 3, 100, 3),
    }[profile]
    starts = ("semantic", *["near_semantic"] * near, "positional", *["near_positional"] * near)
    return [
        StudentCell("fig03_minima", Task(omega=omega), alpha, d, seed, "lbfgs", starts)
        for seed in range(seeds)
        for omega, alpha in where
    ]


def memory(profile):
    """Three kinds of starts where the theory has neither minimum, in growing dimension: where do the students end?"""
    dimensions, seeds, alpha = {
        "paper": ((250, 500, 1000, 2000), 16, ALPHAS[4]),
        "laptop": ((125, 250, 500), 8, ALPHAS[4]),
        "smoke": ((50,), 3, ALPHAS[8]),
    }[profile]
    return [
        StudentCell("memory", task, alpha, d, seed, "lbfgs", ("semantic", "positional", "random", "random", "random"))
        for d in dimensions
        for seed in range(seeds)
        for task in REMEMBERED
    ]


def fig03_theory(profile):
    """Theory of Figure 3: the lines of the map, and the thresholds at the other published omega."""
    return _lines("fig03_theory", profile, "standard", {*CRITICAL_ALPHA, *LINEAR_ALPHA} if profile == "paper" else ())


def fig08_theory(profile):
    """Theory of Figure 8."""
    alphas, points, scrambles = THEORY_SIZE[profile]
    return [LineCell("fig08_theory", task, alphas, points, scrambles) for task in _changed_tasks()]


def fig09_theory(profile):
    """Theory of Figure 9: the lines of the map."""
    return _lines("fig09_theory", profile, "alternative", ())


def copies(profile):
    """How close two copies of message passing come, over alpha and omega."""
    alphas, omegas, points = {
        "paper": (ALPHAS[6::2], (0.02, 0.06, *OMEGAS[4::4]), 2**9),
        "laptop": (ALPHAS[6::3], OMEGAS[4::10], 2**8),
        "smoke": (ALPHAS[12::12], OMEGAS[14:15], 2**6),
    }[profile]
    return [CopiesCell("copies", Task(omega=omega), alphas, points, 16) for omega in omegas]


def _lines(experiment, profile, matrix, more):
    alphas, points, scrambles = THEORY_SIZE[profile]
    omegas = MAP_OMEGAS[profile]
    lines = [LineCell(experiment, Task(omega=omega, matrix=matrix), alphas, points, scrambles) for omega in omegas]
    others = sorted(set(more) - set(omegas))
    return lines + [LineCell(experiment, Task(omega=omega, matrix=matrix), (), points, scrambles) for omega in others]


def _map(experiment, profile, matrix, seeds):
    """Cells of a map, one instance of all of it after the other, so that a part of the work is a whole map."""
    alphas, _, d = _size(profile)
    return [
        StudentCell(experiment, Task(omega=omega, matrix=matrix), alpha, d, seed, "lbfgs")
        for seed in range(seeds)
        for omega in MAP_OMEGAS[profile]
        for alpha in alphas
    ]


def _size(profile):
    """Alphas, instances and dimension of a slice or map."""
    return {"paper": (ALPHAS, 24, 1000), "laptop": (ALPHAS[::2], 6, 300), "smoke": (ALPHAS[::8], 3, 100)}[profile]


ALL = (
    *(
        fig02,
        fig02_theory,
        fig03,
        fig03_minima,
        fig03_size,
        fig03_theory,
        fig07,
        fig08,
        fig08_theory,
        fig09,
        fig09_theory,
    ),
    *(copies, memory),
)
