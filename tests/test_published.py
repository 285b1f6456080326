"""The paper's numbers obey the paper's statements; the comparison's arithmetic on known examples."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_phases import BadInput
from attention_phases import published as paper


@pytest.mark.parametrize("thresholds", [paper.CRITICAL_ALPHA, paper.LINEAR_ALPHA])
def test_thresholds_grow_with_omega(thresholds):
    assert all(a < b and thresholds[a].value < thresholds[b].value for a, b in pairwise(thresholds))


def test_transition_comes_before_the_linear_baseline_is_beaten():
    shared = paper.CRITICAL_ALPHA.keys() & paper.LINEAR_ALPHA.keys()
    assert {0.0, 0.3} <= shared
    assert all(paper.CRITICAL_ALPHA[omega].value < paper.LINEAR_ALPHA[omega].value for omega in shared)


def test_at_alpha_two_the_semantic_minimum_wins_and_beats_the_baseline():
    semantic, positional = paper.THEORY["semantic"], paper.THEORY["positional"]
    assert semantic["train_loss"].value < positional["train_loss"].value
    assert semantic["test_mse"].value < paper.EXPERIMENT[2.0]["linear_mse"].value < positional["test_mse"].value


def test_overlap_of_the_semantic_minimum_is_a_cosine():
    semantic = paper.THEORY["semantic"]
    assert 0 < semantic["theta"].value ** 2 / (0.25 * semantic["q"].value) < 1  # rho = sigma^2 = 0.25


def test_published_theory_and_experiment_describe_one_minimum():
    """A misread column or a lost power of sigma would show: they agree to a few per cent."""
    theory, experiment = paper.THEORY["positional"], paper.EXPERIMENT[2.0]
    assert theory["m"].value / 0.25 == pytest.approx(experiment["m/sigma^2"].value, rel=0.03)
    assert theory["test_mse"].value == pytest.approx(experiment["test_mse"].value, rel=0.03)
    assert theory["train_loss"].value == pytest.approx(experiment["train_loss"].value, rel=0.03)


def test_finite_size_runs_approach_their_limit_from_one_side():
    for name, sign in {"theta/sigma^2": 1, "m/sigma^2": 1, "test_mse": -1}.items():
        values = [sign * each.value for each in paper.SCALING[name].values()]
        assert values == sorted(values)


@pytest.mark.parametrize(
    "value, error, text",
    [
        (1.24567, 0.00123, "1.2457(12)"),
        (1.24567, 0.000996, "1.2457(10)"),
        (12.345, 0.1, "12.35(10)"),
        (0.00139712, 2.34e-7, "0.00139712(23)"),
        (-3.0, 1.5, "-3.0(1.5)"),
        (1234.4, 31.6, "1234(32)"),
        (1234.4, 316.0, "1234(320)"),
    ],
)
def test_values_are_shown_to_the_place_of_their_error(value, error, text):
    assert paper.with_error(value, error) == text


@given(st.floats(-1e3, 1e3), st.floats(1e-9, 1e2))
def test_rounding_never_moves_a_value_by_more_than_a_nineteenth_of_its_error(value, error):
    shown, digits = paper.with_error(value, error).rstrip(")").split("(")
    unit = 1 if "." in digits else 10.0 ** -len(shown.partition(".")[2])
    shown, shown_error = float(shown), float(digits) * unit
    assert shown_error == pytest.approx(error, rel=0.051)
    assert abs(shown - value) <= 0.0503 * error + 1e-12  # half a place; the error is at least 9.95 places


def test_compare_measures_the_difference_in_error_bars():
    exact = paper.Published("1.241", "Fig. 3")
    noisy = paper.Published("2.0", "Table 1", stderr=0.3)
    table = paper.compare([("alpha_c", exact, 1.236, 0.002), ("distance", noisy, 3.0, 0.4)])
    assert table.to_dict("records") == [
        {
            "quantity": "alpha_c",
            "published": "1.241",
            "ours (error)": "1.2360(20)",
            "difference": "-0.4 %",
            "in errors": "-2.5",
            "source": "Fig. 3",
        },
        {
            "quantity": "distance",
            "published": "2.00(30)",
            "ours (error)": "3.00(40)",
            "difference": "+50.0 %",
            "in errors": "+2.0",
            "source": "Table 1",
        },
    ]


@pytest.mark.parametrize("value, error", [(1.0, 0.0), (1.0, -0.1), (1.0, float("nan")), (float("nan"), 0.1)])
def test_a_comparison_needs_a_value_and_an_error_bar(value, error):
    with pytest.raises(BadInput):
        paper.compare([("q", paper.THEORY["semantic"]["q"], value, error)])


def test_the_last_printed_digit_tells_the_rounding():
    number = paper.Published("0.0500", "somewhere")
    assert number.value == 0.05 and number.rounding == pytest.approx(1e-4 / 12**0.5)
    (row,) = paper.compare([("q", number, 0.0501, 1e-9)]).to_dict("records")
    assert row["published"] == "0.0500" and row["in errors"] == f"{12**0.5:+.1f}"
