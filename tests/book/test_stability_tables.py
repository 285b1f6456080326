"""Numbers of the pages on free energies and on replica symmetry, by hand."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from cells import cell

from attention_book.analysis import thresholds as lines_of_theory
from attention_book.analysis.thresholds import borders_of, ground_states, theory_lines, with_one_step
from attention_book.paths import DATA
from attention_book.store.parquet import load
from attention_phases import Task
from attention_phases.errors import ResultError
from attention_phases.theory.branches import OWN_OVERLAP


@pytest.fixture
def stored(monkeypatch):
    """Stored lines: with both branches at omega = 0.1, with the thresholds alone at 0.05; others cross below 0.6."""

    def line(cell):
        rows = [{"what": what, "alpha": 1.0, "q": 2.0} for what in ("semantic", "positional")]
        return rows + [{"what": "critical", "alpha": cell.task.omega, "alpha_error": 0.1}] * (cell.task.omega < 0.6)

    rows = [(0.1, "semantic", 7.0), (0.1, "positional", 7.0), (0.1, "critical", 7.0), (0.05, "critical", 7.0)]
    known = pd.DataFrame(rows, columns=["omega", "what", "alpha"])
    monkeypatch.setattr(lines_of_theory, "read", lambda *_, **__: known)
    monkeypatch.setattr(lines_of_theory, "standard_line", line)


def test_lines_of_theory_that_are_not_stored_are_computed(stored):
    for omegas in ([0.1, 0.05, 0.3], [0.05, 0.3], [0.1]):
        lines = theory_lines("paper", omegas)
        assert lines.groupby("omega")["what"].apply(set).to_dict() == {
            omega: {"semantic", "positional", "critical"} for omega in omegas
        }
        critical = lines[lines["what"] == "critical"].set_index("omega")["alpha"]
        assert critical.to_dict() == {omega: 7.0 if omega == 0.1 else omega for omega in omegas}
    assert theory_lines("smoke", [0.1])["alpha"].max() == 1


@pytest.mark.parametrize("profile", ["paper", "smoke"])
def test_an_omega_at_which_no_losses_cross_is_named(stored, profile):
    with pytest.raises(ResultError, match=r"^no critical threshold found at omega = 0\.7$"):
        theory_lines(profile, [0.1, 0.7])


@pytest.fixture
def borders():
    """At omega = 0.1 the positional minimum ends within the alphas, at 0.3 the semantic one begins."""
    rows = [
        (0.1, "critical", 0.7, 0.01),
        (0.1, "positional border", 1.4, 0.03),
        (0.3, "critical", 1.25, 0.01),
        (0.3, "semantic border", 0.8, 0.02),
    ]
    rows += [
        (omega, branch, alpha, np.nan) for omega in (0.1, 0.3) for branch in OWN_OVERLAP for alpha in (0.2, 1.0, 2.0)
    ]
    lines = pd.DataFrame(rows, columns=["omega", "what", "alpha", "alpha_error"])
    return lines.assign(train_loss=lines["alpha"], train_loss_error=0.0)


def test_where_minima_begin_and_end(borders):
    ranges = cell("fig02_slice", "ranges", lines=borders, borders=borders_of(borders), task=Task())["ranges"]
    one, two = ranges.reset_index().to_dict("records")
    assert (two["omega"], two["semantic_start"], two["semantic_start_error"]) == (0.3, 0.8, 0.02)
    assert (two["critical"], two["critical_error"]) == (1.25, 0.01)
    shift = with_one_step(load(DATA / "one_step.parquet")).loc[0.3]
    assert (two["critical_broken"], two["critical_broken_error"]) == (shift["shift"], shift["shift_error"]) != (0, 0)
    assert np.isnan([one["semantic_start"], two["positional_stop"], two["positional_stop_error"]]).all()
    assert (one["positional_stop"], one["positional_stop_error"]) == (1.4, 0.03)
    given = {"theory_lines": lambda *_: borders, "profile": "", "omegas": (), "task": Task()}
    drawn = cell("fig02_slice", "free_energies", **given)["free_energies"]
    first, second = ({line.get_label(): [*line.get_xdata()] for line in panel.lines} for panel in drawn)
    assert first["positional minimum"] == [0.2, 1.0, 1.4] and second["semantic minimum"] == [0.8, 1.0, 2.0]


EXPECTED = pd.DataFrame(
    {"replicon": 0.24, "replicon_error": 0.01, "distance": 0.25, "distance_error": 0.01},
    pd.MultiIndex.from_product([[0.3], [1.5, 2.0], ["semantic"]], names=["omega", "alpha", "branch"]),
)


PLACE = ["omega", "alpha", "branch"]


def run(what, alpha, seed, **values):
    return {"omega": 0.3, "alpha": alpha, "start": "semantic", "what": what, "seed": seed} | values


def shrinking(alpha, seed, rate):
    """A perturbation that keeps this share of its size in each iteration from the tenth on, and is halved before."""
    more = {"damping": np.nan, "width": np.nan, "apart": np.nan}
    return [run("contraction", alpha, seed, iteration=k, distance=rate**k / 2 ** (k >= 10), **more) for k in range(21)]


def on_data(rows, damping):
    """The table of message passing on data, from rows of its experiment."""
    run, ran = pd.DataFrame(rows).rename(columns={"start": "branch"}), [*EXPECTED.index]
    return cell("stability", "tested", run=run.assign(d=1000), ran=ran, theory=EXPECTED, DAMPING=damping, PLACE=PLACE)[
        "tested"
    ]


def test_rates_beside_the_prediction():
    rows = [*shrinking(1.5, 0, 0.5), *shrinking(2.0, 0, 0.5), *shrinking(2.0, 1, 0.54)]  # on one data set, on two
    alone, row = on_data(rows, damping=0.0).reset_index().to_dict("records")
    assert (row["measured"], row["measured_error"]) == (pytest.approx(0.52), pytest.approx(0.02))
    assert row["predicted"] == pytest.approx(0.24**0.5)  # undamped, a perturbation shrinks by the root of Lambda
    assert row["predicted_error"] == pytest.approx((0.25**0.5 - 0.23**0.5) / 2)
    assert np.isnan([alone[name] for name in ("measured", "measured_error", "predicted", "predicted_error")]).all()
    assert (row["replicon"], row["replicon_error"], row["distance"], row["distance_error"]) == (0.24, 0.01, 0.25, 0.01)


def test_distances_that_copies_keep():
    rows = [
        run("copies", 2.0, seed, damping=damping, width=width, apart=apart)
        for width, values in ((0.0, (0.0, 0.1, 0.3)), (0.1, (0.4, 0.2, 0.6)))
        for damping in (0.7, 0.0)
        for seed, apart in enumerate(values if damping else (9.0, 9.0, 9.0))
    ]
    elsewhere = [
        rows[6] | other | {"apart": 5.0} for other in ({"omega": 0.2}, {"alpha": 1.0}, {"start": "positional"})
    ]
    nowhere, row = on_data([*rows, *elsewhere, *shrinking(1.5, 0, 0.5)], damping=0.7).reset_index().to_dict("records")
    kept = [row[f"copies_jumping{part}"] for part in ("", "_low", "_high")]
    assert kept == [0.4, 0.2, 0.6] and np.isnan(nowhere["copies_jumping"])


BROKEN = {"what": ["semantic", "positional"], "reason": ["", "no maximum"]}
SHIFTED = {"alpha": 0.75, "q0": 1, "q1": 2, "y": 3, "phi": 0.002, "phi_error": 0, "shift": 4e-6, "shift_error": 1e-6}


def stored_tables(name, *_, **__):
    """Both branches at omega = 0.1 and at 0.05, which the page leaves out; message passing at one place."""
    if name == "one_step":
        return pd.concat([pd.DataFrame(BROKEN).assign(**SHIFTED, omega=omega) for omega in (0.05, 0.1)])
    return pd.DataFrame([run("copies", 2.0, 0)])


def test_a_distance_below_those_tried_is_none():
    solution = SimpleNamespace(replicon=0.3, stderr={"replicon": 0.02}, overlaps=None)
    distances = np.array([1.0, 0.5, 0.25])
    gains = {0.75: np.array([[0.5, 1.0, 2.0]] * 4), 2.0: np.array([[0.5, 0.6, 0.7]] * 4)}
    rows = cell(
        "stability",
        "theory",
        read=stored_tables,
        solve=lambda *_: solution,
        gains=lambda task, alpha, *_: (distances, gains[alpha]),
        profile="",
        points=0,
        scrambles=0,
    )["theory"]
    assert [*rows.index] == [(0.1, 0.75, "positional"), (0.1, 0.75, "semantic"), (0.3, 2.0, "semantic")]
    settling, _, close = rows.to_dict("records")
    assert (settling["distance"], settling["replicon"], settling["replicon_error"]) == (pytest.approx(0.5), 0.3, 0.02)
    assert np.isnan(close["distance"])


def test_what_breaking_adds_where_it_is_known():
    states = ground_states(stored_tables("one_step")).reset_index().set_index(PLACE)
    places = EXPECTED.iloc[[0, 0]].set_axis(states.index[-2:])
    rows = cell("stability", "critical", one_step=states.iloc[-2:], theory=places, glue=lambda *_, **__: None)[
        "critical"
    ]
    unknown, moved = rows.reset_index().to_dict("records")
    assert [row["branch"] for row in (unknown, moved)] == ["positional", "semantic"] and np.isnan(unknown["gained"])
    assert (moved["gained"], moved["gained_error"]) == (pytest.approx(2e-3), pytest.approx(5e-4))
