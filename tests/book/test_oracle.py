"""Stored results as the judge: the cheapest cells of each kind are computed again, with the tolerances of `verify`.

The dearest kinds are computed in part: one place of a line, or whether a stored solution solves its equations.
"""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from attention_book.experiments import GRIDS, cells, convergence, grid
from attention_book.experiments.verification import check_cell
from attention_book.paths import DATA
from attention_book.store import provenance
from attention_book.store.parquet import load
from attention_book.store.provenance import canonical, restore
from attention_phases import Task
from attention_phases.model.two_tokens import sample
from attention_phases.theory.one_step import equations
from attention_phases.theory.quadrature import gaussian_points, pool
from attention_phases.training.message_passing import limiting, start_state

pytestmark = pytest.mark.slow

WHOLE = {  # kinds by an experiment that has the cheapest cells, and how many of these
    "crossing": 3,
    "fig03": 3,
    "fig14": 2,
    "fig14_value": 2,
    "fig11": 2,
    "lowest": 2,
    "searched": 2,
    "stability": 1,
    "variants_theory": 1,
    "hysteresis": 1,
    "lost_letters": 1,
    "histogram": 1,
    "fig03_theory": 1,
    "published_rule": 1,
    "positions_given": 2,
    "recovery": 3,
    "slips": 2,
    "spectra": 2,
}
IN_PART = {cells.CopiesCell, cells.OneStepThresholdsCell}


def cheapest(name, count=1, by="cell_seconds"):
    """Cells of an experiment that took the least time, or have least of another column, each with its rows.

    Those are left out whose students have next to no weights, less than the tolerances let pass.
    """
    stored, cell_type = load(DATA / f"{name}.parquet"), type(grid(name, "smoke")[0])
    cells_of = stored.groupby("cell", observed=True)
    if "q" in cell_type.kind.tolerances:
        cells_of = stored[cells_of["q"].transform("max") > 20 * cell_type.kind.tolerances["q"][1]].groupby(
            "cell", observed=True
        )
    for text in cells_of[by].first().nsmallest(count).index:
        yield restore(cell_type, text), stored[stored["cell"] == text]


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
    every = {type(grid(name, "smoke")[0]) for name in GRIDS}
    assert {type(grid(name, "smoke")[0]) for name in WHOLE} | IN_PART == every


@pytest.mark.parametrize("name", WHOLE)
def test_the_cheapest_cells_are_found_again(name):
    for cell, rows in cheapest(name, WHOLE[name]):
        assert check_cell(type(cell), rows) == ([], [])


def test_one_place_on_a_line_of_copies_is_found_again():
    ((cell, rows),) = cheapest("copies")
    last = float(rows.groupby("what")["alpha"].max().min())  # where copies of both branches settle
    shorter = replace(cell, alphas=(last,))
    kept = rows[rows["alpha"] == last].copy()
    kept["cell"], kept["alphas"] = canonical(shorter), str(list(shorter.alphas))
    assert set(kept["what"]) == {"semantic", "positional"}
    assert check_cell(cells.CopiesCell, kept) == ([], [])


def test_stored_minima_solve_the_equations_of_one_step():
    """A step of the state evolution moves no order parameter; Phi, e and Sigma are those of the solution."""
    ((cell, rows),) = cheapest("one_step", by="points")
    task, tolerances = cell.task, cell.kind.tolerances
    nets = gaussian_points(cell.points, cell.scrambles, cell.seed, dimensions=6)
    rows = rows[rows["what"].isin(("semantic", "positional"))].dropna(subset="q1")
    assert len(rows) == 2 and (rows["reason"] == "").all()
    for row in rows.to_dict("records"):
        after_q0 = (row[name] for name in ("m", "theta", "V", "y"))
        valley = equations.Valley(row["q0"], row["q1"] - row["q0"], *after_q0)
        averages = pool(equations.average(task, valley, nets))
        hats = equations.conjugates(task, row["alpha"], valley, averages)
        after = equations.update(task, row["y"], hats)._asdict()
        recomputed = {name: after[name] for name in ("q0", "m", "theta", "V")} | {"q1": after["q0"] + after["gap"]}
        recomputed["phi"] = equations.potential(task, row["alpha"], valley, hats, averages.free)
        recomputed["energy"] = equations.energy(task, row["alpha"], valley, averages)
        recomputed["complexity"] = row["y"] * (recomputed["energy"] - recomputed["phi"])
        assert row["complexity"] == pytest.approx(row["y"] * (row["energy"] - row["phi"]), rel=1e-9)
        for key, value in recomputed.items():
            relative, absolute = tolerances[key]
            assert row[key] == pytest.approx(value, rel=relative, abs=absolute), (row["what"], key)


def test_a_student_and_its_mirror_image_are_no_distance_apart():
    """Q and -Q attend alike; no stored copies happen to have come to opposite signs."""
    task, rng = Task(), np.random.default_rng(0)
    data = limiting(task, sample(task, 2.0, 60, rng))
    first = data.teacher.numpy() + 0.1 * rng.standard_normal(60)
    starts = [start_state(task, data, sign * first) for sign in (1, -1)]
    distances = convergence.copies(task, data, starts, 0.5, 0.0, 2, 2)
    assert distances["apart"] < 1e-6 < distances["q"]
