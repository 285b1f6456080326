"""User-defined grids of cells, given as named parameters in Python or in a TOML file."""

import tomllib
from dataclasses import fields
from pathlib import Path

import numpy as np

from attention_phases.errors import BadInput, as_number, check_choice, check_seeds, check_several
from attention_phases.model.architectures import STANDARD, Architecture
from attention_phases.task import Task

from ..paths import read_edited
from .grids import TASK_FIELDS, cells_of
from .students import INFORMED, ArchitectureCell, StudentCell

FORM_FIELDS = [field.name for field in fields(Architecture)]
USUAL_SIZES = {"seeds": 4, "optimizer": "lbfgs", "starts": INFORMED}  # default values of sizes that a grid lacks
LIST_FIELDS = ("matrix", "spectrum", "clusters", "teachers")  # parameters of a task whose value is itself a list


def own_cells(sizes, experiment):
    """Return the cells that a user-defined table of parameters describes (see `results.sweep`)."""
    table = USUAL_SIZES | dict(sizes)
    for name in table:
        check_choice("size", name, ("alpha", "d", *USUAL_SIZES, *TASK_FIELDS, *FORM_FIELDS))
    for name in ("alpha", "d"):
        if name not in table:
            raise BadInput(f"sizes lack {name}: alpha and d are needed")
    table = {name: _numbers(value) if hasattr(value, "tolist") else value for name, value in table.items()}
    axes = [name for name, value in table.items() if isinstance(value, (list, tuple)) and name not in LIST_FIELDS]
    table |= {name: check_several(name, table[name]) for name in axes}
    table["seeds"] = check_seeds(table["seeds"])
    table["starts"] = tuple(np.atleast_1d(table["starts"]).tolist())  # one name counts as a list of one
    return cells_of(experiment, _own_cell, table | {name: [table[name]] for name in LIST_FIELDS if name in table})


def _numbers(array):
    """Convert an array to a list, with floats rounded to 12 digits.

    Without rounding, 0.30000000000000004 and 0.3 would have different sentences.
    """
    array = np.asarray(array)
    if array.ndim and np.issubdtype(array.dtype, np.floating):
        return [_numbers(row) if row.ndim else float(f"{as_number(row):.12g}") for row in array]
    return array.tolist()


def _own_cell(experiment, **values):
    from attention_phases.training.optimizers import OPTIMIZERS, starts_of  # slow to load because of torch

    task = Task(**{name: values[name] for name in TASK_FIELDS if name in values})
    architecture = Architecture(**{name: values[name] for name in FORM_FIELDS if name in values})
    check_choice("optimizer", values["optimizer"], ("lbfgs",) if task.l1 else tuple(OPTIMIZERS))
    for start in values["starts"]:
        check_choice("start", start, starts_of(architecture.form))
    size = (as_number(values[name]) for name in ("alpha", "d", "seeds", "optimizer", "starts"))
    cell = StudentCell(experiment, task, *size)
    cell.sentences()  # raises an error if a size is not allowed
    return cell if architecture == STANDARD else ArchitectureCell(**vars(cell), architecture=architecture)


def read_grid(path):
    """Read the parameters of a user-defined grid from a TOML file."""
    try:
        return tomllib.loads(read_edited(Path(path)))
    except ValueError as error:
        raise BadInput("grid", str(path), f"a TOML file ({error})") from None
