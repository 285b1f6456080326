"""The paper's numbers obey the paper's statements; the comparison's arithmetic on known examples."""

import json

import numpy as np
import pytest
from cases import cases
from hypothesis import given
from hypothesis import strategies as st
from scorecard import EXPLAINED

from attention_book import published as paper
from attention_book.published import COLUMNS, REASONS, Comparison, compare
from attention_phases import BadInput
from attention_phases.measured import UNKNOWN, Measured, with_error


@pytest.mark.parametrize("value, error, text", cases("errors"))
def test_values_are_shown_to_the_place_of_their_error(value, error, text):
    value, error = float(value), float(error)
    assert with_error(value, error) == text
    assert Measured(value, error).text == text.replace("-", "−")


def test_no_value_is_none():
    assert UNKNOWN.text == Measured.mean([]).text == "none"


@given(st.floats(-1e3, 1e3), st.floats(1e-9, 1e2))
def test_rounding_never_moves_a_value_by_more_than_a_nineteenth_of_its_error(value, error):
    shown, digits = with_error(value, error).rstrip(")").split("(")
    unit = 1 if "." in digits else 10.0 ** -len(shown.partition(".")[2])
    shown, shown_error = float(shown), float(digits) * unit
    assert shown_error == pytest.approx(error, rel=0.051)
    assert abs(shown - value) <= 0.0503 * error + 1e-12  # half a place; the error is at least 9.95 places


def test_the_last_printed_digit_tells_the_rounding():
    number = paper.Published("0.0500", "somewhere")
    assert number.value == 0.05 and number.rounding == pytest.approx(1e-4 / 12**0.5)
    assert paper.Published("158.9", "somewhere").rounding == pytest.approx(0.1 / 12**0.5)


def all_numbers():
    """Every published number as words: table, key, text, and the text of the spread."""
    for name, known in (("alpha_c", paper.CRITICAL_ALPHA), ("alpha_l", paper.LINEAR_ALPHA)):
        yield from ((name, f"{omega:g}", number.text) for omega, number in known.items())
    nested = {"theory": paper.FIG2_THEORY, "experiment": paper.FIG2_STUDENTS, "scaling": paper.SCALING}
    for name, known in nested.items():
        for outer, rows in known.items():
            yield from ((name, f"{outer}.{inner}", number.text) for inner, number in rows.items())
    for variant, rows in paper.HISTOGRAM.items():
        for name, (mean, spread) in rows.items():
            yield "counting", f"{variant}.{name.replace(' ', '_')}", mean.text, spread.text


def test_a_second_transcription_is_the_same():
    """That second one, from the paper and its result tables, has another order and form."""
    again = set(cases("published"))
    numbers = list(all_numbers())
    assert len(numbers) == len(set(numbers)) == 70
    assert set(numbers) == again


def test_published_means_say_over_how_many_runs():
    assert {number.n for rows in paper.FIG2_STUDENTS.values() for number in rows.values()} == {24}
    assert {number.n for rows in paper.SCALING.values() for number in rows.values()} == {30}
    assert {number.n for number in (*paper.CRITICAL_ALPHA.values(), *paper.LINEAR_ALPHA.values())} == {None}
    mean, spread = paper.HISTOGRAM["semantic"]["start to trained"]
    assert mean.n == spread.n == 10
    assert mean.stderr == pytest.approx(8.9 / 10**0.5) and spread.stderr == pytest.approx(8.9 / 18**0.5)
    # The accuracies' standard deviation has n in the denominator.
    assert paper.HISTOGRAM["semantic"]["accuracy"][0].stderr == pytest.approx(0.00117 / 3)


# Comparisons


THEORY = paper.Published("1.241", "Fig. 3")
MEAN = paper.Published("2.00", "Fig. 7", n=30)  # without its error
NOISY = paper.Published("2.0", "Table 1", stderr=0.3, n=10)
ROUNDING = 0.01 / 12**0.5


def one(published, value, error, evidence="theory", n=16, reason="quadrature", **more):
    ours = Measured(value, error)
    comparison = Comparison("critical", {"omega": 0.3}, published, ours, evidence, n, reason, **more)
    (row,) = compare([comparison]).to_dict("records")
    return row


def test_a_comparison_by_hand():
    row = one(THEORY, 1.236, 0.002)
    assert list(row) == COLUMNS
    assert row["published"] == "1.241" and row["published_value"] == 1.241 and row["source"] == "Fig. 3"
    assert np.isnan(row["published_error"]) and np.isnan(row["published_n"])
    assert row["rounding"] == pytest.approx(0.001 / 12**0.5)
    assert (row["value"], row["error"], row["n"], row["evidence"]) == (1.236, 0.002, 16, "theory")
    assert row["difference"] == pytest.approx(-0.005) and row["percent"] == pytest.approx(-0.5 / 1.241)
    assert row["sigma"] == pytest.approx(-0.005 / (4e-6 + 1e-6 / 12) ** 0.5)  # standard deviations, not variances
    assert row["verdict"] == "agrees" and row["reason"] is None
    row = one(NOISY, 3.0, 0.4, "transformers", 10, "cause unknown")  # all three errors are in the difference
    assert row["sigma"] == pytest.approx(1 / (0.16 + 0.09 + 0.01 / 12) ** 0.5)
    assert row["published_error"] == 0.3


@pytest.mark.parametrize(
    "errors, verdict", [(2.99, "agrees"), (-2.99, "agrees"), (3.01, "differs"), (-3.01, "differs")]
)
def test_three_errors_decide(errors, verdict):
    error = np.hypot(0.002, 0.001 / 12**0.5)
    row = one(THEORY, 1.241 + errors * error, 0.002)
    assert row["sigma"] == pytest.approx(errors) and row["verdict"] == verdict
    assert row["reason"] == ("quadrature" if verdict == "differs" else None)


def test_a_mean_whose_scatter_is_not_given_is_taken_to_scatter_as_ours():
    """Ours over 120 instances has half the error that 30 would have: both sides together have sqrt(5) of ours."""
    error = 0.1
    row = one(MEAN, 2.65, error, "students", 120, "instances")
    assert row["sigma"] == pytest.approx(0.65 / (5 * error**2 + ROUNDING**2) ** 0.5)
    assert row["verdict"] == "agrees" and one(MEAN, 2.68, error, "students", 120, "instances")["verdict"] == "differs"


@pytest.mark.parametrize(("value", "error", "more"), cases("incomparable"))
def test_a_comparison_needs_a_value_an_error_bar_and_known_names(value, error, more):
    with pytest.raises(BadInput):
        one(THEORY, float(value), float(error), **json.loads(more))


def test_every_reason_is_explained():
    assert tuple(EXPLAINED) == REASONS
    assert all(text.startswith("**") and text.rstrip().endswith(".") for text in EXPLAINED.values())
