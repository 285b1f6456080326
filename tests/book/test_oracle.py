"""Stored results as the reference: of each kind of cells the cheapest at smoke size is computed again, as by `verify`.

The notebooks are compared on stored results (tests/reference), so this module tests the computations.
"""

import json
from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import reference
import torch

from attention_book.experiments import GRIDS, grid
from attention_book.experiments.audit import authors_rule
from attention_book.experiments.beyond import convergence
from attention_book.experiments.kinds import BEGINNING, compute_rows
from attention_book.experiments.paper import histogram
from attention_book.experiments.verification import agree, check_cell, recompute
from attention_book.paths import DATA
from attention_book.store import provenance
from attention_book.store.parquet import decode, load
from attention_phases import Task, solve
from attention_phases.amp.message_passing import damp, limiting_data, start_state, step
from attention_phases.histogram import transformer
from attention_phases.model.two_tokens import sample
from attention_phases.theory.branches import row_of

TYPES = {name: type(grid(name, "smoke")[0]) for name in GRIDS}  # type of the cells of each experiment
KINDS = sorted({cell_type.__name__ for cell_type in TYPES.values()})
# Parameters that only change the size of a computation, not the code that it runs.
SIZES = {"experiment", "alpha", "alphas", "d", "seed", "data_seed", "start_seed", "points", "scrambles", "tested"}
DEAREST = 12.0  # seconds of a cell; a slower cell is skipped if other cells have its kinds
DEAR = [name for name in KINDS if "Line" in name or "Copies" in name or name in ("RuleCell", "OneStepThresholdsCell")]
# Columns that no test computes again, apart from columns that a kind of cells itself declares as not repeatable.
NOT_REPEATED = {
    "SearchCell": {"temperature": "of a search by annealing, whose end rounding decides"},
    "OneStepThresholdsCell": {"alpha_error": "of a cell that takes 13 s; `test_thresholds` has it by hand"},
}


@cache
def stored(name):
    """Return the rows that can be computed again; the tolerances cannot judge students of almost zero weights."""
    rows, kind = load(reference.RESULTS / f"{name}.parquet").astype({"cell": str}), TYPES[name].kind
    if "q" in rows:
        rows = rows[rows.groupby("cell")["q"].transform("max") > 20 * kind.tolerances["q"][1]]
    return rows.groupby("cell").head(BEGINNING) if kind.beginning else rows


def kind_of(value):
    """Return the class of a value of a cell: for a number whether it is zero, one, or another number."""
    if isinstance(value, list):
        return str(sorted({str(kind_of(entry)) for entry in value}))
    return "number" if isinstance(value, float) and value not in (0, 1) else value


class Candidate(NamedTuple):
    """A stored cell, its computing time, and the properties that its recomputation would test."""

    name: str
    cell: str
    seconds: float
    shows: set


def candidates(name):
    """Return each stored cell with its parameters except sizes, its columns and its kinds of rows.

    The theory is slow, and all forms share the code of a line, so each form and each column is tested once. Copies of
    every form are compared with explicit copies in `test_message_passing`.
    """
    kind, rows = TYPES[name].__name__, stored(name)
    filled, seconds = rows.notna().groupby(rows["cell"]).any(), rows.groupby("cell")["cell_seconds"].first()
    kinds_of_rows = rows.groupby("cell")["what"].unique() if "what" in rows else {}
    for text, columns in filled.iterrows():
        asked = json.loads(text)
        form = None if kind in DEAR else asked.get("form")
        columns = columns[columns].index.difference([*asked])
        shows = {(kind, form, shown) for shown in (*columns, *kinds_of_rows.get(text, ()))}
        if "Copies" not in kind:
            shows |= {(kind, key, str(kind_of(value))) for key, value in asked.items() if key not in SIZES}
        if kind not in DEAR:
            shows |= {name, (kind, form, asked.get("optimizer"), str(asked.get("starts")))}
            shows.add((kind, "exchanged", asked.get("data_seed") != asked.get("start_seed")))
        yield Candidate(name, text, seconds[text], shows)


@cache
def chosen():
    """Return cells that together have every property, each with a new one, in the order of computing time."""
    every = sorted((cell for name in GRIDS for cell in candidates(name)), key=lambda cell: cell.seconds)
    seen, taken = set(), []
    for cell in every:
        if cell.seconds < DEAREST and not cell.shows <= seen:
            seen |= cell.shows
            taken.append(cell)
    return taken


def assert_found_again(cells, at_least=1):
    assert len(cells) >= at_least
    for cell in cells:
        rows = stored(cell.name)
        # The student may be in another minimum.
        mismatches, _ = check_cell(TYPES[cell.name], rows[rows["cell"] == cell.cell])
        assert mismatches == []


def of_kind(kind):
    return [cell for cell in chosen() if TYPES[cell.name].__name__ == kind]


# Kinds that use the same compiled code.
QUICK = [kind for kind in KINDS if kind not in (*DEAR, "CountingCell", "ExchangedCell")]


@pytest.mark.parametrize("kind", QUICK)
def test_the_cheapest_cell_of_a_kind_is_found_again(kind):
    assert_found_again(of_kind(kind)[:1])


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_cell_of_each_other_sort_is_found_again(kind, monkeypatch):
    # The thresholds of the rule are interpolated between alphas; only the neighbouring alphas are kept.
    monkeypatch.setattr(authors_rule, "RELATIVE_ALPHAS", authors_rule.RELATIVE_ALPHAS[4:8])
    assert_found_again(of_kind(kind)[kind in QUICK :], at_least=kind not in QUICK)


@pytest.mark.parametrize("name", GRIDS)
def test_every_stored_column_is_computed_again_or_it_is_known_why_not(name):
    """Those of the tables themselves; of the counting task what is `MEAN_COLUMNS` at the end of a run too."""
    kind = TYPES[name].__name__
    cells = [stored(cell.name).set_index("cell").loc[[cell.cell]] for cell in of_kind(kind)]
    again = {"cell"}.union(*(rows.dropna(axis="columns", how="all") for rows in cells))
    reasons = TYPES[name].kind.unrepeatable | NOT_REPEATED.get(kind, {})
    again |= MEASURED.keys() if kind == "CountingCell" else OF_TEACHERS if name == "two_teachers_theory" else set()
    assert set(pq.read_schema(DATA / f"{name}.parquet").names) <= {*again, *reasons, *provenance.ORIGIN}


OF_TEACHERS = {"teachers", *(f"teacher_{k}{error}" for k in "12" for error in ("", "_error"))}


@pytest.mark.slow
def test_stored_solutions_of_two_teachers_are_found_again():
    """Each is solved alone, because their lines are long."""
    rows = stored("two_teachers_theory")
    text = rows["cell"].iloc[0]
    cell = provenance.restore(TYPES["two_teachers_theory"], text)
    rows = rows[(rows["cell"] == text) & (rows["alpha"] == cell.alphas[-1]) & rows["what"].isin(cell.branches)]
    assert set(rows["what"]) == set(cell.branches) and rows["teacher_2"].notna().all()
    size = cell.points, cell.scrambles, cell.seed
    for row in rows.to_dict("records"):
        found = row_of(cell.task, solve(cell.task, row["alpha"], row["what"], *size, architecture=cell.architecture))
        assert found.keys() > OF_TEACHERS - {"teachers"}
        for column, value in found.items():
            assert value != value or agree(row[column], value, *cell.kind.tolerances[column]), column


# Tolerances at the end of a run of the counting task, for the effect of rounding.
MEASURED: dict = {
    **dict.fromkeys(("distance", "of_zeros"), (1e-2, 1e-6)),
    **dict.fromkeys(("by_position", "by_token"), (0, 1e-2)),
    "right": (0, 12),  # of 6,000 places
    **dict.fromkeys(("after", "count", "places", "span", "tensor", "weights"), (0, 0)),
}


@pytest.mark.slow
@pytest.mark.parametrize("variant", transformer.VARIANTS)
def test_a_small_run_of_the_counting_task_is_found_again_to_its_end(variant):
    """The run has fewer steps than an epoch of the paper, so that it amplifies rounding less."""
    tolerances = histogram.COUNTING | {"test_loss": (3e-2, 0), "accuracy": (0, 2e-3)} | MEASURED
    rows = load(reference.RESULTS / "histogram.parquet").query("variant == @variant and seed == 0")
    assert set(rows["what"]) == {"epoch", "distance", "shares", "count", "weights"}
    assert recompute(histogram.CountingCell, rows, compute_rows, tolerances, ignore=("weights",)) == []


SMALL = [(reference.RESULTS, name) for name in ("histogram", "counting_control")]


@pytest.mark.parametrize(("folder", "name"), [*SMALL, pytest.param(DATA, "histogram", marks=pytest.mark.slow)])
def test_what_is_stored_of_a_run_follows_from_its_weights(folder, name):
    """Distances, shares, counts and test results at the end of both phases follow from the stored weights."""
    rows = load(folder / f"{name}.parquet")
    rows = rows[rows["cell"] == rows["cell"].iloc[-1]]
    cell = provenance.restore(histogram.CountingCell, str(rows["cell"].iloc[0]))
    by_phase = rows.dropna(subset="weights").set_index("after")
    (_, of_start, of_noise, *_), mask = histogram.seeds(cell), transformer.trained_mask(cell.variant)
    kept = {"start": transformer.start(np.random.default_rng(of_start)) * mask}
    kept |= {name: decode(by_phase["weights"][after]) for name, after in (("trained", "adam"), ("final", "sgd"))}
    kept["displaced"] = kept["trained"].copy()
    transformer.displace(kept["displaced"], np.random.default_rng(of_noise))
    again, stored = pd.DataFrame(histogram.measure(cell, kept)), rows[rows["what"] != "epoch"]
    for column in MEASURED:
        values = again[column].set_axis(stored.index)
        if column in ("distance", "of_zeros", "by_position", "by_token"):
            np.testing.assert_allclose(stored[column].astype(float), values.astype(float), rtol=1e-6, atol=1e-6)
        else:
            assert stored[column].dropna().tolist() == values.dropna().tolist(), column
    epochs, test = rows[rows["what"] == "epoch"].set_index("epoch"), histogram.data(cell)[1]
    for epoch, flat in ((cell.adam_epochs, kept["trained"]), (cell.adam_epochs + cell.sgd_epochs, kept["final"])):
        # Sums in float32 of logits of order ten.
        tensors, pair = transformer.tensors_of(flat, torch.float64), (torch.from_numpy(part) for part in test)
        assert epochs["test_loss"][epoch] == pytest.approx(transformer.loss(tensors, *pair).item(), rel=1e-4, abs=1e-6)
        right = (transformer.predicted_counts(flat, test.tokens) == test.counts).mean()
        assert epochs["accuracy"][epoch] == pytest.approx(right, abs=1e-4)


@pytest.mark.slow
def test_a_search_that_leads_lower_is_found_again():
    """Most searches at this size do not reach a lower minimum, and then a mistake in the choice of sentences is
    invisible.
    """
    rows = stored("searched")
    cells = rows.loc[rows["hops"] > 0, "cell"].unique()
    assert len(cells)
    for cell in cells:
        assert check_cell(TYPES["searched"], rows[rows["cell"] == cell]) == ([], [])


def test_copies_are_measured_over_the_last_iterations_whatever_their_sign():
    """By hand: three earlier iterations are ignored, and two give the root mean squares and means.

    Q and -Q give the same attention. Of the two iterations one is closer to Q and the other to -Q.
    """
    task, rng, gaps, sizes = Task(), np.random.default_rng(0), [], []
    data = limiting_data(task, sample(task, 2.0, 60, rng))
    first = start_state(task, data, data.teacher.numpy() + 0.1 * rng.standard_normal(60))
    pair = [first, first._replace(weights=first.weights[::-1])]
    found = convergence.copies(task, data, pair, 0.3, 0.1, 3, 2)
    for k in range(5):
        pair = [damp(state, step(task, data, state, 0.1), 0.3) for state in pair]
        if k > 2:
            one, other = (state.weights for state in pair)
            gaps.append(min((one - side * other) @ (one - side * other) for side in (1, -1)) / (one @ one))
            sizes.append(task.sigma**2 * (one @ one) / data.d)
    assert (found["apart"], found["q"]) == pytest.approx((np.mean(gaps) ** 0.5, np.mean(sizes)))
