"""Tables of parameters that define the cells of an experiment: one cell for each combination of their values."""

from dataclasses import fields, replace
from inspect import signature
from itertools import product

import numpy as np

from attention_phases.errors import check_choice
from attention_phases.task import Task

PROFILES = ("paper", "laptop", "smoke")
ALPHAS = np.linspace(0.01, 2.0, 25).tolist()  # alphas of the published grid
OMEGAS = [round(0.02 * k, 2) for k in range(1, 26)]

TASK_FIELDS = [field.name for field in fields(Task)]
GRIDS = {}  # functions by name of the experiment, which return cells for a profile and changed parameters


def grid(name, profile, **changes):
    """Return the cells of an experiment for a size profile, such as "laptop".

    changes: parameters that differ from the published ones.
    """
    check_choice("name", name, tuple(GRIDS))
    check_choice("profile", profile, PROFILES)
    takes = signature(GRIDS[name]).parameters
    if "changes" not in takes:  # the experiment has its own parameters
        for parameter in changes:
            check_choice("parameter", parameter, [*takes][1:])
    return GRIDS[name](profile, **changes)


def register(cell_type, name, fixed=None):
    """Return a function that registers an experiment, given its size in each profile.

    The sizes are the arguments ``paper``, ``laptop`` and ``smoke``. A size is a table, or a list of tables,
    whose cells follow one another. In a table, a list or a range is an axis, and the cells take every combination of
    the values of all axes. The last axis varies fastest. An axis "task alpha" has pairs of values. Everything else in a
    table is the value of a field. The docstring of the experiment's file describes the experiment under "Experiments:".

    fixed: values of fields that a table does not name.
    """

    def at_sizes(**sizes):
        def cells_at(profile, **changes):
            tables = sizes[profile] if isinstance(sizes[profile], list) else [sizes[profile]]
            return [cell for table in tables for cell in cells_of(name, cell_type, fill_table(table, fixed), **changes)]

        GRIDS[name] = cells_at

    return at_sizes


def cells_of(name, cell_type, table, **changes):
    """Return the cells that a table of parameters defines (see `register`).

    changes: values that replace values of the table, or parameters of the task that the cells share.
    """
    of_task = TASK_FIELDS if isinstance(table.get("task"), Task) else []
    for parameter in changes:
        check_choice("parameter", parameter, (*table, *of_task))
    task = {name: value for name, value in changes.items() if name not in table}
    table = table | {name: value for name, value in changes.items() if name in table}
    if task:
        table["task"] = replace(table["task"], **task)
    axes = {names: values for names, values in table.items() if isinstance(values, (list, range))}
    cells = []
    for point in product(*axes.values()):
        values = {}
        for names, value in (table | dict(zip(axes, point))).items():
            values |= dict(zip(names.split(), value)) if " " in names else {names: value}
        cells.append(cell_type(name, **values))
    return cells


def fill_table(table, usual):
    """Return a copy of a table, with its missing fields filled in from default values.

    The fields that were missing come first.
    """
    return {field: value for field, value in (usual or {}).items() if field not in table} | table


def tasks(omegas, **parameters):
    """Return a list of tasks, one for each omega."""
    return [Task(omega=omega, **parameters) for omega in omegas]


def with_tasks(*points):
    """Replace omega, the first value of each tuple, by the task that has this omega.

    A tuple (omega, alpha, ...) becomes (task, alpha, ...).
    """
    return [(Task(omega=omega), *rest) for omega, *rest in points]


def data_sets(by_dimension):
    """Return pairs (d, seed) for a given number of data sets in each dimension.

    The pairs are the values of an axis "d seed" (see `register`).
    """
    return [(d, seed) for d, count in by_dimension.items() for seed in range(count)]
