"""The metadata of the data: up to date, correct for every file, and readable by the programs that use them."""

import json
import subprocess
from shutil import which

import authors_tables
import pytest
from checks import values_of
from columns import COLUMNS, abouts, column_of, own_columns
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


def test_files_are_up_to_date():
    """Every table is listed with its columns, size and hash."""
    for name, text in texts().items():
        assert (ROOT / name).read_text(encoding="utf-8") == text, f"{name}: run `make metadata`"


def test_the_readme_says_the_stored_results():
    """The README of the data contains every result, with its numbers from the tables."""
    omega, small = Task().omega, 0.1
    line = load(DATA / "fig02_theory.parquet")
    crossings = stored("beyond_replica_symmetry").crossings

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
    crosses = {name: f"{crossing(omega, name)} | {crossing(small, name)}" for name in ("informed", "searched")}
    sentences = [
        f"**From small random weights, gradient descent misses the better solution in "
        f"{len(last) - ends['semantic']} of {len(last)} runs.** The missed solution becomes the better one above a "
        f"certain number of training sentences, and these runs use more than three times this number.",
        f"In replica-symmetric theory at $\\omega = {omega:g}$, the semantic minimum of the training loss is the "
        f"deeper one above $\\alpha_c = {with_error(*alpha_of(line, 'critical'))}$. At this point the overlap "
        f"$\\theta$ of the student with the lowest training loss jumps from 0 to {overlap('semantic', 'theta'):.2f}, "
        f"and its overlap $m$ drops from {overlap('positional', 'm'):.2f} to 0.",
        f"At $d = {last['d'].iloc[0]}$ and $\\alpha = {last['alpha'].iloc[0]:g}$ we trained {len(last)} students from "
        f"small random weights. Gradient descent with the published {last['steps'].max():,} steps takes "
        f"{ends['positional']} of them to the positional valley and {ends['semantic']} to the semantic valley. The "
        f"other {ends['still moving']} are still moving after the last step. From the same weights, L-BFGS takes "
        f"{found_by_lbfgs} students to the semantic valley.",
        f"In theory the semantic student predicts better than the best linear model only above $\\alpha_l = "
        f"{with_error(*alpha_of(line, 'linear'))}$. For students trained at $d = {trained['d'].iloc[0]}$ this "
        f"threshold is {with_error(*linear)}, not extrapolated to infinite dimension.",
        f"At $\\omega = {small:g}$ the training losses of semantic and positional students cross at a smaller "
        f"$\\alpha$ than this theory predicts.",
        f"| value of $\\alpha$ at which the training losses cross | $\\omega = {omega:g}$ | $\\omega = {small:g}$ |",
        f"| {with_error(*alpha_of(line, 'critical'))} | {crossing(small, 'symmetric')} |",
        f"one step of replica symmetry breaking | | {crossing(small, 'alpha')} |",
        f"| trained students, extrapolated to infinite dimension | {crosses['informed']} |",
        f"| lowest minima that a search finds, extrapolated to infinite dimension | {crosses['searched']} |",
        f"All results above are for the ridge penalty {Task().lam:g}.",
        f"learns something about the teacher from $\\alpha = 1/{1 / weak:g}$ on, and everything from "
        f"$\\alpha = 1/{1 / exact:g}$ on.",
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
