"""Comparisons with the paper: differences, errors, verdicts and reasons, by hand."""

import numpy as np
import pytest

from attention_book import published as paper
from attention_book.published import COLUMNS, LIMIT, REASONS, Comparison, compare
from attention_phases import BadInput
from attention_phases.measured import Measured

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
    assert row["limit"] == pytest.approx(LIMIT) and row["verdict"] == "agrees" and row["reason"] is None
    row = one(NOISY, 3.0, 0.4, "transformers", 10, "unknown")  # all three errors are in the difference
    assert row["sigma"] == pytest.approx(1 / (0.16 + 0.09 + 0.01 / 12) ** 0.5)
    assert row["published_error"] == 0.3 and row["limit"] == pytest.approx(LIMIT)


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
    total, known = (5 * error**2 + ROUNDING**2) ** 0.5, (error**2 + ROUNDING**2) ** 0.5
    assert row["sigma"] == pytest.approx(0.65 / known)
    assert row["limit"] == pytest.approx(3 * total / known)
    assert row["verdict"] == "agrees" and one(MEAN, 2.68, error, "students", 120, "instances")["verdict"] == "differs"


def test_what_is_not_the_same_quantity_is_not_compared():
    row = one(THEORY, 1.2411, 0.002, comparable=False, reason="definition")
    assert row["verdict"] == "not comparable" and row["reason"] == "definition"
    assert row["sigma"] == pytest.approx(1e-4 / (4e-6 + 1e-6 / 12) ** 0.5)


@pytest.mark.parametrize(
    ("value", "error", "more"),
    [
        *((1.0, error, {}) for error in (0.0, -0.1, float("nan"))),
        (float("nan"), 0.1, {}),
        (1.0, 0.1, {"reason": "chance"}),
        (1.0, 0.1, {"evidence": "guess"}),
    ],
)
def test_a_comparison_needs_a_value_an_error_bar_and_known_names(value, error, more):
    with pytest.raises(BadInput):
        one(THEORY, value, error, **more)


def test_every_reason_is_explained():
    assert all(text.startswith("**") and text.rstrip().endswith(".") for text in REASONS.values())
