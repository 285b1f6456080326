"""The authors' published tables: which files they are, their units, and differences as standard normal numbers."""

import json
from hashlib import sha256

import authors_tables as authors
import numpy as np
import pandas as pd
import pytest
from cells import stored
from scipy.stats import norm, t

from attention_book.analysis import beside_published as tables
from attention_book.command_line.main import main
from attention_book.paths import stored_table
from attention_book.published import THRESHOLDS, Published
from attention_book.store.parquet import load
from attention_phases.errors import BadInput, StoreError
from attention_phases.measured import Measured

PAGE = "published_tables"
CELL = {"sigma": 0.5, "omega": 0.3, "attention_lmbda": 0.01, "alpha": 1.5, "d": 100, "informed": True}


@pytest.fixture(scope="module")
def table():
    return load(stored_table(PAGE))


@pytest.fixture(scope="module")
def means():
    return stored(PAGE, "means")["gd"]


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """Small made-up files in the place of the known ones."""
    (tmp_path / "empirics").mkdir()
    for name in authors.TABLE_FILES:
        (tmp_path / "empirics" / name).write_text(f"made up,{name}\n", encoding="utf-8")
    digests = {name: sha256((tmp_path / "empirics" / name).read_bytes()).hexdigest() for name in authors.TABLE_FILES}
    monkeypatch.setattr(authors, "TABLE_FILES", digests)
    return tmp_path


def test_known_files_are_found_and_others_refused_in_a_line(checkout, capsys):
    assert {path.name for path in authors.find(checkout, authors.TABLE_FILES).values()} == authors.TABLE_FILES.keys()
    scaling = checkout / "empirics" / "results_scaling.csv"
    scaling.write_text("another\n", encoding="utf-8")
    with pytest.raises(BadInput, match=r"results_scaling\.csv': must be as at commit 0b867fa"):
        authors.find(checkout, authors.TABLE_FILES)
    scaling.unlink()
    assert main(["published", str(checkout)]) == 2
    complaint = capsys.readouterr().err
    assert complaint.count("\n") == 1 and "it has no results_scaling.csv" in complaint


def test_units_are_ours():
    means = {"linear_gen_error_mean": 1.0, "attention_gen_error_mean": 2.0, "attention_train_error_mean": 300.0}
    overlaps = {"attention_mag_mean": 0.5, "attention_theta_mean": 0.8}
    frame = pd.DataFrame([CELL | means | overlaps])
    rows = authors._in_our_units(authors.TABLES[0], frame, frame).set_index("quantity")["published"]
    assert rows.to_dict() == {"linear_mse": 1, "test_mse": 2, "train_loss": 3, "m": 0.5, "theta": pytest.approx(0.2)}


def test_squares_of_two_columns_do_not_depend_on_their_rotation():
    runs = np.random.default_rng(1).normal(size=(10, 2))
    squares = []
    for angle in (0.0, 0.7):
        turned = np.abs(runs @ [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
        columns = {f"attention_{name}_max": turned.max(1) for name in ("mag", "thet")}
        columns |= {f"attention_{name}_min": turned.min(1) for name in ("mag", "thet")}
        columns |= dict.fromkeys([f"{column}_mean" for column in tables.LOSSES.values()], 0.0)
        values = pd.DataFrame(columns)
        means, spreads = (pd.DataFrame([CELL | dict(row)]) for row in (values.mean(), values.std()))
        rows = authors._in_our_units(authors.TABLES[3], means, spreads).set_index("quantity")["published"]
        squares.append(rows[["m^2", "theta^2"]].to_numpy())
    expected = (runs**2).sum(1).mean() * np.array([1, 0.5**4])
    np.testing.assert_allclose(squares, [expected, expected])


def test_curves_of_theory_are_compared_in_our_units():
    """Made-up curves that are the rule's, but for a test error of both tokens, signs and a V too large by a tenth."""
    curve, alphas = authors.CURVES["0.3"], [1.25, 2.0]
    stored = load(stored_table("published_rule")).query("what == 'semantic' and omega == 0.3")
    stored = stored[stored["alpha"].isin(alphas)]
    theirs = stored.pivot(index="alpha", columns="quantity", values="rule").reset_index()
    theirs = theirs.assign(V=1.1 * theirs["V"], theta=-theirs["theta"], Phi=-theirs["train_loss"], m=1e-9)
    theirs["mse"] = 2 * theirs["test_mse"]
    rows = authors._curve_beside_ours(curve, theirs, stored)
    assert len(rows) == 10 and set(rows["quantity"]) == {"q", "V", "theta", "train_loss", "test_mse"}
    wrong = rows["quantity"] == "V"
    assert rows.loc[~wrong, "rule_away"].abs().max() < 1e-9
    assert rows.loc[wrong, "step_away"].abs().min() > 0.01  # one step mends most of it
    assert rows.loc[wrong, "rule_away"].to_list() == pytest.approx([-0.1 / 1.1] * 2, abs=1e-5)
    many = stored.query("quantity == 'q'").set_index("alpha")["many"]
    expected = (many - theirs.set_index("alpha")["q"]) / max(many.max(), theirs["q"].max())
    away = rows[rows["quantity"] == "q"].set_index("alpha")["away"]
    assert away.to_dict() == pytest.approx(expected.round(4).to_dict()) and away.abs().min() > 1e-3


def row(**changes):
    usual = {"ours": 1.2, "ours_error": 0.1, "instances": 24, "published": 1.0, "spread": 0.1 * 24**0.5, "runs": 24}
    return pd.DataFrame([usual | changes])


def test_scores_of_two_sides_of_different_size_by_welch():
    """4 data sets or runs that scatter widely and 24 that do not: each side by its own size and degrees of freedom."""
    own = {"instances": 4, "ours": 2.0, "ours_error": 0.3}
    freedom = (0.09 + 0.01) ** 2 / (0.09**2 / 3 + 0.01**2 / 23)
    expected = pytest.approx(norm.isf(t.sf(1 / 0.1**0.5, freedom)), abs=0.005)
    assert tables.standard_scores(row(**own))[0] == expected
    assert tables.standard_scores(row(ours=2.0, runs=4, spread=0.6))[0] == expected
    alike = norm.isf(t.sf(1 / (0.3 * (1 + 4 / 24) ** 0.5), 3))  # theirs, of 24 runs, taken to scatter as ours
    assert tables.standard_scores(row(**own, spread=np.nan))[0] == pytest.approx(alike, abs=0.005)


def test_the_stored_comparison(table, means):
    """All of three of their four tables, agreement of each quantity, and that a slip would be seen."""
    tied = means[means["form"] == "tied"]
    assert len(tied) == 14_850 and not means.duplicated([*tables.CELL, "quantity"]).any()
    assert abs(tied["z"].std() - 1) < 0.03 and (tied["z"].abs() > 3).mean() < 2 * 2 * norm.sf(3)
    shown = tables.summary(means)
    assert shown["numbers"].sum() == len(means) and shown["p"].min() > 1e-3
    assert tables.summary(means.assign(z=means["z"] + 0.3)).query("figure == '3'")["p"].max() < 1e-3
    assert tables.summary(means.assign(z=means["z"] * 1.3)).query("figure == '3'")["p"].max() < 1e-2
    assert not {"published", "spread"} & set(table)


def test_the_command_answers_with_scores_by_figure_and_quantity(table, means, monkeypatch, capsys):
    monkeypatch.setattr(authors, "compare_tables", lambda folder: (table, {"rank2": 7}))
    assert main(["published", "anywhere", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    scores = means["z"].abs()
    assert answer["numbers"] == len(means) == sum(group["n"] for group in answer["by"])
    assert answer["median_abs_z"] == pytest.approx(scores.median())
    assert answer["p95_abs_z"] == pytest.approx(scores.quantile(0.95))
    assert answer["beyond_3"] == pytest.approx((scores > 3).mean())
    assert answer["not_computed"] == {"rank2": 7}
    names = ["figure", "quantity", "n", "median_abs_z", "p95_abs_z", "beyond_3", "mean_z"]
    assert all(list(group) == names for group in answer["by"])


def test_a_file_that_is_no_table_of_results_is_refused_and_stays(table, tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work", encoding="utf-8")
    with pytest.raises(StoreError, match=r"^.*thesis\.tex: [^\n]*$"):
        authors.write_comparison(table, tmp_path / "thesis.tex")
    assert (tmp_path / "thesis.tex").read_text(encoding="utf-8") == "years of work"


@pytest.mark.parametrize(
    ("by_rule", "reason"),
    [
        *((by_rule, "quadrature") for by_rule in (0.785, 1.0, 1.215)),
        *((by_rule, "cause unknown") for by_rule in (0.775, 1.225, 2.0, np.nan)),
    ],
)
def test_quadrature_is_the_cause_of_what_the_rules_explain_within_a_fifth_and_the_error(by_rule, reason):
    assert tables.cause(Published("1.000000", "somewhere"), Measured(2.0, 0.02), by_rule) == reason
    assert tables.cause(Published("1.000000", "somewhere"), Measured(0.0, 0.02), by_rule) == reason
    assert tables.cause(Published("1.0", "somewhere"), Measured(2.0, 0.02), 1.23) == "quadrature"  # rounded


def test_the_rules_explain_nearly_all_printed_linear_thresholds_and_no_critical_one():
    """A misfit that falls through zero, as that of alpha_c does, explains nothing where it vanishes."""
    causes = {
        kind: [
            *map(
                tables.cause, THRESHOLDS[kind].values(), map(Measured, rows["alpha"], rows["alpha_error"]), rows["rule"]
            )
        ]
        for kind, rows in stored(PAGE, "of_kind").items()
    }
    assert causes == {"critical": ["cause unknown"] * 9, "linear": ["cause unknown"] + ["quadrature"] * 11}
