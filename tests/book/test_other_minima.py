"""Students that end in another minimum pass `verify` and are counted apart; errors do not pass."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from attention_book import cli
from attention_book.experiments import cells, other_minima, results, simulation, verification
from attention_book.experiments.cells import StudentCell
from attention_book.experiments.minima_grids import landscape
from attention_book.store.database import Store
from attention_book.store.identity import canonical
from attention_book.store.parquet import export
from attention_book.store.provenance import COLUMNS
from attention_phases.task import Task
from attention_phases.training import optimizers

# Starts displaced by 0.4 and more end in a minimum with a loss 4 % above that of the others. Students whose ends one
# rounding parts take minutes.
TWO_ENDS = StudentCell("fig03", Task(omega=0.1), 0.75, 200, 1, "lbfgs", ("positional",))
ONE_END = [StudentCell("fig03", Task(omega=0.3), alpha, 60, 0, "lbfgs") for alpha in (0.75, 1.5, 2.0)]
AWAY = 0.5


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """Function that stores rows of cells, and gives what `verify --json` answers."""
    monkeypatch.setattr(verification, "DATA", tmp_path)
    monkeypatch.setattr(other_minima, "DISPLACEMENTS", (0.1, 0.2, 0.3, 0.4, 0.5, 0.6))

    def verify(capsys, rows_of, name="fig03"):
        (tmp_path / "s.sqlite").unlink(missing_ok=True)
        (tmp_path / f"{name}.parquet").unlink(missing_ok=True)
        with Store(tmp_path / "s.sqlite") as store:
            for each, rows in rows_of.items():
                store.put(each, rows, dict.fromkeys(COLUMNS, ""))
            export(store, tmp_path)
        code = cli.main(["verify", "--json"])
        return code, json.loads(capsys.readouterr().out)

    return verify


@pytest.fixture(scope="module")
def honest():
    """Rows of the cells as they should be."""
    return {each: simulation.train_students(each) for each in ONE_END}


@pytest.fixture(scope="module")
def elsewhere():
    """The student of `TWO_ENDS` in the other minimum."""
    return simulation.train_students(TWO_ENDS, displaced=AWAY)[0]


def test_another_minimum_passes_and_is_counted_apart(stored, capsys, honest, elsewhere):
    code, found = stored(capsys, honest | {TWO_ENDS: [elsewhere]})
    assert (code, found["cells"], found["mismatches"]) == (0, 4, [])
    (other,) = found["other_minima"]
    assert json.loads(other["cell"])["alpha"] == 0.75 and other["row"] == 0
    assert other["stored"] == elsewhere["train_loss"] > 1.03 * other["recomputed"]
    assert other["recomputed"] == pytest.approx(simulation.train_students(TWO_ENDS)[0]["train_loss"], abs=1e-8)
    assert set(found["expected_other_minima"]) == {"cells", "error", "chance"}


def test_what_is_found_again_is_no_other_minimum(stored, capsys, honest):
    code, found = stored(capsys, honest)
    assert code == 0 and found["mismatches"] == found["other_minima"] == []


@pytest.mark.parametrize(
    "slip",
    [
        lambda row: {"train_loss": row["train_loss"] * 1.2},
        lambda row: {"test_mse": row["test_mse"] * 1.5},
        lambda row: {"m": -row["m"]},
        lambda row: {"theta": row["theta"] + 0.2},
        lambda row: {"linear_mse": row["linear_mse"] * 1.02},
        lambda row: {"grad_norm": 1e-3},  # stopped early
        lambda row: {"start": "semantic"},
    ],
    ids=["loss", "test error", "sign", "overlap", "linear fit", "gradient", "name"],
)
def test_a_wrong_student_between_many_minima_is_caught(stored, capsys, elsewhere, slip):
    code, found = stored(capsys, {TWO_ENDS: [elsewhere | slip(elsewhere)]})
    assert code == 1 and found["mismatches"] and found["other_minima"] == []


@pytest.mark.parametrize("name", ["train_loss", "test_mse"])
def test_a_student_found_again_has_the_same_losses(stored, capsys, name):
    (row,) = simulation.train_students(TWO_ENDS)
    wrong = {"train_loss": 1e-5, "test_mse": 2e-3}[name]  # far inside the scatter of the ends
    code, found = stored(capsys, {TWO_ENDS: [row | {name: row[name] * (1 + wrong)}]})
    assert code == 1 and [each["column"] for each in found["mismatches"]] == [name]


def _stopped_early(data, lam, starts, *rest):
    return optimizers.lbfgs(data, lam, starts, *rest, tolerance=0.3)


@pytest.mark.parametrize("slip", ["ridge penalty", "linear ridge", "sign", "seed", "stopped early"])
def test_a_defect_of_the_code_is_caught(stored, capsys, monkeypatch, honest, slip):
    if slip == "ridge penalty":
        fit = optimizers.fit
        monkeypatch.setattr(simulation, "fit", lambda data, lam, *rest: fit(data, 1.01 * lam, *rest))
    elif slip == "linear ridge":
        monkeypatch.setattr("attention_phases.model.sentences.LINEAR_RIDGE", 1e-1)
    elif slip == "sign":
        overlaps = simulation.two_tokens.overlaps
        monkeypatch.setattr(
            simulation.two_tokens, "overlaps", lambda *given: (point := overlaps(*given)) | {"theta": -point["theta"]}
        )
    elif slip == "seed":
        seeds = cells.seed_sequence
        monkeypatch.setattr(cells, "seed_sequence", lambda drawn: seeds(drawn | {"seed": drawn["seed"] + 1}))
    else:
        monkeypatch.setitem(optimizers.OPTIMIZERS, "lbfgs", _stopped_early)
    code, found = stored(capsys, honest)
    assert code == 1 and {each["cell"] for each in found["mismatches"]} == set(map(canonical, honest))


def test_too_many_other_minima_are_an_error(stored, capsys, monkeypatch, elsewhere):
    monkeypatch.setitem(other_minima.MEASURED, "lbfgs", (0, 10**5))
    code, found = stored(capsys, {TWO_ENDS: [elsewhere]})
    assert code == 1 and found["mismatches"] == [] and len(found["other_minima"]) == 1
    assert found["expected_other_minima"]["chance"] < other_minima.MISSED


def test_many_starts_in_one_valley_are_each_others_ends(stored, capsys):
    """The ends of a `ValleyCell` scatter by themselves: an end among them passes, one far above them does not."""
    valley = replace(landscape("smoke")[5], d=200, seed=1, count=8)  # at omega = 0.1, positional
    rows = results.work(valley)
    assert rows[1]["minimum"] != rows[0]["minimum"]
    swapped = [dict(row) for row in rows]
    for name in ("train_loss", "q", "m", "theta"):
        swapped[1][name] = rows[0][name]
    code, found = stored(capsys, {valley: swapped}, "landscape")
    assert code == 0 and [each["row"] for each in found["other_minima"]] == [1]
    swapped[1]["train_loss"] *= 2
    assert stored(capsys, {valley: swapped}, "landscape")[0] == 1


def test_expected_cells_and_their_chance(monkeypatch):
    monkeypatch.setattr(other_minima, "MEASURED", {"lbfgs": (20_000, 10**6), "value": (5 * 10**5, 10**6)})
    cells = [("lbfgs", 2)] * 50 + [("value", 1)] * 4
    found = other_minima.expected(cells, 5)
    share = 1 - 0.98**2
    assert found.cells == pytest.approx(50 * share + 2, abs=0.06)
    assert found.error == pytest.approx((50 * share * (1 - share) + 1) ** 0.5, rel=0.03)
    both = np.convolve(binom.pmf(range(51), 50, share), binom.pmf(range(5), 4, 0.5))
    assert found.chance == pytest.approx(both[5:].sum(), abs=4 * 0.005)
    monkeypatch.setattr(other_minima, "MEASURED", {"lbfgs": (2, 100)})
    assert other_minima.expected(cells[:50], 0).error > 1.5 * (50 * share) ** 0.5  # the share itself is uncertain
