"""The authors' published tables: their files, their units, and differences as standard normal variables."""

from hashlib import sha256

import authors_tables as authors
import numpy as np
import pandas as pd
import pyarrow.parquet as parquet
import pytest
from cases import cases
from pages import stored
from scipy.stats import norm, t

from attention_book.analysis import comparisons as tables
from attention_book.paths import stored_table
from attention_book.published import PublishedNumber
from attention_book.store.parquet import load
from attention_phases.errors import BadInput, StoreError
from attention_phases.measured import Measured

PLACES = {"critical": 1.5, "linear": 2.0}  # alphas of the thresholds in the artificial means


@pytest.fixture(scope="module")
def table():
    return load(stored_table("published_tables"))


@pytest.fixture(scope="module")
def rules():
    table = load(stored_table("published_rule")).rename(columns={"what": "start"}).dropna(subset="many")
    return table.astype({"matrix": str, "start": str, "quantity": str}).assign(alpha=table["alpha"].round(6))


@pytest.fixture
def checkout(tmp_path, monkeypatch, table, rules):
    """Return a folder with artificial files in the authors' format at omega = 0.3, and our stored students of these
    cells.

    The means are one standard error below ours, except for losses that cross at `PLACES`. The curves follow from the
    rules, except for one V that is a tenth too large. There are no students at d = 15.
    """
    usual = (table["omega"] == 0.3) & (table["sigma"] == 0.5) & (table["lam"] == 0.01) & table["d"].isin([10, 15, 1000])
    below = table[usual & (table["optimizer"] == "gd") & table["instances"].notna()]
    below = below.assign(mean=below["ours"] - below["ours_error"])
    index = ["matrix", "form", "alpha", "d", "start"]
    cells = below.pivot(index=index, columns="quantity", values="mean").reset_index()
    large, semantic = (cells["d"] == 1000) & (cells["form"] == "tied"), cells["start"] == "semantic"
    above = {kind: (place - cells["alpha"]) / 1000 for kind, place in PLACES.items()}
    cells.loc[large, "train_loss"] = 0.01 + semantic * above["critical"]
    cells.loc[large, "test_mse"] = cells["linear_mse"] + above["linear"]
    theirs = {
        "attention_gen_error_mean": cells["test_mse"],
        "attention_train_error_mean": cells["train_loss"] * cells["d"],
        "linear_gen_error_mean": cells["linear_mse"],
        "attention_mag_mean": cells["m"],
        "attention_theta_mean": cells["theta"] * 4,
    }
    spreads = dict.fromkeys(theirs, 0.0)
    for column, squares in (("mag", cells["m^2"]), ("thet", cells["theta^2"] * 16)):
        # Shares of the mean square; the rest is the scatter of ten runs.
        for end, share in (("max", 0.7), ("min", 0.1)):
            theirs[f"attention_{column}_{end}"] = (share * squares) ** 0.5
            spreads[f"attention_{column}_{end}"] = (0.1 / 0.9 * squares) ** 0.5
    means = cells[["d", "alpha"]].assign(sigma=0.5, omega=0.3, attention_lmbda=0.01, informed=semantic, **theirs)
    standard, folder = cells["matrix"].astype(str).str.startswith("[[0.6"), tmp_path / "empirics"
    folder.mkdir()
    of_files = (large & standard, large & ~standard, cells["d"] < 1000, cells["form"] == "rank2")
    for files, rows in zip(authors.TABLES, of_files):
        means[rows].to_csv(folder / files.means)
        means.assign(**spreads)[rows].to_csv(folder / files.spreads)
    for name, curve in authors.CURVES.items():
        same = rules[(rules["omega"] == curve.omega) & (rules["start"] == curve.branch)]
        rows = same.pivot(index="alpha", columns="quantity", values="rule").iloc[-2:]
        rows = rows.reindex(columns=["q", "m", "V", "theta", "test_mse", "train_loss"]).fillna(1e-9)
        rows["V"] *= 1.1 if name == "0.14_Aalt" else 1
        rows = rows.assign(theta=-rows["theta"], mse=2 * rows["test_mse"], Phi=-rows["train_loss"])
        rows.to_csv(folder / f"{authors.CURVE_PREFIX}{name}.csv")
    for known in ("TABLE_FILES", "CURVE_FILES"):
        digests = {name: sha256((folder / name).read_bytes()).hexdigest() for name in getattr(authors, known)}
        monkeypatch.setattr(authors, known, digests)
    kept = [("omega", "==", 0.3), ("sigma", "==", 0.5), ("lam", "==", 0.01), ("d", "in", [10, 1000])]
    for name in authors.EXPERIMENTS:
        parquet.write_table(parquet.read_table(stored_table(name), filters=kept), tmp_path / f"{name}.parquet")
    monkeypatch.setattr(authors, "DATA", tmp_path)
    return tmp_path


def test_known_files_are_found_and_others_refused_in_a_line(checkout, complaint):
    scaling = checkout / "empirics" / "results_scaling.csv"
    scaling.write_text("another\n", encoding="utf-8")
    with pytest.raises(BadInput, match=r"results_scaling\.csv is not the file of commit 0b867fa"):
        authors.find(checkout, authors.TABLE_FILES)
    scaling.unlink()
    assert "it has no results_scaling.csv" in complaint(2, "published", checkout)


def row(**changes):
    usual = {"ours": 1.2, "ours_error": 0.1, "instances": 24, "published": 1.0, "spread": 0.1 * 24**0.5, "runs": 24}
    return pd.DataFrame([usual | changes])


def test_scores_of_two_sides_of_different_size_by_welch():
    """The sets have 4 values that scatter widely and 24 that do not, each with its own size and degrees of freedom."""
    own = {"instances": 4, "ours": 2.0, "ours_error": 0.3}
    freedom = (0.09 + 0.01) ** 2 / (0.09**2 / 3 + 0.01**2 / 23)
    expected = pytest.approx(norm.isf(t.sf(1 / 0.1**0.5, freedom)), abs=0.005)
    assert tables.standard_scores(row(**own))[0] == expected
    assert tables.standard_scores(row(ours=2.0, runs=4, spread=0.6))[0] == expected


def test_the_stored_comparison(table):
    """It covers all rows of three of the four tables, shows that each quantity agrees, and would detect a mistake."""
    means = stored("published_tables").means["gd"]
    tied = means[means["form"] == "tied"]
    assert len(tied) == 14_850 and not means.duplicated([*tables.CELL, "quantity"]).any()
    assert abs(tied["z"].std() - 1) < 0.03 and (tied["z"].abs() > 3).mean() < 2 * 2 * norm.sf(3)
    shown = tables.summary(means)
    assert shown["numbers"].sum() == len(means) and shown["p"].min() > 1e-3
    assert tables.summary(means.assign(z=means["z"] + 0.3)).query("figure == '3'")["p"].max() < 1e-3
    assert tables.summary(means.assign(z=means["z"] * 1.3)).query("figure == '3'")["p"].max() < 1e-2
    assert not {"published", "spread"} & set(table)


@pytest.mark.slow
def test_the_command_compares_means_thresholds_and_curves_in_our_units(checkout, table, rules, answer):
    told = answer("published", checkout)
    assert answer("published", checkout, "--out", checkout / "kept.parquet")["by"] == told["by"]
    rows, keys = load(checkout / "kept.parquet"), [*tables.CELL, "figure", "quantity", "optimizer"]
    words = {name: object for name in keys if rows[name].dtype == "category"}
    rows = rows.astype(words).merge(table.astype(words), on=keys, suffixes=("", "_stored"), validate="one_to_one")
    for name in ("ours", "ours_error", "instances"):
        np.testing.assert_allclose(rows[name], rows[f"{name}_stored"], rtol=1e-6)

    means = rows[(rows["optimizer"] == "gd") & rows["instances"].notna()]
    crossing = (means["d"] == 1000) & (means["form"] == "tied") & means["quantity"].isin(["train_loss", "test_mse"])
    # The scatter of the published means of ten runs is assumed to equal ours.
    alike = (1 + means["instances"] / 10) ** -0.5
    away = np.where(means["quantity"].str.endswith("^2"), alike, 1.0)
    expected = norm.isf(t.sf(away, means["instances"] - 1))
    np.testing.assert_allclose(means["z"][~crossing], expected[~crossing], atol=0.005)
    assert set(means["figure"]) == {"2", "7", "9", "14"}
    crossed = rows[rows["quantity"].isin([*PLACES])]
    expected = (crossed["ours"] - crossed["quantity"].map(PLACES)) / crossed["ours_error"]
    np.testing.assert_allclose(crossed["z"], expected, atol=0.005)
    assert crossed.groupby("quantity")["optimizer"].apply(sorted).to_list() == [["gd", "lbfgs", "theory"]] * 2

    curves = rows[rows["rule_away"].notna()].merge(rules[["omega", "start", "alpha", "quantity", "rule"]])
    wrong = (curves["omega"] == 0.14) & (curves["start"] == "semantic")
    theirs = curves["rule"] * np.where(wrong & (curves["quantity"] == "V"), 1.1, 1)
    along = [curves[name] for name in ("omega", "start", "quantity")]
    largest = np.maximum(curves["ours"], theirs).groupby(along).transform("max")
    np.testing.assert_allclose(curves["away"], (curves["ours"] - theirs) / largest, atol=6e-5)
    np.testing.assert_allclose(curves["rule_away"], curves["rule"] / theirs - 1, atol=6e-6)
    np.testing.assert_allclose(curves["step_away"][~wrong], 0, atol=2e-5)

    scores, numbers = means["z"].abs(), ["median_abs_z", "p95_abs_z", "beyond_3"]
    expected = [scores.median(), scores.quantile(0.95), (scores > 3).mean()]
    assert [told[name] for name in numbers] == pytest.approx(expected)
    assert told["numbers"] == len(means) == sum(group["n"] for group in told["by"])
    assert told["not_computed"] == {"tied": 10}
    assert all([*group] == ["figure", "quantity", "n", *numbers, "mean_z"] for group in told["by"])


def test_a_file_that_is_no_table_of_results_is_refused_and_stays(table, tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work", encoding="utf-8")
    with pytest.raises(StoreError, match=r"^.*thesis\.tex: [^\n]*$"):
        authors.write_comparison(table, tmp_path / "thesis.tex")
    assert (tmp_path / "thesis.tex").read_text(encoding="utf-8") == "years of work"


@pytest.mark.parametrize(("by_rule", "reason"), cases("causes"))
def test_quadrature_is_the_cause_of_what_the_rules_explain_within_a_fifth_and_the_error(by_rule, reason):
    assert tables.cause(PublishedNumber("1.000000", "somewhere"), Measured(2.0, 0.02), float(by_rule)) == reason
    assert tables.cause(PublishedNumber("1.000000", "somewhere"), Measured(0.0, 0.02), float(by_rule)) == reason
    assert tables.cause(PublishedNumber("1.0", "somewhere"), Measured(2.0, 0.02), 1.23) == "quadrature"  # rounded
