"""Students that end in another minimum pass `verify` and are counted separately; wrong results do not pass."""

from dataclasses import replace
from functools import cache

import pytest
from scipy.stats import t

from attention_book.experiments import grid, kinds, verification
from attention_book.experiments.students import StudentCell, train_students
from attention_book.store.parquet import export
from attention_book.store.provenance import ORIGIN
from attention_book.store.sweep import Store
from attention_phases.records import canonical
from attention_phases.task import Task

# Starts displaced by 0.4 or more end in a minimum whose loss is 4 % higher. Students whose end points depend on
# rounding would take minutes.
TWO_ENDS = StudentCell("fig03", Task(omega=0.1), 0.75, 200, 1, "lbfgs", ("positional",))
ONE_END = [StudentCell("fig03", Task(omega=0.3), alpha, 60, 0, "lbfgs") for alpha in (0.75, 1.5, 2.0)]
AWAY = 0.5
WORK = cache(kinds.compute_rows)  # of many tests the displaced runs are the same


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """Return a function that stores rows of cells and returns the result of `check`."""
    monkeypatch.setattr(verification, "DATA", tmp_path)
    monkeypatch.setattr(kinds, "DISPLACEMENTS", (0.1, 0.2, 0.3, 0.4, 0.5, 0.6))
    monkeypatch.setattr(kinds, "compute_rows", WORK)

    def check(rows_of):
        for path in tmp_path.iterdir():
            path.unlink()
        with Store(tmp_path / "s.sqlite") as store:
            for cell, rows in rows_of.items():
                store.put(cell, rows, dict.fromkeys(ORIGIN, ""))
            export(store, tmp_path)
        return verification.check(20)

    return check


@pytest.fixture(scope="module")
def elsewhere():
    """Return the student of `TWO_ENDS` in the other minimum."""
    return train_students(TWO_ENDS, displaced=AWAY)[0]


def test_another_minimum_passes_and_is_counted_apart(stored, elsewhere):
    checked = stored({cell: train_students(cell) for cell in ONE_END} | {TWO_ENDS: [elsewhere]})
    assert checked.problem is None and (checked.cells, checked.mismatches) == (4, [])
    assert checked.elsewhere == "1 of 7 students in another minimum"  # two starts in each correct cell
    (other,) = checked.other_minima
    assert (other.cell, other.row) == (canonical(TWO_ENDS), 0)
    assert other.stored == elsewhere["train_loss"] > 1.03 * other.recomputed
    assert other.recomputed == pytest.approx(train_students(TWO_ENDS)[0]["train_loss"], abs=1e-8)


# Wrong values in the row of a student: multiples of the right ones, and others.
FACTORS = {"train_loss": 1.2, "test_mse": 1.5, "m": -1, "linear_mse": 1.02}
VALUES = {"grad_norm": 1e-3, "start": "semantic", "no worker's": 1.0}


@pytest.mark.parametrize("column", [*FACTORS, *VALUES, "theta"])
def test_a_wrong_student_between_many_minima_is_caught(stored, elsewhere, column):
    wrong = {n: elsewhere[n] * factor for n, factor in FACTORS.items()} | VALUES | {"theta": elsewhere["theta"] + 0.2}
    checked = stored({TWO_ENDS: [elsewhere | {column: wrong[column]}]})
    assert checked.problem and checked.mismatches and checked.other_minima == []


@pytest.mark.parametrize("name", ["train_loss", "test_mse"])
def test_a_student_found_again_has_the_same_losses(stored, name):
    (row,) = train_students(TWO_ENDS)
    wrong = {"train_loss": 1e-5, "test_mse": 2e-3}[name]  # far inside the scatter of the end points
    checked = stored({TWO_ENDS: [row | {name: row[name] * (1 + wrong)}]})
    assert [mismatch.column for mismatch in checked.mismatches] == [name]


@pytest.mark.parametrize("share", [0.99, 1.01])
@pytest.mark.parametrize(("relative", "absolute"), [(0, 0), (0.5, 0), (0, 0.5)])
def test_one_more_end_lies_within_the_prediction_interval_of_the_others_and_the_tolerance(relative, absolute, share):
    """The level is 99.9 %. The mean is 1 and the standard deviation 0.1, and the recomputed value is 0.9."""
    ends = [dict.fromkeys("qm", 1 + away) | {"theta": 1.0} for away in (-0.1, 0.1) * 6 + (0,)]
    away = share * (0.1 * t.isf(5e-4, 12) * (1 + 1 / 13) ** 0.5 + 0.9 * relative + absolute)
    stored = {"q": 1 + away, "m": 1.0, "theta": 1.0}
    assert verification.is_another(stored, ends, dict.fromkeys(stored, (relative, absolute))) is (share < 1)


def test_beside_a_student_in_another_minimum_a_wrong_one_is_caught(stored, elsewhere):
    both = replace(TWO_ENDS, starts=("positional", "semantic"))
    wrong = train_students(both)[1]
    assert stored({both: [elsewhere, wrong | {"train_loss": 1.2 * wrong["train_loss"]}]}).mismatches


@pytest.mark.parametrize("share", [0.99, 1.01])
@pytest.mark.parametrize("others", [1e-6, 3e-4])
@pytest.mark.parametrize("number", [0, 1], ids=["stored", "recomputed"])
def test_neither_student_has_a_gradient_above_the_tolerance_or_twice_those_of_other_ends(number, others, share):
    stored, *ends = ({"q": 1 + 1e-3 * k, "m": 1.0, "theta": 1.0, "grad_norm": others} for k in range(4))
    (stored, ends[0])[number]["grad_norm"] = share * max(1e-4, 2 * others)
    assert verification.is_another(stored, ends, {"q": (0, 1e-2)}) is (share < 1)


def test_many_starts_in_one_valley_are_each_others_ends(stored):
    """The end points of a `ValleyCell` scatter: an end point among them passes, and one far above them does not."""
    valley = replace(grid("landscape", "smoke")[5], d=200, seed=1, count=8)  # at omega = 0.1, positional
    rows = kinds.compute_rows(valley)
    assert rows[1]["minimum"] != rows[0]["minimum"]
    swapped = [dict(row) for row in rows]
    for name in ("train_loss", "q", "m", "theta"):
        swapped[1][name] = rows[0][name]
    checked = stored({valley: swapped})
    assert checked.problem is None and [other.row for other in checked.other_minima] == [1]
    swapped[1]["train_loss"] *= 2
    assert stored({valley: swapped}).mismatches
