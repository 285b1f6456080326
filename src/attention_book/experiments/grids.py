"""How an experiment is written down: a table of sizes by profile, of which every combination is a cell.

The modules `*_grids` have the tables. A grid of one's own is one too, with parameters of task and architecture by name.
"""

import tomllib
from dataclasses import fields, replace
from inspect import signature
from itertools import product
from pathlib import Path

import numpy as np

from attention_phases.errors import BadInput, check_choice, check_seeds, check_several
from attention_phases.model.architectures import STANDARD, Architecture
from attention_phases.task import Task

from ..paths import read_edited
from .cells import INFORMED, ArchitectureCell, LineCell, StudentCell

PROFILES = ("paper", "laptop", "smoke")
ALPHAS = np.linspace(0.01, 2.0, 25).tolist()  # as published
OMEGAS = [round(0.02 * k, 2) for k in range(1, 26)]

OF_TASK, OF_ARCHITECTURE = ([field.name for field in fields(kind)] for kind in (Task, Architecture))
USUAL = {"seeds": 4, "optimizer": "lbfgs", "starts": INFORMED}  # sizes of a grid of one's own that it does not name
WHOLE = ("matrix", "spectrum", "clusters", "teachers")  # its parameters that are lists themselves

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


def register(name, about, fixed=None, cell_type=LineCell, **sizes):
    """Register an experiment by its name, with what it is about in a line.

    In a table, a list or a range is an axis: cells take each of its values, those of the last axis fastest. An axis
    "task alpha" has pairs of values. Everything else is the value of a field.

    fixed: values of what a table does not name.
    cell_type: by default lines of theory of the standard student.
    sizes: table by profile; a list of several gives their cells one after the other.
    """

    def cells_at(profile, **changes):
        tables = sizes[profile] if isinstance(sizes[profile], list) else [sizes[profile]]
        return [cell for table in tables for cell in cells_of(name, cell_type, completed(table, fixed), **changes)]

    cells_at.__doc__ = about
    GRIDS[name] = cells_at


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


# Grids of one's own


def own_cells(sizes, experiment):
    """The cells of a table of sizes, see `results.sweep`."""
    table = USUAL | dict(sizes)
    for name in table:
        check_choice("size", name, ("alpha", "d", *USUAL, *OF_TASK, *OF_ARCHITECTURE))
    for name in ("alpha", "d"):
        if name not in table:
            raise BadInput("sizes", [*sizes], f"such that {name} is among them")
    table = {name: _listed(value) if hasattr(value, "tolist") else value for name, value in table.items()}
    table |= {name: [*value] for name, value in table.items() if isinstance(value, tuple) and name not in WHOLE}
    axes = {name: value for name, value in table.items() if isinstance(value, list) and name not in WHOLE}
    table |= {name: check_several(name, value) for name, value in axes.items()}
    table["seeds"] = check_seeds(table["seeds"])
    table["starts"] = (table["starts"],) if isinstance(table["starts"], str) else tuple(table["starts"])
    return cells_of(experiment, _own_cell, table | {name: [table[name]] for name in WHOLE if name in table})


def _listed(array):
    """Its numbers, to 12 digits: 0.30000000000000004 would have other sentences than 0.3."""
    array = np.asarray(array)
    if array.ndim and np.issubdtype(array.dtype, np.floating):
        return [_listed(row) if row.ndim else float(f"{row:.12g}") for row in array]
    return array.tolist()


def _own_cell(experiment, **values):
    from attention_phases.training.optimizers import OPTIMIZERS, STARTS, starts_of  # with torch, slow to load

    task = Task(**{name: values[name] for name in OF_TASK if name in values})
    architecture = Architecture(**{name: values[name] for name in OF_ARCHITECTURE if name in values})
    check_choice("optimizer", values["optimizer"], ("lbfgs",) if task.l1 else tuple(OPTIMIZERS))
    for start in values["starts"]:
        check_choice("start", start, STARTS if architecture.form == "tied" else starts_of(architecture.form))
    size = values["alpha"], values["d"], values["seeds"], values["optimizer"], values["starts"]
    cell = StudentCell(experiment, task, *size)
    cell.sentences()  # refuses a size that is none
    return cell if architecture == STANDARD else ArchitectureCell(**vars(cell), architecture=architecture)


def read_grid(path):
    """The sizes in a TOML file."""
    try:
        return tomllib.loads(read_edited(Path(path)))
    except ValueError as error:
        raise BadInput("grid", str(path), f"a TOML file ({error})") from None
