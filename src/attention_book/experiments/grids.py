"""What the tables of sizes are written with: experiments by name, their sizes by profile, and cells along axes."""

from functools import wraps
from itertools import product

import numpy as np

from attention_phases.errors import check_choice
from attention_phases.task import Task

from .cells import StudentCell

PROFILES = ("paper", "laptop", "smoke")
ALPHAS = tuple(np.linspace(0.01, 2.0, 25).tolist())  # as published
OMEGAS = tuple(round(0.02 * k, 2) for k in range(1, 26))
MAP_OMEGAS = {"paper": OMEGAS, "laptop": OMEGAS[::4], "smoke": OMEGAS[::8]}

GRIDS = {}  # by name: a function of the profile, and of parameters that differ from the published ones


def grid(name, profile, **changes):
    """Cells of the experiment `name` at the size of `profile`, other than published where `changes` says so."""
    return GRIDS[check_choice("name", name, tuple(GRIDS))](check_choice("profile", profile, PROFILES), **changes)


def sizes(**by_profile):
    """Decorator that makes an experiment of a function: the arguments that it takes, by profile."""

    def register(cells_of):
        @wraps(cells_of)
        def at_profile(profile, **changes):
            return cells_of(*by_profile[profile], **changes)

        GRIDS[cells_of.__name__] = at_profile
        return at_profile

    return register


def cells(experiment, cell_type, axes, **fixed):
    """A cell for every combination of values along the axes, the last axis fastest.

    Args:
        axes: values by field; by several fields, such as ("task", "alpha"), tuples of their values.
        fixed: fields that all cells share, where no axis has them.
    """
    combined = []
    for point in product(*axes.values()):
        fields = {}
        for names, value in zip(axes, point):
            fields |= {names: value} if isinstance(names, str) else dict(zip(names, value))
        combined.append(cell_type(experiment, **{**fixed, **fields}))
    return combined


def students(experiment, axes, cell_type=StudentCell, **fixed):
    """Cells of students: of the standard task and by L-BFGS, unless another one is given."""
    return cells(experiment, cell_type, axes, **{"task": Task(), "optimizer": "lbfgs", **fixed})


def tasks(omegas, **parameters):
    """A task for each omega."""
    return [Task(omega=omega, **parameters) for omega in omegas]


def at(*points):
    """(task, alpha) of points (omega, alpha)."""
    return [(Task(omega=omega), alpha) for omega, alpha in points]
