"""Stored results as the judge: of each sort of cells at smoke size the cheapest is computed again, as by `verify`.

The notebooks are compared on stored results (tests/reference), so this is where the computing is tested.
"""

import json
from functools import cache

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
from attention_phases.training.message_passing import damped, limiting, start_state, step

pytestmark = pytest.mark.slow

TYPES = {name: type(grid(name, "smoke")[0]) for name in GRIDS}  # of cells, by experiment
SIZES = {"experiment", "alpha", "alphas", "d", "seed", "data_seed", "start_seed"}  # in which cells of one sort differ
DEAREST = 6.0  # seconds of a cell when it was stored: two take longer, whose kinds have others


@pytest.mark.parametrize("name", GRIDS)
def test_a_tolerance_is_small_beside_what_it_is_a_tolerance_of(name):
    """A fifth of the large values of a column at most: one that is larger lets everything pass.

    What is zero but for its error, as the complexity of a ground state, is compared with its error. An overlap that is
    zero by symmetry has no size.
    """
    rows, kind = load(DATA / f"{name}.parquet"), TYPES[name].kind
    if kind.beginning:
        rows = rows.groupby("cell", observed=True).head(kind.rows)
    if "d" in rows:
        rows = rows.sort_values(by="d", ascending=False)
    tolerances = kind.tolerances_of(rows)
    for column, (_, absolute) in tolerances.items():
        sizes = rows.reindex(columns=[column, f"{column}_error"]).astype(float).abs().max(axis=1)
        sizes = sizes[sizes > 1e-12]
        assert sizes.empty or absolute < 0.2 * sizes.quantile(0.9), column
    known = {"cell", *provenance.ORIGIN, *kind.unrepeatable, *json.loads(str(rows["cell"].iloc[0]))}
    for column in rows.columns.difference([*known, *tolerances]):  # equal to the last bit: settings, no results
        if pd.api.types.is_float_dtype(rows[column]):
            assert (rows[column].dropna().round(6) == rows[column].dropna()).all(), column


@cache
def stored(name):
    """Rows that can be computed again, but for students with next to no weights, less than the tolerances let pass."""
    rows, kind = load(reference.RESULTS / f"{name}.parquet").astype({"cell": str}), TYPES[name].kind
    if "q" in rows:
        rows = rows[rows.groupby("cell")["q"].transform("max") > 20 * kind.tolerances["q"][1]]
    return rows.groupby("cell").head(kind.rows) if kind.beginning else rows


def sorts(name):
    """Of each cell: experiment, text, seconds, and its sort: what it asks for but sizes, and what its rows hold.

    Theory is dear: there a number in the task makes no sort of its own.
    """
    rows = stored(name)
    filled, seconds = rows.notna().groupby(rows["cell"]).any(), rows.groupby("cell")["cell_seconds"].first()
    kinds_of_rows = rows.groupby("cell")["what"].unique() if "what" in rows else {}
    for text, columns in filled.iterrows():
        asked = json.loads(text)
        theory = "d" not in asked
        sort = {
            key: asked[key] for key in asked.keys() - SIZES if not (theory and isinstance(asked[key], (int, float)))
        }
        sort["exchanged"] = asked.get("data_seed") != asked.get("start_seed")
        holds = sorted(columns[columns].index.difference(list(asked))), sorted(kinds_of_rows.get(text, ()))
        yield name, text, seconds[text], f"{TYPES[name].__name__} {sorted(sort.items())} {holds}"


@pytest.fixture(scope="module")
def chosen():
    """The cheapest cell of each experiment, and the cheapest of each sort."""
    every = pd.DataFrame([row for name in GRIDS for row in sorts(name)], columns=["name", "cell", "seconds", "sort"])
    cheap = every[every["seconds"] < DEAREST].sort_values("seconds")
    return pd.concat([cheap.drop_duplicates(by) for by in ("name", "sort")]).drop_duplicates("cell")


@pytest.mark.parametrize("kind", sorted({cell_type.__name__ for cell_type in TYPES.values()}))
def test_a_cell_of_each_sort_is_found_again(chosen, kind):
    of_kind = [cell for cell in chosen.itertuples() if TYPES[cell.name].__name__ == kind]
    assert of_kind
    for cell in of_kind:
        rows = stored(cell.name)
        mismatches, _ = check_cell(TYPES[cell.name], rows[rows["cell"] == cell.cell])  # another minimum may be found
        assert mismatches == []


def test_a_search_that_leads_lower_is_found_again():
    """Most do not at this size, and would also end where they begin if they tried the wrong sentences."""
    rows = stored("searched")
    cells = rows.loc[rows["hops"] > 0, "cell"].unique()
    assert len(cells)
    for cell in cells:
        assert check_cell(TYPES["searched"], rows[rows["cell"] == cell]) == ([], [])


@pytest.fixture(scope="module")
def passing():
    """A task, data in their limiting form, and states of two copies at Q and near -Q."""
    task, rng = Task(), np.random.default_rng(0)
    data = limiting(task, sample(task, 2.0, 60, rng))
    first = data.teacher.numpy() + 0.1 * rng.standard_normal(60)
    return task, data, [start_state(task, data, sign * first) for sign in (1, -1)]


def test_a_student_and_its_mirror_image_are_no_distance_apart(passing):
    """Q and -Q attend alike; no stored copies happen to have come to opposite signs."""
    task, data, starts = passing
    distances = convergence.copies(task, data, starts, 0.5, 0.0, 2, 2)
    assert distances["apart"] < 1e-6 < distances["q"]


def test_copies_are_measured_over_the_last_iterations(passing):
    """By hand: three iterations before, then the root mean squares and means of two."""
    task, data, (first, _) = passing
    pair, gaps, sizes = [first, first._replace(weights=first.weights[::-1].copy())], [], []
    found = convergence.copies(task, data, pair, 0.3, 0.1, 3, 2)
    for k in range(5):
        pair = [damped(state, step(task, data, state, 0.1), 0.3) for state in pair]
        if k > 2:
            one, other = (state.weights for state in pair)
            gaps.append(min((one - side * other) @ (one - side * other) for side in (1, -1)) / (one @ one))
            sizes.append(task.sigma**2 * (one @ one) / data.d)
    assert (found["apart"], found["q"]) == pytest.approx((np.mean(gaps) ** 0.5, np.mean(sizes)))
