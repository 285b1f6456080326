"""Numbers of the pages on free energies and on the stability of message passing, by hand."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from attention_book.pages import free_energy, stability
from attention_book.pages.thresholds import breaking_shift
from attention_book.render.drawn import drawn
from attention_phases.errors import ResultError
from attention_phases.theory.branches import OWN


@pytest.fixture
def stored(monkeypatch):
    """Stored lines: with both branches at omega = 0.1, with the thresholds alone at 0.05; others cross below 0.6."""

    def line(cell):
        rows = [{"what": what, "alpha": 1.0, "q": 2.0} for what in ("semantic", "positional")]
        return rows + [{"what": "critical", "alpha": cell.task.omega, "alpha_error": 0.1}] * (cell.task.omega < 0.6)

    rows = [(0.1, "semantic", 7.0), (0.1, "positional", 7.0), (0.1, "critical", 7.0), (0.05, "critical", 7.0)]
    monkeypatch.setattr(
        free_energy, "experiment", lambda *_, **__: pd.DataFrame(rows, columns=["omega", "what", "alpha"])
    )
    monkeypatch.setattr(free_energy, "standard_line", line)


def test_lines_of_theory_that_are_not_stored_are_computed(stored):
    for omegas in ([0.1, 0.05, 0.3], [0.05, 0.3], [0.1]):
        lines = free_energy.theory_lines("paper", omegas)
        assert lines.groupby("omega")["what"].apply(set).to_dict() == {
            omega: {"semantic", "positional", "critical"} for omega in omegas
        }
        critical = lines[lines["what"] == "critical"].set_index("omega")["alpha"]
        assert critical.to_dict() == {omega: 7.0 if omega == 0.1 else omega for omega in omegas}
    assert free_energy.theory_lines("smoke", [0.1])["alpha"].max() == 1


@pytest.mark.parametrize("profile", ["paper", "smoke"])
def test_an_omega_at_which_no_losses_cross_is_named(stored, profile):
    with pytest.raises(ResultError, match=r"^no critical threshold found at omega = 0\.7$"):
        free_energy.theory_lines(profile, [0.1, 0.7])


@pytest.fixture
def borders():
    """At omega = 0.1 the positional minimum ends within the alphas, at 0.3 the semantic one begins."""
    rows = [
        (0.1, "critical", 0.7, 0.01),
        (0.1, "positional border", 1.4, 0.03),
        (0.3, "critical", 1.25, 0.01),
        (0.3, "semantic border", 0.8, 0.02),
    ]
    rows += [(omega, branch, alpha, np.nan) for omega in (0.1, 0.3) for branch in OWN for alpha in (0.2, 1.0, 2.0)]
    lines = pd.DataFrame(rows, columns=["omega", "what", "alpha", "alpha_error"])
    return lines.assign(train_loss=lines["alpha"], train_loss_error=0.0)


def test_where_minima_begin_and_end(borders):
    one, two = free_energy.ranges(borders).to_dict("records")
    assert (two["omega"], two["semantic_start"], two["semantic_start_error"]) == (0.3, 0.8, 0.02)
    assert (two["critical"], two["critical_error"]) == (1.25, 0.01)
    assert (two["critical_broken"], two["critical_broken_error"]) == breaking_shift("critical", 0.3)
    assert np.isnan([one["semantic_start"], two["positional_stop"], two["positional_stop_error"]]).all()
    assert (one["positional_stop"], one["positional_stop_error"]) == (1.4, 0.03)


def span(patch, axes):
    """Interval of x that a patch covers."""
    return patch.get_extents().transformed(axes.transData.inverted()).intervalx.tolist()


def test_minima_are_solid_and_shaded_where_they_are_not_the_lower_ones(borders):
    figure = free_energy.draw_free_energies(borders)
    lines = drawn(figure).query("`drawn as` == 'line'").groupby(["panel", "series"])["x"].apply(list)
    assert [lines[1, f"{branch} minimum"] for branch in OWN] == [[0.2, 1.0, 2.0], [0.2, 1.0]]
    assert [lines[2, f"{branch} minimum"] for branch in OWN] == [[1.0, 2.0], [0.2, 1.0, 2.0]]
    shades = [{patch.get_label().split()[0]: span(patch, axes) for patch in axes.patches} for axes in figure.axes]
    assert shades[0] == {"semantic": pytest.approx([0, 0.7]), "positional": pytest.approx([0.7, 1.4])}
    assert shades[1] == {"semantic": pytest.approx([0.8, 1.25]), "positional": pytest.approx([1.25, 2])}
    plt.close("all")


def test_rates_beside_the_prediction():
    # Two data sets on which a perturbation keeps 0.5 and 0.54 of its size in each iteration, at two places.
    iterations = np.arange(21)
    tables = [
        pd.DataFrame({"iteration": iterations, "distance": rate**iterations}).assign(alpha=alpha, seed=seed)
        for alpha in (1.5, 2.0)
        for seed, rate in enumerate((0.5, 0.54))
    ]
    table = pd.concat(tables, ignore_index=True).assign(what="contraction", omega=0.3)
    replicon = {"replicon": 0.24, "replicon_error": 0.01, "index": 3.0, "index_error": 0.5, "settled": True}
    replicons = {(0.3, 1.5): replicon, (0.3, 2.0): replicon | {"index": 0.99}}
    rates = stability.rates(table, {(0.1, 0.75): replicon} | replicons, damping=0.0)  # nothing settles at the first
    assert rates["measured"].to_list() == pytest.approx([0.52] * 2)
    assert rates["measured_error"].to_list() == pytest.approx([0.02] * 2)
    light, heavy = rates.to_dict("records")
    assert light["predicted"] == pytest.approx(0.24**0.5)  # undamped, a perturbation shrinks by the root of Lambda
    assert light["predicted_error"] == pytest.approx((0.25**0.5 - 0.23**0.5) / 2)
    assert light["sigma_off"] == pytest.approx((0.52 - 0.24**0.5) / (0.02**2 + light["predicted_error"] ** 2) ** 0.5)
    assert (light["replicon"], light["replicon_error"], light["index"], light["index_error"]) == (0.24, 0.01, 3.0, 0.5)
    nothing = [heavy[name] for name in ("replicon", "replicon_error", "predicted", "predicted_error", "sigma_off")]
    assert np.isnan(nothing).all() and heavy["index"] == 0.99 and heavy["measured"] > 0  # there is no mean


def test_a_factor_without_a_prediction_is_not_drawn():
    rates = pd.DataFrame(
        {
            "predicted": [0.5, np.nan],
            "predicted_error": [0.1, np.nan],
            "measured": [0.5, 0.9],
            "measured_error": [0.01, 0.01],
            "omega": 0.3,
            "alpha": [1.5, 2.0],
            "index": [3.0, 0.9],
        }
    )
    curves = {"a": (pd.DataFrame({"seed 0": [1.0, 0.5]}), np.array([1.0, 0.5]))}
    bottom = stability.draw_contraction(curves, rates).axes[1]
    assert [text.get_text() for text in bottom.texts] == ["0.3, 1.5"]
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
    (distances,) = stability.settled(table, {(0.3, 2.0, "semantic"): (0.25, 0.01)}).to_dict("records")
    assert (distances["branch"], distances["distance"], distances["distance_error"]) == ("semantic", 0.25, 0.01)
    assert (distances["copies"], distances["copies_low"], distances["copies_high"]) == (0.1, 0.0, 0.3)
    assert (distances["copies_jumping"], distances["copies_jumping_low"], distances["copies_jumping_high"]) == (
        0.4,
        0.2,
        0.6,
    )
    assert (distances["settled"], distances["data_sets"]) == (2, 3)


def test_replicons_by_number_of_points(monkeypatch):
    def tail(task, alpha, overlaps, points, scrambles):
        replicon = task.omega + alpha + 1 / points
        return {"replicon": replicon, "replicon_error": 1 / scrambles, "index": points, "index_error": 0.5, "more": 0}

    monkeypatch.setattr(stability, "tail", tail)
    one, two = stability.by_points({(0.3, 2.0, "semantic"): None}, [4, 8], 16).to_dict("records")
    where = {"branch": "semantic", "omega": 0.3, "alpha": 2.0}
    assert one == where | {"points": 4, "replicon": 2.55, "replicon_error": 1 / 16, "index": 4, "index_error": 0.5}
    assert (two["points"], two["replicon"]) == (8, 2.425)
