"""How an experiment is written down: a table of sizes by profile, of which every combination is a cell."""

from dataclasses import fields, replace
from inspect import signature
from itertools import product

import numpy as np

from attention_phases.errors import check_choice
from attention_phases.task import Task

PROFILES = ("paper", "laptop", "smoke")
ALPHAS = np.linspace(0.01, 2.0, 25).tolist()  # as published
OMEGAS = [round(0.02 * k, 2) for k in range(1, 26)]

OF_TASK = [field.name for field in fields(Task)]
GRIDS = {}  # by name: a function of the profile, and of parameters that differ from the published ones


def grid(name, profile, **changes):
    """Cells of the experiment `name` at the size of `profile`, other than published where `changes` says so."""
    check_choice("name", name, tuple(GRIDS))
    check_choice("profile", profile, PROFILES)
    takes = signature(GRIDS[name]).parameters
    if "changes" not in takes:  # an experiment with parameters of its own
        for parameter in changes:
            check_choice("parameter", parameter, [*takes][1:])
    return GRIDS[name](profile, **changes)


def register(cell_type, name, fixed=None):
    """Return what registers an experiment of this name, called with its sizes: ``paper=``, ``laptop=`` and ``smoke=``.

    The size of a profile is a table, or a list of tables, whose cells follow one another. In a table, a list or a range
    is an axis: cells take each of its values, those of the last axis fastest. An axis "task alpha" has pairs of values.
    Everything else is the value of a field. The docstring of the experiment's file says what it is about, under
    "Experiments:".

    fixed: values of what a table does not name.
    """

    def at_sizes(**sizes):
        def cells_at(profile, **changes):
            tables = sizes[profile] if isinstance(sizes[profile], list) else [sizes[profile]]
            return [cell for table in tables for cell in cells_of(name, cell_type, completed(table, fixed), **changes)]

        GRIDS[name] = cells_at

    return at_sizes


def cells_of(name, cell_type, table, **changes):
    """The cells of a table, see `register`; `changes` are of its values, or of parameters of the task they share."""
    of_task = OF_TASK if isinstance(table.get("task"), Task) else []
    for parameter in changes:
        check_choice("parameter", parameter, (*table, *of_task))
    task = {name: value for name, value in changes.items() if name not in table}
    table = table | {name: value for name, value in changes.items() if name in table}
    axes = {fields: table[fields] for fields, values in table.items() if isinstance(values, (list, range))}
    shared = {field: value for field, value in table.items() if field not in axes}
    if task:
        shared["task"] = replace(shared["task"], **task)
    cells = []
    for point in product(*axes.values()):
        values = dict(shared)
        for names, value in zip(axes, point):
            values |= dict(zip(names.split(), value)) if " " in names else {names: value}
        cells.append(cell_type(name, **values))
    return cells


def completed(table, usual):
    """A table with the usual values of what it does not name, before its own."""
    return {field: value for field, value in (usual or {}).items() if field not in table} | table


def tasks(omegas, **parameters):
    """A task for each omega."""
    return [Task(omega=omega, **parameters) for omega in omegas]


def at(*points):
    """Points (omega, alpha, ...) with the task in the place of omega."""
    return [(Task(omega=omega), *rest) for omega, *rest in points]


def data_sets(by_dimension):
    """An axis "d seed": so many data sets by dimension."""
    return [(d, seed) for d, count in by_dimension.items() for seed in range(count)]
