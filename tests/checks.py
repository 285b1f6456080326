"""Checks that every experiment must pass: `check_experiment("staying")` yields the defects of an experiment.

On the command line: `.venv/bin/python -m pytest tests/book/test_experiments.py -k staying`.
"""

import json

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import reference
from columns import column_of, own_columns

from attention_book.experiments import grid
from attention_book.experiments.kinds import BEGINNING
from attention_book.paths import DATA
from attention_book.store import provenance
from attention_book.store.parquet import load
from attention_phases.errors import ResultError
from attention_phases.records import canonical

# Overlaps that are zero because of the gauge of two columns or because a branch holds them at zero.
ZERO = {
    "fig11": {"theta_2"},
    "fig14_random": {"theta_2"},
    "two_teachers_theory": {"theta_2", "q_12", "m_1"},
    "variants_theory": {"m_1"},
}


def check_experiment(name):
    """Yield a sentence for each defect of an experiment: stored results, tolerances, meanings and units of columns."""
    table, cell_type = DATA / f"{name}.parquet", type(grid(name, "smoke")[0])
    yield from check_cells(table, grid(name, "paper"), f"attention-phases sweep {name} --profile paper")
    yield from check_cells(reference.RESULTS / table.name, reference.cells_of(name), "make reference")
    if table.exists():
        yield from check_columns(table, own_columns(cell_type))
        yield from check_tolerances(load(table), cell_type.kind, ZERO.get(name, ()))


def check_cells(table, cells, remedy):
    """Yield a sentence for each cell that is missing or has another name than its grid gives it."""
    named = [canonical(cell) for cell in cells]
    if len(named) != len(set(named)):
        yield f"{table.name}: {len(named) - len(set(named))} cells are there twice"
    stored = values_of(table, "cell") if table.exists() else set()
    if stored != set(named):
        yield f"{table} lacks {len({*named} - stored)} cells, and has {len(stored - {*named})} of no grid: {remedy}"


def values_of(table, column):
    return set(pc.unique(pq.read_table(table, columns=[column])[column]).to_pylist())


def check_columns(table, own):
    """Yield a sentence for each column without meaning or unit, and for each name in a column without explanation."""
    for column in pq.read_schema(table):
        try:
            about = column_of(column.name, own)
        except ResultError as error:
            yield str(error)
            continue
        if bool(about.unit) != pa.types.is_floating(column.type):
            yield f"column {column.name!r} of {table.name}: numbers have a unit, and nothing else has one"
        said = {name.decode(): text.decode() for name, text in (column.metadata or {}).items()}
        if said != {name: text for name, text in (("description", about.meaning), ("unit", about.unit)) if text}:
            yield f"column {column.name!r} of {table.name} does not say what it means: make metadata"
        if about.names:
            unknown = values_of(table, column.name) - {None, *about.names}
            if unknown:
                yield f"column {column.name!r} of {table.name} holds {unknown}, which is not explained"


def check_tolerances(rows, kind, zero=()):
    """Yield a sentence for each tolerance that is too large to detect a change.

    A tolerance is at most a fifth of the large values of its column. A quantity that is zero within its error, such as
    the complexity of a ground state, is compared with its error. An overlap that is zero by symmetry has no size.
    """
    if kind.beginning:
        rows = rows.groupby("cell", observed=True).head(BEGINNING)
    if "d" in rows:
        rows = rows.sort_values(by="d", ascending=False)
    tolerances = {column: allowed for column, allowed in kind.tolerances_of(rows).items() if column in rows}
    if not tolerances:
        yield "no column has a tolerance"
    for column, (relative, absolute) in tolerances.items():
        sizes = rows.reindex(columns=[column, f"{column}_error"]).astype(float).abs().max(axis=1)
        sizes = sizes[sizes > 1e-12]
        of_zero = column.removesuffix("_error") in zero
        if not (sizes.empty if of_zero else absolute < 0.2 * sizes.quantile(0.9)):
            yield f"column {column!r}: a tolerance of {absolute:g} is not small beside its values"
        if relative > (0.3 if column.endswith("_error") else 0.1):
            yield f"column {column!r}: a relative tolerance of {relative:g} is large"
    known = {"cell", *provenance.ORIGIN, *kind.unrepeatable, *json.loads(str(rows["cell"].iloc[0]))}
    # These are settings rather than results, and must be equal to the last bit.
    for column in rows.columns.difference([*known, *tolerances]):
        values = rows[column].dropna()
        if pd.api.types.is_float_dtype(values) and (values.round(6) != values).any():
            yield f"column {column!r} holds results and has no tolerance"
