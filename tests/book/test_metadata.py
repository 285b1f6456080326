"""What describes the data to others: up to date, true of every file, and readable by the programs it is made for."""

import json
import subprocess
from shutil import which

import authors_tables
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from columns import COLUMNS, abouts, described, own_columns
from metadata import texts
from pages import stored

from attention_book.analysis import instances
from attention_book.analysis.arrivals import classify
from attention_book.analysis.thresholds import alpha_of
from attention_book.analysis.thresholds import crossing as crossing_of
from attention_book.experiments import GRIDS, grid
from attention_book.paths import DATA, ROOT
from attention_book.store import provenance
from attention_book.store.parquet import load
from attention_phases import Task
from attention_phases.beyond.optimal import thresholds_of_learning
from attention_phases.errors import ResultError
from attention_phases.measured import with_error

PACKAGE = json.loads((ROOT / "data" / "datapackage.json").read_text(encoding="utf-8"))


def texts_of(column):
    return set(pc.unique(column).to_pylist()) - {None}


def test_files_are_up_to_date():
    """Every table is in them, with its columns, size and hash."""
    for name, text in texts().items():
        assert (ROOT / name).read_text(encoding="utf-8") == text, f"{name}: run `make metadata`"


def test_the_readme_says_the_stored_results():
    """Its results, with every number from the tables."""
    omega, small = Task().omega, 0.1
    line = load(DATA / "fig02_theory.parquet")
    crossings = stored("beyond_replica_symmetry").compared

    def crossing(at, name):
        return with_error(crossings.loc[at, name], crossings.loc[at, f"{name}_error"])

    def overlap(branch, name):
        return line.loc[line["what"] == f"{branch} at critical", name].iloc[0] / Task().sigma ** 2

    trained = load(DATA / "fig02.parquet").query("optimizer == 'lbfgs'")
    linear = crossing_of(instances.test_gap(trained))
    weak, exact = thresholds_of_learning()
    runs = classify(load(DATA / "fig15_fractions.parquet"), Task().sigma)
    largest = runs[(runs["d"] == runs["d"].max()) & (runs["alpha"] == runs["alpha"].max())]
    last = largest[largest["optimizer"] == "gd"]
    found_by_lbfgs = (largest[largest["optimizer"] == "lbfgs"]["basin"] == "semantic").sum()
    ends = last["basin"].value_counts()
    assert last["alpha"].iloc[0] > 3 * alpha_of(line, "critical").value
    sentences = [
        f"**From small random weights, gradient descent misses the better solution in "
        f"{len(last) - ends['semantic']} of {len(last)} runs**, even with more than three times as many sentences as "
        f"make this solution the better one.",
        f"At $\\omega = {omega:g}$ the semantic minimum of the training loss is the lower one beyond $\\alpha_c = "
        f"{with_error(*alpha_of(line, 'critical'))}$ sentences per dimension, says replica-symmetric theory "
        f"(extrapolated to infinite dimension, students: {crossing(omega, 'informed')}; the lowest minima found: "
        f"{crossing(omega, 'searched')}). The overlap with the teacher jumps there from 0 to "
        f"{overlap('semantic', 'theta'):.2f}, that with the positions from {overlap('positional', 'm'):.2f} to 0.",
        f"At $d = {last['d'].iloc[0]}$ and $\\alpha = {last['alpha'].iloc[0]:g}$, beyond three times $\\alpha_c$, "
        f"gradient descent as published, {last['steps'].max():,} steps from small random weights, ends in the "
        f"positional valley in {ends['positional']} of {len(last)} runs and in the semantic valley in "
        f"{ends['semantic']}. From the same weights, L-BFGS ends there in {found_by_lbfgs}.",
        f"Only past $\\alpha_l = {with_error(*alpha_of(line, 'linear'))}$ (students at $d = {trained['d'].iloc[0]}$, "
        f"not extrapolated: {with_error(*linear)}) does the semantic student predict better than the best linear "
        f"model.",
        f"At $\\omega = {small:g}$ students cross at {crossing(small, 'informed')}, and replica-symmetric theory says "
        f"{crossing(small, 'symmetric')}. One step of replica symmetry breaking gives {crossing(small, 'alpha')}.",
        f"the lowest minima that a search finds cross at {crossing(small, 'searched')}.",
        f"All this is at ridge penalty {Task().lam:g}. The optimal learner learns something about the teacher from "
        f"$\\alpha = 1/{1 / weak:g}$ on, and everything from $1/{1 / exact:g}$.",
    ]
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    for sentence in sentences:
        assert sentence in text


def git(*words):
    return subprocess.run(["git", "-C", ROOT, *words], capture_output=True, encoding="utf-8", check=False)


@pytest.mark.skipif(
    not which("git") or git("rev-parse", "--is-shallow-repository").stdout != "false\n",
    reason="a shallow clone or an unpacked archive has not the whole history",
)
def test_the_commits_that_rows_name_are_in_the_history():
    history = set(git("rev-list", "HEAD").stdout.split())
    for resource in PACKAGE["resources"]:  # which are all files, says another test
        commits = texts_of(pq.read_table(ROOT / "data" / resource["path"], columns=["commit"])["commit"])
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
            described(name, {})
