"""The metadata of the data: up to date, correct for every file, and readable by the programs that use them."""

import json
import subprocess
from shutil import which

import authors_tables
import pytest
from cases import case_text
from checks import values_of
from columns import COLUMNS, abouts, column_of, own_columns
from metadata import texts
from pages import stored

import attention_book as book
from attention_book.experiments import GRIDS, grid
from attention_book.paths import DATA, ROOT
from attention_book.store import provenance
from attention_book.store.parquet import load
from attention_phases import Task
from attention_phases.beyond.optimal import thresholds_of_learning
from attention_phases.errors import ResultError
from attention_phases.measured import with_error

PACKAGE = json.loads((ROOT / "data" / "datapackage.json").read_text(encoding="utf-8"))


def test_files_are_up_to_date():
    """Every table is listed with its columns, size and hash."""
    for name, text in texts().items():
        assert (ROOT / name).read_text(encoding="utf-8") == text, f"{name}: run `make metadata`"


def test_the_readme_says_the_stored_results():
    """The README contains every line of `cases/readme.txt`, with its numbers from the tables."""
    line, trained = (load(DATA / f"{name}.parquet") for name in ("fig02_theory", "fig02"))
    trained = trained.query("optimizer == 'lbfgs'")
    crossings = stored("beyond_replica_symmetry").crossings
    runs = book.classify(load(DATA / "fig15_fractions.parquet"), Task().sigma)
    largest = runs[(runs["d"] == runs["d"].max()) & (runs["alpha"] == runs["alpha"].max())]
    last = largest[largest["optimizer"] == "gd"]
    ends = last["basin"].value_counts()
    assert last["alpha"].iloc[0] > 3 * book.alpha_of(line, "critical").value

    def crossings_at(omega):
        row = crossings.loc[omega]
        return {name: with_error(row[name], row[f"{name}_error"]) for name in row.index if f"{name}_error" in row}

    def overlap(branch, name):
        return line.loc[line["what"] == f"{branch} at critical", name].iloc[0] / Task().sigma ** 2

    numbers = {"omega": Task().omega, "small": 0.1, "penalty": Task().lam}
    numbers |= {"d": last["d"].iloc[0], "alpha": last["alpha"].iloc[0], "steps": last["steps"].max()}
    numbers |= {"runs": len(last), "ends": ends, "missed": len(last) - ends["semantic"]}
    numbers["found_by_lbfgs"] = (largest[largest["optimizer"] == "lbfgs"]["basin"] == "semantic").sum()
    numbers |= {kind: with_error(*book.alpha_of(line, kind)) for kind in ("critical", "linear")}
    numbers |= {"theta": overlap("semantic", "theta"), "m": overlap("positional", "m")}
    numbers |= {"trained_d": trained["d"].iloc[0], "trained_linear": with_error(*book.crossing(book.test_gap(trained)))}
    numbers |= {f"at_{name}": crossings_at(numbers[name]) for name in ("omega", "small")}
    numbers |= {name: 1 / alpha for name, alpha in zip(("weak", "exact"), thresholds_of_learning())}
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    for sentence in case_text("readme.txt").splitlines():
        assert sentence.format(**numbers) in text


def git(*words):
    return subprocess.run(["git", "-C", ROOT, *words], capture_output=True, encoding="utf-8", check=False)


@pytest.mark.skipif(
    not which("git") or git("rev-parse", "--is-shallow-repository").stdout != "false\n",
    reason="a shallow clone or an unpacked archive has not the whole history",
)
def test_the_commits_that_rows_name_are_in_the_history():
    history = set(git("rev-list", "HEAD").stdout.split())
    for resource in PACKAGE["resources"]:  # another test checks that these are all files
        commits = values_of(ROOT / "data" / resource["path"], "commit") - {None}
        assert commits and {commit.removesuffix("+changes") for commit in commits} <= history, resource["path"]


def test_every_meaning_and_every_name_is_used():
    assert abouts().keys() == GRIDS.keys()
    described = [field for resource in PACKAGE["resources"] for field in resource["schema"]["fields"]]
    assert set(COLUMNS) <= {field["name"] for field in described}
    assert set(provenance.ORIGIN) <= set(COLUMNS)
    meanings = {(field["name"], field["description"]) for field in described}
    for known in (COLUMNS, authors_tables.COLUMNS, *(own_columns(type(grid(name, "smoke")[0])) for name in GRIDS)):
        assert {(name, column.meaning) for name, column in known.items()} <= meanings


def test_a_column_that_nobody_has_described_is_refused():
    for name in ("new_column", "verdict_error", "hop_share"):  # the last is a column of pages alone
        with pytest.raises(ResultError, match="describe its meaning and unit"):
            column_of(name, {})
