"""The cells of each experiment, at each profile's size (paper, Sections 5 and E)."""

from dataclasses import dataclass

import numpy as np

from .errors import check_choice
from .task import Task

PROFILES = ("paper", "laptop", "smoke")
ALPHAS = tuple(np.linspace(0.01, 2.0, 25).tolist())  # as published


@dataclass(frozen=True)
class Cell:
    """What fixes the outcome of a run; see `Task` for omega, sigma, lam and matrix.

    The starts share one data set, so that their difference is not blurred by the draw of the data and
    gradient steps of several students cost one pass over it. The optimiser does not enter the seed either:
    two optimisers meet on the same data.
    """

    experiment: str
    alpha: float
    omega: float
    sigma: float
    lam: float
    matrix: tuple
    d: int
    seed: int
    optimizer: str
    starts: tuple

    def task(self):
        return Task(omega=self.omega, sigma=self.sigma, lam=self.lam, matrix=self.matrix)


def fig02(profile, omega=0.3):
    """Slice at one omega: both starts over alpha, by L-BFGS and by the published gradient descent."""
    alphas, seeds, d, optimizers = {
        "paper": (ALPHAS, 24, 1000, ("lbfgs", "gd")),
        "laptop": (ALPHAS[::2], 8, 1000, ("lbfgs",)),
        "smoke": (ALPHAS[::8], 3, 200, ("lbfgs",)),
    }[profile]
    return [
        cell("fig02", Task(omega=omega), alpha, d, seed, optimizer)
        for optimizer in optimizers
        for seed in range(seeds)
        for alpha in alphas
    ]


def cell(experiment, task, alpha, d, seed, optimizer, starts=("semantic", "positional")):
    """The cell of one task at one alpha."""
    return Cell(experiment, alpha=alpha, d=d, seed=seed, optimizer=optimizer, starts=starts, **vars(task))


GRIDS = {"fig02": fig02}


def grid(name, profile, **changes):
    """Cells of the experiment `name` at the size of `profile`, other than published where `changes` says so."""
    return GRIDS[check_choice("name", name, tuple(GRIDS))](check_choice("profile", profile, PROFILES), **changes)
