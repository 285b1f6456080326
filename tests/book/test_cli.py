"""The command line: each command prints one JSON object or one line of complaint, and returns an exit code."""

import os
import re
import signal
import sys

import commands as page_of_commands
import pandas as pd
import pyarrow.parquet as pq
import pytest
from answers import only_object
from cases import cases
from parameters import published_values
from test_options import OPTIONS, SUBPARSERS

from attention_book.command_line import commands, printing
from attention_book.experiments import GRIDS, results, verification
from attention_book.experiments.students import STUDENTS, StudentCell
from attention_book.paths import ROOT
from attention_book.store import provenance, sweep
from attention_book.store.parquet import load
from attention_phases import Task, records

FEWER = ("--points", "16", "--scrambles", "4")

# Answers of commands


def test_a_missing_threshold_is_an_object_too(run):
    code, out, err = run("threshold", "--omega", 1, *FEWER, "--json")
    found = only_object(out)
    assert code == 1 and found.pop("origin")["omega"] == 1.0
    assert found == {"alpha": None, "stderr": None, "kind": "critical", "omega": 1.0}
    assert err.startswith("no critical threshold found at omega = 1.0: no semantic branch between alpha = ")


@pytest.mark.parametrize("code", [130, 143], ids=["Ctrl-C", "SIGTERM"])
@pytest.mark.parametrize(("command", "said"), [("threshold", ""), ("sweep", "stopped: 3 of 4 cells are kept")])
def test_a_command_that_is_stopped_is_one_line(run, monkeypatch, command, said, code):
    def stopped(options):
        try:
            signal.raise_signal(code - 128)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(said) from None

    stopped.__name__, stopped.__doc__ = command, "Stopped."
    monkeypatch.setattr(commands, command, stopped)
    assert run(command, *(["fig02"] if command == "sweep" else []), "--quiet") == (code, "", f"{said or 'stopped'}\n")


def test_the_program_names_its_version_and_its_commit(run):
    told = run("--version")
    assert told == (0, f"{records.code_in_words()}\n", "")
    assert all(part in told[1] for part in records.code().values() if part)


def test_figures_name_every_notebook_once_with_its_title(answer):
    listed = pd.DataFrame(answer("figures")["figures"]).set_index("figure")
    assert sorted(listed["notebook"]) == sorted(f"notebooks/{path.name}" for path in (ROOT / "notebooks").glob("*.md"))
    assert listed.loc["fig15"].tolist() == [
        "notebooks/fig15_random.md",
        "Figure 15: gradient descent mostly misses the deeper valley",
        [*published_values(ROOT / "notebooks/fig15_random.md")][1:],
    ]
    assert listed.loc["fig02", "parameters"] == ["omega", "sigma", "lam", "matrix", "points", "omegas"]
    assert listed.index[0] == "fig01" and listed.loc["stability", "notebook"] == "notebooks/stability.md"


# Text for people


def test_a_value_has_its_error_and_a_matrix_is_one_line():
    assert printing.readable_text({"seed": 1234567}) == "seed = 1234567"
    found = {"alpha": 1.25137, "stderr": 0.00056, "parameters": {"matrix": [[1.0, 2.0], [3.0, 4.0]]}, "svg": []}
    lines = ["alpha      = 1.25137(56)", "parameters = matrix 1, 2; 3, 4", "svg        = none"]
    assert printing.readable_text(found).splitlines() == lines


def test_a_mismatch_is_a_row_with_its_tolerance():
    row = verification.Mismatch("{}", "q", 0.1, 0.2, (1e-3, 1e-8), 0)._asdict()
    text = printing.readable_text({"mismatches": [row]})
    assert text.endswith("\n{}    q          0.1         0.2  0.001, 1e-08    0")


def test_the_page_of_commands_has_every_command_and_option():
    text = page_of_commands.page()
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == [*SUBPARSERS]
    for name, action in OPTIONS:
        part = re.search(rf"^## {name}$(.*?)(?:^## |\Z)", text, re.MULTILINE | re.DOTALL)[1]
        option = action.dest.replace("_", "-")
        (entry,) = re.findall(rf"^`(?:--)?{option}\b.*?`\n: (.*)$", part, re.MULTILINE)
        assert isinstance(action.default, list | None) or f"(default: {action.default})" in entry


# Exit codes


@pytest.mark.slow
def test_a_closed_pipe_ends_quietly(python):
    reader, writer = os.pipe()
    os.close(reader)
    done = python("-m", "attention_book.command_line.main", "figures", stdout=writer)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no full device")
def test_a_result_that_cannot_be_written_is_a_failure_in_one_line(python):
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = python("-m", "attention_book.command_line.main", "figures", stdout=full)
    assert (done.returncode, done.stderr) == (1, "the result could not be written: No space left on device\n")


def test_no_result_is_a_failure_in_one_line(complaint):
    said = "no result at these parameters: a number is too large or too small to compute with\n"
    assert complaint(1, "threshold", *FEWER, "--lam", "1e-300") == said


# Errors

SWEEP = ("sweep", "fig02", "--profile", "smoke")


@pytest.fixture
def nowhere(tmp_path, monkeypatch):
    """Return a folder without results, so that the traces of an error that comes too late are visible."""
    monkeypatch.setattr(results, "BUILT", tmp_path / "built")
    for module in (results, verification):
        monkeypatch.setattr(module, "DATA", tmp_path / "data")
    return tmp_path


@pytest.mark.parametrize(("command", "name", "value"), cases("wrong"))
def test_bad_input_is_one_line_that_names_it(complaint, nowhere, command, name, value):
    err = complaint(2, *command.split(), f"--{name}={value}", "--json")
    assert name in err and all(entry in err for entry in re.split("[;,\n]", value))
    assert list(nowhere.iterdir()) == []


@pytest.mark.parametrize(("command", "named"), cases("senseless"))
def test_a_command_line_that_makes_no_sense_is_one_line_too(complaint, nowhere, command, named):
    assert named in complaint(2, *filter(None, command.split(" ")))
    assert list(nowhere.iterdir()) == []


# Sweeps and their results


@pytest.fixture
def tiny(monkeypatch, in_this_process):
    """Return a function that makes a few quick cells of Figure 2, the same for every profile."""

    def set_alphas(*alphas):
        cells = [StudentCell("fig02", Task(), alpha, 20, 0, "lbfgs") for alpha in alphas]
        monkeypatch.setitem(GRIDS, "fig02", lambda profile: cells)

    set_alphas(0.5, 1.0, 1.5)
    return set_alphas


@pytest.fixture
def stored(tiny, nowhere, answer):
    """Sweep these cells into a folder of the test; return the path of the table, now the stored result of Figure 2."""
    table = nowhere / "data" / "fig02.parquet"
    places = {"store": str(nowhere / "s.sqlite"), "table": str(table)}
    arguments = (*SWEEP, "--workers", 1, "--quiet", "--store", places["store"], "--data", table.parent)
    expected = {"done": 3, "skipped": 0, "only_in_table": 0, "failed": 0, **places}
    done = answer(*arguments)
    assert {name: done[name] for name in done if name != "origin"} == expected and table.exists()
    done = answer(*arguments, "--store", nowhere / "new.sqlite")
    assert (done["done"], done["skipped"], done["only_in_table"]) == (0, 3, 3)
    return table


@pytest.mark.parametrize("quiet", [(), ("--quiet",)], ids=["shown", "quiet"])
def test_progress_of_a_sweep_goes_to_a_terminal_with_the_time_left(tiny, run, tmp_path, monkeypatch, quiet):
    """The progress of other commands is tested in `test_options.py`."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    places = "--store", tmp_path / "s.sqlite", "--data", tmp_path / "data"
    code, out, err = run(*SWEEP, "--workers", 1, *places, "--json", *quiet)
    assert code == 0 and only_object(out)
    assert bool(re.search(r"\d+/\d+ \[\d\d:\d\d<[\d:?]+, .*cell", err)) is not bool(quiet)
    assert not quiet or err == ""


@pytest.mark.parametrize(("address", "code", "words"), cases("schedulers"))
def test_no_scheduler_is_one_line_and_leaves_no_file(tiny, complaint, nowhere, monkeypatch, address, code, words):
    monkeypatch.setattr(sweep, "TIMEOUT", 1)
    assert complaint(int(code), "sweep", "fig02", "--scheduler", address, "--json").startswith(words)
    assert list(nowhere.iterdir()) == []


# In the second folder even root cannot create files.
@pytest.mark.parametrize("below", ["a file", *filter(os.path.isdir, ["/proc/sys"])])
@pytest.mark.parametrize("option", ["--store", "--data"])
def test_a_folder_that_cannot_be_written_is_one_line(tiny, tmp_path, below, option, complaint):
    (tmp_path / "a file").touch()
    places = {"--store": tmp_path / "s.sqlite", "--data": tmp_path / "data"}
    places[option] = tmp_path / below / places[option].name
    said = complaint(1, *SWEEP, *(word for pair in places.items() for word in pair))
    assert str(tmp_path / below) in said
    if option == "--data":  # the computed results are in the store
        assert said.endswith(f"; cells computed are in {tmp_path / 's.sqlite'}, run again to go on\n")
        with sweep.Store(tmp_path / "s.sqlite") as stored:
            assert len(stored.keys()) == 3


def test_of_two_sweeps_on_one_store_the_second_is_refused(tmp_path, complaint):
    path = tmp_path / "s.sqlite"
    with sweep.Store(path):
        assert complaint(1, *SWEEP, "--store", path, "--data", tmp_path) == f"store {path}: in use by another process\n"


def move_first_theta(path, by):
    """Change theta in the first row of a stored table, as a mistake would."""
    table = pq.read_table(path)
    first, *others = table["theta"].to_pylist()
    place = table.column_names.index("theta")
    pq.write_table(table.set_column(place, table.schema.field("theta"), [[first + by, *others]]), path)


def test_verify_recomputes_what_is_stored(stored, answer, run):
    checked = answer("verify")
    none = "0 of 6 students in another minimum"  # two students in each cell
    assert checked.pop("origin")["command"] == "verify"
    assert checked == {"cells": 3, "mismatches": [], "other_minima": [], "elsewhere": none}
    assert answer("verify", "--experiment", "fig02", "--sample", 2)["cells"] == 2
    assert "holds no results of fig07" in run("verify", "--experiment", "fig07")[2]
    right = load(stored)["theta"].iloc[0]
    allowed = STUDENTS["theta"][1]
    move_first_theta(stored, 0.3 * allowed)
    assert answer("verify")["mismatches"] == []
    move_first_theta(stored, 2 * allowed)
    code, out, err = run("verify", "--json")
    (mismatch,) = only_object(out)["mismatches"]
    assert code == 1 and err == f"1 stored values differ; {none}\n"
    assert mismatch["column"] == "theta"
    assert mismatch["stored"] == pytest.approx(right + 2.3 * allowed, abs=1e-12)
    assert mismatch["recomputed"] == pytest.approx(right, abs=allowed)


def test_verify_without_results_is_a_failure(nowhere, complaint):
    assert str(nowhere / "data") in complaint(1, "verify", "--json")


def test_an_experiment_computes_what_is_missing_and_leaves_data_alone(tiny, stored):
    before, old = stored.read_bytes(), load(stored)
    tiny(0.5, 1.0, 2.0)
    table = results.read("fig02", "paper")
    assert sorted(set(table["alpha"])) == [0.5, 1.0, 2.0]  # the third stored alpha is not requested
    known = old["alpha"] < 1.5
    # The rows were read and not computed again.
    assert table[table["alpha"] < 2]["seconds"].tolist() == old[known]["seconds"].tolist()
    assert stored.read_bytes() == before and list(stored.parent.iterdir()) == [stored]


def test_other_profiles_compute_all_once_and_leave_data_alone(stored, monkeypatch):
    before, old = stored.read_bytes(), load(stored)
    table = results.read("fig02", "smoke")
    assert set(table["cell"]) == set(old["cell"])
    assert set(table["seconds"]).isdisjoint(old["seconds"])
    assert stored.read_bytes() == before
    # Another notebook reads the results of this notebook. Code with other changes computes them again.
    again = results.read("fig02", "smoke")
    assert again["seconds"].tolist() == table["seconds"].tolist()
    monkeypatch.setattr(provenance, "source_digest", lambda: "other")
    anew = results.read("fig02", "smoke")
    assert set(anew["seconds"]).isdisjoint(table["seconds"])
