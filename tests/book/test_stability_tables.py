"""Tables of the landscape and of message passing, by hand."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from attention_book.figures import stability
from attention_book.pages.thresholds import breaking_shift
from attention_book.tables import stability as tables
from attention_phases.errors import ResultError


@pytest.fixture
def stored(monkeypatch):
    """Stored lines: with both branches at omega = 0.1, with the thresholds alone at 0.05; others cross below 0.6."""

    def line(cell):
        rows = [{"what": what, "alpha": 1.0, "q": 2.0} for what in ("semantic", "positional")]
        return rows + [{"what": "critical", "alpha": cell.task.omega, "alpha_error": 0.1}] * (cell.task.omega < 0.6)

    rows = [(0.1, "semantic", 7.0), (0.1, "positional", 7.0), (0.1, "critical", 7.0), (0.05, "critical", 7.0)]
    monkeypatch.setattr(tables, "experiment", lambda *_, **__: pd.DataFrame(rows, columns=["omega", "what", "alpha"]))
    monkeypatch.setattr(tables, "standard_line", line)


def test_lines_of_theory_that_are_not_stored_are_computed(stored):
    for omegas in ([0.1, 0.05, 0.3], [0.05, 0.3], [0.1]):
        lines = tables.theory_lines("paper", omegas)
        assert lines.groupby("omega")["what"].apply(set).to_dict() == {
            omega: {"semantic", "positional", "critical"} for omega in omegas
        }
        critical = lines[lines["what"] == "critical"].set_index("omega")["alpha"]
        assert critical.to_dict() == {omega: 7.0 if omega == 0.1 else omega for omega in omegas}
    assert tables.theory_lines("smoke", [0.1])["alpha"].max() == 1


@pytest.mark.parametrize("profile", ["paper", "smoke"])
def test_an_omega_at_which_no_losses_cross_is_named(stored, profile):
    with pytest.raises(ResultError, match=r"^no critical threshold found at omega = 0\.7$"):
        tables.theory_lines(profile, [0.1, 0.7])


def test_where_minima_begin_and_end():
    lines = pd.DataFrame({"what": ["critical", "positional"], "alpha": [1.25, 2.0], "alpha_error": [0.01, np.nan]})
    by_omega = {
        0.3: (lines, {"semantic": (0.8, np.inf), "positional": (0.1, np.inf)}, {"semantic": 0.02, "positional": None}),
        0.45: (lines, {"semantic": (0.0, np.inf), "positional": (0.1, 1.9)}, {"semantic": None, "positional": 0.03}),
    }
    one, two = tables.ranges(by_omega).to_dict("records")
    assert (one["omega"], one["semantic_start"], one["semantic_start_error"]) == (0.3, 0.8, 0.02)
    assert (one["critical"], one["critical_error"]) == (1.25, 0.01)
    assert (one["critical_broken"], one["critical_broken_error"]) == breaking_shift("critical", 0.3)
    assert np.isnan(one["positional_stop"]) and np.isnan(two["semantic_start"]) and np.isnan(two["critical_broken"])
    assert (two["positional_stop"], two["positional_stop_error"]) == (1.9, 0.03)


def test_metastable_ranges():
    lines = [
        (0.1, "positional", 0.2, np.nan), (0.1, "positional", 1.0, np.nan), (0.1, "positional border", 1.4, 0.03),
        (0.3, "positional", 0.1, np.nan), (0.3, "positional", 2.0, np.nan), (0.3, "semantic border", 0.8, 0.02),
    ]  # fmt: skip
    found = tables.metastable(pd.DataFrame(lines, columns=["omega", "what", "alpha", "alpha_error"]))
    rows, ranges, errors = found[0.1]
    assert rows["alpha"].to_list() == [0.2, 1.0, 1.4] and errors == {"semantic": None, "positional": 0.03}
    assert ranges == {"semantic": (0.0, np.inf), "positional": (0.2, 1.4)}
    assert found[0.3][1] == {"semantic": (0.8, np.inf), "positional": (0.1, np.inf)}


def test_rates_beside_the_prediction():
    # Two data sets on which a perturbation keeps 0.5 and 0.54 of its size in each iteration, at two places.
    table = pd.DataFrame([
        {"what": "contraction", "omega": 0.3, "alpha": alpha, "seed": seed, "iteration": k, "distance": rate**k}
        for alpha in (1.5, 2.0) for seed, rate in enumerate((0.5, 0.54)) for k in range(21)
    ])  # fmt: skip
    replicon = {"replicon": 0.24, "replicon_error": 0.01, "index": 3.0, "index_error": 0.5, "settled": True}
    replicons = {(0.3, 1.5): replicon, (0.3, 2.0): replicon | {"index": 0.99}}
    rates = tables.rates(table, {(0.1, 0.75): replicon} | replicons, damping=0.0)  # nothing settles at the first place
    assert rates["measured"].to_list() == pytest.approx([0.52] * 2)
    assert rates["measured_error"].to_list() == pytest.approx([0.02] * 2)
    light, heavy = tables.rates_and_replicons(rates, replicons).to_dict("records")
    assert light["predicted"] == pytest.approx(0.24**0.5)  # undamped, a perturbation shrinks by the root of Lambda
    assert light["predicted_error"] == pytest.approx((0.25**0.5 - 0.23**0.5) / 2)
    assert light["sigma_off"] == pytest.approx((0.52 - 0.24**0.5) / (0.02**2 + light["predicted_error"] ** 2) ** 0.5)
    assert (light["replicon"], light["replicon_error"], light["index"], light["index_error"]) == (0.24, 0.01, 3.0, 0.5)
    nothing = [heavy[name] for name in ("replicon", "replicon_error", "predicted", "predicted_error", "sigma_off")]
    assert np.isnan(nothing).all() and heavy["index"] == 0.99 and heavy["measured"] > 0  # there is no mean


def test_a_factor_without_a_prediction_is_not_drawn():
    rates = pd.DataFrame({
        "predicted": [0.5, np.nan], "predicted_error": [0.1, np.nan], "measured": [0.5, 0.9],
        "measured_error": [0.01, 0.01], "label": ["a", "b"], "jumps": [False, True],
    })  # fmt: skip
    curves = {"a": (pd.DataFrame({"seed 0": [1.0, 0.5]}), np.array([1.0, 0.5]))}
    bottom = stability.contraction(curves, rates).axes[1]
    assert [each.get_text() for each in bottom.texts] == ["a"]
    assert bottom.get_xlim()[1] == pytest.approx(0.51)
    plt.close("all")


def test_distances_that_copies_keep():
    def row(what, seed, **values):
        return {"omega": 0.3, "alpha": 2.0, "start": "semantic", "what": what, "seed": seed} | values

    copies = [
        row("copies", seed, damping=damping, width=width, apart=apart)
        for width, values in ((0.0, (0.0, 0.1, 0.3)), (0.1, (0.4, 0.2, 0.6)))
        for damping in (0.7, 0.0)
        for seed, apart in enumerate(values if damping else (9.0, 9.0, 9.0))
    ]
    ends = [row("settled", seed, settled=settled) for seed, settled in enumerate((1, 0, 1))]
    elsewhere = [ends[0] | other for other in ({"omega": 0.2}, {"alpha": 1.0}, {"start": "positional"})]
    table = pd.DataFrame([*copies, *ends, *elsewhere])
    (found,) = tables.settled(table, {(0.3, 2.0, "semantic"): (0.25, 0.01)}).to_dict("records")
    assert (found["branch"], found["distance"], found["distance_error"]) == ("semantic", 0.25, 0.01)
    assert (found["copies"], found["copies_low"], found["copies_high"]) == (0.1, 0.0, 0.3)
    assert (found["copies_jumping"], found["copies_jumping_low"], found["copies_jumping_high"]) == (0.4, 0.2, 0.6)
    assert (found["settled"], found["data_sets"]) == (2, 3)


def test_replicons_by_number_of_points(monkeypatch):
    def tail(task, alpha, overlaps, points, scrambles):
        replicon = task.omega + alpha + 1 / points
        return {"replicon": replicon, "replicon_error": 1 / scrambles, "index": points, "index_error": 0.5, "more": 0}

    monkeypatch.setattr(tables, "tail", tail)
    one, two = tables.by_points({(0.3, 2.0, "semantic"): None}, [4, 8], 16).to_dict("records")
    where = {"branch": "semantic", "omega": 0.3, "alpha": 2.0}
    assert one == where | {"points": 4, "replicon": 2.55, "replicon_error": 1 / 16, "index": 4, "index_error": 0.5}
    assert (two["points"], two["replicon"]) == (8, 2.425)
