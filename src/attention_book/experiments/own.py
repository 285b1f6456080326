"""Grids of one's own: sizes and parameters by name, of which every combination is trained, resumed where it stopped."""

import tomllib
from collections.abc import Mapping
from dataclasses import fields
from itertools import product
from pathlib import Path

from attention_phases.errors import BadInput, check_choice, check_count, check_kind
from attention_phases.model.architectures import STANDARD, Architecture
from attention_phases.task import Task
from attention_phases.training.optimizers import OPTIMIZERS, STARTS, starts_of

from ..store.parquet import as_column_value
from .cells import INFORMED, ArchitectureCell, StudentCell
from .results import compute, of_cells

OF_TASK, OF_ARCHITECTURE = ([field.name for field in fields(kind)] for kind in (Task, Architecture))
BY_DEFAULT = {field.name: field.default for kind in (Task, Architecture) for field in fields(kind)}
USUAL = {"seeds": 4, "optimizer": "lbfgs", "starts": INFORMED}
SIZES = ("alpha", "d", *USUAL)
WHOLE = ("starts", "matrix", "spectrum", "clusters", "teachers")  # whose values are lists themselves


def sweep(sizes, store, workers=None, quiet=False, scheduler=None):
    """Train students of every combination of some sizes, and return their table; run again, it goes on where it was.

    >>> from tempfile import TemporaryDirectory
    >>> from attention_book import sweep
    >>> with TemporaryDirectory() as folder:
    ...     table = sweep({"omega": [0.2, 0.3], "alpha": 1.0, "d": 20, "seeds": 2}, f"{folder}/mine.sqlite", workers=1)
    >>> table.groupby(["omega", "start"]).size().tolist()
    [2, 2, 2, 2]

    Each row has the columns of `train` but `converged`, those of its cell, and where it was computed.

    sizes: `alpha` and `d`, parameters of a `Task` and an `Architecture`, `optimizer`, `starts`, and `seeds`, the number
        of data sets, by name; a list or a range is an axis, except of what is a list in itself. Or cells of any kind.
    store: SQLite file that keeps results as they come, beside which the table is written as Parquet.
    workers: processes, by default one a core, 1 for this one; or the address of a Dask `scheduler` in their place.
    """
    check_kind("store", store, str | Path)
    check_kind("sizes", sizes, Mapping | list | tuple)
    store = Path(store)
    cells = cells_of(sizes, store.stem) if isinstance(sizes, Mapping) else [*sizes]
    if not cells:
        raise BadInput("sizes", sizes, "of one cell at least")
    compute(cells, store, store.parent, workers, quiet, scheduler, alone=workers == 1 and scheduler is None)
    rows = of_cells(store.parent / f"{cells[0].experiment}.parquet", cells)
    return rows.assign(**{name: _completed(rows[name], usual) for name, usual in BY_DEFAULT.items() if name in rows})


def _completed(column, usual):
    """A column of a table with the usual value where the records of its cells leave it out."""
    return column.astype(object).where(column.notna(), as_column_value(usual)).infer_objects()


def cells_of(sizes, experiment):
    """The cells of a table of sizes, see `sweep`."""
    table = USUAL | dict(sizes)
    for name in table:
        check_choice("size", name, (*SIZES, *OF_TASK, *OF_ARCHITECTURE))
    for name in ("alpha", "d"):
        if name not in table:
            raise BadInput("sizes", [*sizes], f"with {name}")
    table["seeds"] = range(check_count("seeds", table["seeds"]))
    table["starts"] = (table["starts"],) if isinstance(table["starts"], str) else tuple(table["starts"])
    axes = [
        value if isinstance(value, list | range) and name not in WHOLE else [value] for name, value in table.items()
    ]
    return [_cell(experiment, dict(zip(table, point))) for point in product(*axes)]


def _cell(experiment, values):
    task = Task(**{name: values[name] for name in OF_TASK if name in values})
    architecture = Architecture(**{name: values[name] for name in OF_ARCHITECTURE if name in values})
    check_choice("optimizer", values["optimizer"], ("lbfgs",) if task.l1 else tuple(OPTIMIZERS))
    known = STARTS if architecture.form == "tied" else starts_of(architecture.form)
    for start in values["starts"]:
        check_choice("start", start, known)
    size = values["alpha"], values["d"], values["seeds"], values["optimizer"], values["starts"]
    cell = StudentCell(experiment, task, *size)
    cell.sentences()  # refuses a size that is none
    return cell if architecture == STANDARD else ArchitectureCell(**vars(cell), architecture=architecture)


def read_grid(path):
    """The sizes in a TOML file."""
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise BadInput("grid", str(path), f"a TOML file ({error})") from None
