"""Stored results as the judge: the cheapest cells of each experiment at smoke size are computed again, as by `verify`.

The notebooks are compared on stored results (tests/reference), so this is where the computing is tested.
"""

import json

import numpy as np
import pandas as pd
import pytest
import reference

from attention_book.experiments import GRIDS, convergence, grid
from attention_book.experiments.verification import check_cell
from attention_book.paths import DATA
from attention_book.store import provenance
from attention_book.store.parquet import load
from attention_phases import Task
from attention_phases.model.two_tokens import sample
from attention_phases.training.message_passing import limiting, start_state

pytestmark = pytest.mark.slow

DEAREST = {"one_step"}  # 12 seconds; its kind of cell has another experiment
SECONDS = 1.0  # of the cells of an experiment together, when they were stored; one is computed in any case


@pytest.mark.parametrize("name", GRIDS)
def test_a_tolerance_is_small_beside_what_it_is_a_tolerance_of(name):
    """A fifth of the large values of a column at most: one that is larger lets everything pass.

    What is zero but for its error, as the complexity of a ground state, is compared with its error. An overlap that is
    zero by symmetry has no size.
    """
    rows, kind = load(DATA / f"{name}.parquet"), type(grid(name, "smoke")[0]).kind
    if kind.beginning:
        rows = rows.groupby("cell", observed=True).head(kind.rows)
    if "d" in rows:
        rows = rows.sort_values(by="d", ascending=False)
    tolerances = kind.tolerances_of(rows)
    for column, (_, absolute) in tolerances.items():
        sizes = rows.reindex(columns=[column, f"{column}_error"]).astype(float).abs().max(axis=1)
        sizes = sizes[sizes > 1e-12]
        assert sizes.empty or absolute < 0.2 * sizes.quantile(0.9), column
    known = {"cell", *provenance.COLUMNS, *kind.unrepeatable, *json.loads(str(rows["cell"].iloc[0]))}
    for column in rows.columns.difference([*known, *tolerances]):  # equal to the last bit: settings, no results
        if pd.api.types.is_float_dtype(rows[column]):
            assert (rows[column].dropna().round(6) == rows[column].dropna()).all(), column


def test_every_kind_of_cell_is_computed_again():
    kinds = {name: type(grid(name, "smoke")[0]) for name in GRIDS}
    assert {kind for name, kind in kinds.items() if name not in DEAREST} == set(kinds.values())


@pytest.mark.parametrize("name", sorted(GRIDS.keys() - DEAREST))
def test_the_cheapest_cells_are_found_again(name):
    """But for cells whose students have next to no weights, less than the tolerances let pass."""
    stored, cell_type = load(reference.RESULTS / f"{name}.parquet"), type(grid(name, "smoke")[0])
    if "q" in stored:
        sizes = stored.groupby("cell", observed=True)["q"].transform("max")
        stored = stored[sizes > 20 * cell_type.kind.tolerances["q"][1]]
    seconds = stored.groupby("cell", observed=True)["cell_seconds"].first().sort_values()
    for text in seconds.index[: max(1, sum(seconds.cumsum() < SECONDS))]:
        assert check_cell(cell_type, stored[stored["cell"] == text]) == ([], [])


def test_a_student_and_its_mirror_image_are_no_distance_apart():
    """Q and -Q attend alike; no stored copies happen to have come to opposite signs."""
    task, rng = Task(), np.random.default_rng(0)
    data = limiting(task, sample(task, 2.0, 60, rng))
    first = data.teacher.numpy() + 0.1 * rng.standard_normal(60)
    starts = [start_state(task, data, sign * first) for sign in (1, -1)]
    distances = convergence.copies(task, data, starts, 0.5, 0.0, 2, 2)
    assert distances["apart"] < 1e-6 < distances["q"]
