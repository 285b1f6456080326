"""The command line: one JSON object or one line of complaint, and an exit code that says which."""

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from attention_book import cli, experiments
from attention_book.experiments import cells, kinds, results, simulation, verification
from attention_book.paths import ROOT
from attention_book.store import executors, provenance
from attention_book.store.parquet import load
from attention_phases.errors import SweepError
from attention_phases.task import MATRICES, Task
from attention_phases.theory import linear_baseline, solve, threshold

FEW = ("--points", "256", "--scrambles", "4")
THEORY = ("theory", "--alpha", "2", "--branch", "semantic", *FEW)
THRESHOLD = ("threshold", "--kind", "critical", *FEW)
BREAKING = ("theory", "--alpha", ".75", "--omega", ".1", "--branch", "positional", "--breaking", "1", "--y", "100",
            "--points", "128")  # fmt: skip
SIMULATE = ("simulate", "--alpha", "2", "--d", "30", "--init", "semantic", "--seeds", "2")
BASELINE = ("baseline",)

ESTIMATES = {"q", "m", "theta", "V", "train_loss", "test_mse"}
MEASURED = {"q", "m", "theta", "train_loss", "test_mse", "linear_mse", "grad_norm", "steps", "seconds"}


@pytest.fixture
def run(capsys):
    """A function that runs a command line and returns exit code, stdout and stderr."""

    def run(*arguments):
        try:
            code = cli.main([str(each) for each in arguments])
        except SystemExit as ended:  # how argparse leaves
            code = ended.code
        return code, *capsys.readouterr()

    return run


def only_object(text):
    """The one JSON object that `text` is, by the letter of the standard."""
    assert text.endswith("}\n") and text.count("\n") == 1
    return json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


@pytest.fixture
def answer(run):
    """A function that runs a command with --json, which must succeed in silence, and returns its object."""

    def answer(*arguments):
        code, out, err = run(*arguments, "--json")
        assert (code, err) == (0, "")
        return only_object(out)

    return answer


@pytest.fixture
def complaint(run):
    """A function that runs a command that must end with a code, without a result, and returns its one line."""

    def complaint(code, *arguments):
        *ended, err = run(*arguments)
        assert ended == [code, ""] and err.count("\n") == 1 and err.endswith("\n")
        return err

    return complaint


# What a command answers


def test_theory(answer):
    found = answer(*THEORY)
    more = {"free_energy", "replicon", "gain", "residual", "converged", "reason", "iterations", "stderr"}
    assert set(found) == ESTIMATES | more
    assert set(found["stderr"]) == ESTIMATES | {"replicon", "gain"}
    expected = solve(Task(), 2.0, "semantic", 256, 4, 0)
    assert found["converged"] is True and isinstance(found["iterations"], int)
    assert [found[name] for name in ("q", "theta", "V")] == [
        expected.overlaps.q, expected.overlaps.theta, expected.overlaps.V
    ]  # fmt: skip
    assert found["test_mse"] == expected.test_mse and found["stderr"] == expected.stderr


@pytest.mark.parametrize(
    ("options", "task"),
    [
        (("--omega", ".4", "--sigma", ".6", "--lam", ".02"), Task(omega=0.4, sigma=0.6, lam=0.02)),
        (("--matrix", "alternative"), Task(matrix="alternative")),
        (("--matrix", "0.3,0.7;0.8,0.2"), Task(matrix=MATRICES["alternative"])),
    ],
)
def test_every_option_of_the_task_reaches_the_computation(answer, options, task):
    expected = solve(task, 2.0, "semantic", 256, 4, seed=5)
    found = answer(*THEORY, *options, "--seed", 5)
    assert (found["q"], found["test_mse"]) == (expected.overlaps.q, expected.test_mse)
    assert answer(*BASELINE, *options) == {"test_mse": linear_baseline(task)}


@pytest.mark.parametrize("kind", ["critical", "linear"])
def test_threshold(answer, kind):
    found = answer("threshold", "--kind", kind, *FEW)
    alpha, error = threshold(Task(), kind, 256, 4, 0).alpha
    assert found == {"alpha": alpha, "stderr": error, "kind": kind, "omega": 0.3}


def test_simulate(answer):
    found = answer(*SIMULATE, "--seed", 7, "--seeds", 3)
    assert set(found) == {"runs", "mean", "stderr"}
    assert [set(each) for each in found["runs"]] == [MEASURED | {"seed"}] * 3
    assert [each["seed"] for each in found["runs"]] == [7, 8, 9]
    values = pd.DataFrame(found["runs"]).drop(columns="seed")
    assert found["mean"] == pytest.approx(values.mean().to_dict(), rel=1e-12)
    assert found["stderr"] == pytest.approx(values.sem().to_dict(), rel=1e-12)


def test_a_single_run_has_no_error_bar(answer):
    found = answer(*SIMULATE, "--seeds", 1)
    assert found["stderr"] == dict.fromkeys(MEASURED)


@pytest.mark.parametrize("optimizer", ["lbfgs", "gd", "adam"])
@pytest.mark.parametrize("init", ["semantic", "positional", "random"])
def test_simulate_takes_every_start_and_optimizer(answer, init, optimizer):
    (only,) = answer(*SIMULATE, "--init", init, "--optimizer", optimizer, "--d", 10, "--seeds", 1)["runs"]
    cell = cells.StudentCell("any", Task(), 2.0, 10, 0, optimizer, (init,))
    (row,) = results.work(cell)
    assert only["theta"] == row["theta"] and only["steps"] == row["steps"]


@pytest.mark.slow
def test_two_workers_give_what_one_gives(answer):
    one, two = (answer(*SIMULATE, "--workers", count)["runs"] for count in (1, 2))
    assert [each["seed"] for each in one] == [each["seed"] for each in two]
    for alone, shared in zip(one, two):
        for name, (relative, absolute) in kinds.STUDENTS.items():
            assert shared[name] == pytest.approx(alone[name], rel=relative, abs=absolute), name


def test_figures_name_every_notebook_and_no_other(answer):
    listed = {each["figure"]: each["notebook"] for each in answer("figures", "--list")["figures"]}
    pages = [path for kind in ("fig", "table") for path in (ROOT / "notebooks").glob(f"{kind}*.md")]
    assert set(listed.values()) == {f"notebooks/{path.name}" for path in pages}
    assert all(notebook.startswith(f"notebooks/{figure}_") for figure, notebook in listed.items())


def test_without_json_a_line_for_each_entry(run):
    code, out, err = run(*THEORY)
    assert (code, err) == (0, "")
    lines = dict(line.split(maxsplit=1) for line in out.splitlines())
    assert float(lines["q"]) == solve(Task(), 2.0, "semantic", 256, 4, 0).overlaps.q
    assert lines["converged"] == "true"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "code"),
    [((*BASELINE, "--json"), 0), ((*BASELINE, "--omega", "2"), 2), (("theory", "--alpha", ".3", "--branch", "semantic",
                                                                    *FEW, "--json"), 1)],
    ids=["done", "bad input", "not converged"],
)  # fmt: skip
def test_as_a_process(arguments, code):
    """The same seen from a shell: stdout and stderr apart, the exit code of the process."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "attention_book.cli", *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, capture_output=True, text=True, timeout=100,
    )  # fmt: skip
    assert done.returncode == code
    assert done.stderr.count("\n") == (code > 0)
    if code < 2:
        only_object(done.stdout)
    else:
        assert done.stdout == ""


def test_help_and_bad_options_answer_before_anything_large_is_loaded():
    large = "{'torch', 'numba', 'scipy', 'pandas', 'matplotlib'}"
    told = f"import sys, attention_book.cli; print(*{large} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", told], capture_output=True, text=True).stdout == "\n"


# What did not converge


def test_a_branch_that_does_not_exist_is_no_success(run):
    code, out, err = run("theory", "--alpha", ".3", "--branch", "semantic", *FEW, "--json")
    assert code == 1
    assert only_object(out)["converged"] is False
    assert err.count("\n") == 1 and "semantic" in err and "alpha = 0.3" in err


OVERFLOWS = [
    (*THEORY, "--sigma", "1e-300"),
    (*THEORY, "--sigma", "1e10"),
    (*THEORY, "--alpha", "1e300"),
    (*BASELINE, "--sigma", "1e300"),
    (*SIMULATE, "--sigma", "1e20"),
    (*SIMULATE, "--lam", "1e300"),
    (*SIMULATE, "--matrix", "1e300,1;1,1e300"),
]
TOO_LARGE = [
    (*THEORY, "--points", str(2**40)),
    (*THEORY, "--points", str(2**70)),
    (*THRESHOLD, "--points", str(2**70)),
    (*THEORY, "--scrambles", str(10**12)),
    (*THRESHOLD, "--scrambles", str(10**12)),
    (*SIMULATE, "--d", str(10**8)),
    (*SIMULATE, "--d", "2", "--alpha", "1e20"),
]
WITHOUT_RESULT = [
    *((arguments, "^no result at these parameters: ") for arguments in TOO_LARGE),
    *((arguments, "result") for arguments in OVERFLOWS),
    (("threshold", "--kind", "critical", *FEW, "--omega", "1"), "no critical threshold found"),
    (("threshold", "--kind", "linear", *FEW, "--omega", "1"), "no linear threshold found"),
    (("gamp", "--alpha", "1", "--d", "10", "--init", "random", "--lam", "1e-300"),
     r"not settled after \d+ iterations: relative change nan"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "words"), WITHOUT_RESULT, ids=[" ".join(given) for given, _ in WITHOUT_RESULT])
@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_no_result_is_a_failure_in_one_line(complaint, arguments, words, form):
    assert re.search(words, complaint(1, *arguments, *form))


def test_a_vanishing_penalty_is_a_limit(run):
    found = [json.loads(run(*THEORY, "--lam", lam, "--json")[1]) for lam in ("1e-300", "1e-12")]
    assert [found[0][name] for name in ("q", "theta", "train_loss")] == pytest.approx(
        [found[1][name] for name in ("q", "theta", "train_loss")], rel=1e-8
    )


# What is refused

TASKS = (THEORY, THRESHOLD, BASELINE, SIMULATE)
REALS = {
    "alpha": ((THEORY, SIMULATE), ("0", "-1", "nan", "inf", "-1e400", "two")),
    "omega": (TASKS, ("-0.1", "1.1", "nan", "inf", "half")),
    "sigma": (TASKS, ("0", "-1", "nan", "inf")),
    "lam": (TASKS, ("0", "-1", "nan", "inf")),
}
MATRICES_REFUSED = (
    "identity", "", "1,2,3,4", "1,2;3", "1,2;3,4;5,6", "1;2", "a,b;c,d", "1,nan;0,1", "1,inf;0,1", "1,2\n3,4",
)  # fmt: skip
OTHERS = {
    "points": ((THEORY, THRESHOLD), ("0", "-16", "8", "100", "1e3")),
    "scrambles": ((THEORY, THRESHOLD), ("0", "-1", "3", "4.5")),
    "seed": ((THEORY, THRESHOLD, SIMULATE, ("verify",)), ("-1", "1.5", "x")),
    "d": ((SIMULATE,), ("0", "-5", "1", "x")),
    "seeds": ((SIMULATE,), ("0", "-1", "1.5")),
    "workers": ((SIMULATE, ("sweep", "fig02", "--profile", "smoke")), ("0", "-1", "two")),
    "sample": ((("verify",),), ("0", "-1", "x")),
    "branch": ((THEORY,), ("both",)),
    "kind": ((THRESHOLD,), ("best",)),
    "init": ((SIMULATE,), ("teacher",)),
    "optimizer": ((SIMULATE,), ("sgd",)),
    "profile": ((("sweep", "fig02"),), ("huge",)),
    "matrix": ((THEORY, BASELINE, SIMULATE), MATRICES_REFUSED),
}
BAD = [
    (command, name, value)
    for name, (commands, values) in {**REALS, **OTHERS}.items()
    for command, value in product(commands, values)
]


@pytest.fixture
def nowhere(tmp_path, monkeypatch):
    """A checkout without results, so that what is refused late leaves its traces here."""
    monkeypatch.setattr(results, "BUILT", tmp_path / "built")
    for module in (results, verification):
        monkeypatch.setattr(module, "DATA", tmp_path / "data")
    return tmp_path


@pytest.mark.parametrize(("command", "name", "value"), BAD, ids=[f"{c[0]}-{n}={v[:12]!r}" for c, n, v in BAD])
def test_bad_input_is_one_line_that_names_it(complaint, nowhere, command, name, value):
    err = complaint(2, *command, f"--{name}={value}", "--json")
    assert name in err and all(entry in err for entry in typed(name, value))
    assert list(nowhere.iterdir()) == []


def typed(name, value):
    """What the complaint must show: each number of a matrix, and a number of the real line as Python writes it."""
    if name == "matrix":
        return value.replace(";", ",").replace("\n", ",").split(",")
    try:
        return [str(float(value)) if name in REALS else value]
    except ValueError:  # no number
        return [value]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((), "COMMAND"),
        (("thoery",), "thoery"),
        (("theory", "--branch", "semantic"), "--alpha"),
        (("theory", "--alpha", "2"), "--branch"),
        (("sweep",), "name"),
        (("sweep", "fig99"), "fig99"),
        (("sweep", "fig02", "--scheduler", "tcp://127.0.0.1:1", "--workers", "2"), "--workers: not allowed with"),
        (("baseline", "--gamma", "3"), "--gamma"),
        (("baseline", "two\nlines"), "two lines"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_command_line_that_makes_no_sense_is_one_line_too(complaint, arguments, named):
    assert re.search(named, complaint(2, *arguments))


# Sweeps and their results


@pytest.fixture
def tiny(monkeypatch):
    """Figure 2 with three cells, the same for every profile, computed in this process: to start another takes longer.

    A sweep over processes is what `test_sweep.py` is about.
    """

    def fig02(profile, omega=0.3):
        return [cells.StudentCell("fig02", Task(omega=omega), alpha, 20, 0, "lbfgs") for alpha in (0.5, 1.0, 1.5)]

    monkeypatch.setitem(experiments.GRIDS, "fig02", fig02)
    monkeypatch.setattr(results, "process_pool", lambda workers: ThreadPoolExecutor(1))
    return fig02("smoke")


@pytest.fixture
def swept(tiny, tmp_path, answer):
    """Arguments of a sweep that has been done, into a folder of the test."""
    arguments = ("sweep", "fig02", "--profile", "smoke", "--workers", 1, "--quiet",
                 "--store", tmp_path / "s.sqlite", "--data", tmp_path / "data")  # fmt: skip
    assert answer(*arguments) == {
        "done": 3, "skipped": 0, "failed": 0, "store": str(tmp_path / "s.sqlite"), "data": str(tmp_path / "data"),
    }  # fmt: skip
    return arguments


@pytest.fixture
def stored(swept, tmp_path, monkeypatch):
    """Path of the table of that sweep, which is the stored result of Figure 2."""
    for module in (results, verification):
        monkeypatch.setattr(module, "DATA", tmp_path / "data")
    monkeypatch.setattr(results, "BUILT", tmp_path / "built")
    return tmp_path / "data/fig02.parquet"


def counts(summary):
    return summary["done"], summary["skipped"], summary["failed"]


def test_a_sweep_computes_nothing_twice(swept, answer, tmp_path):
    table = load(tmp_path / "data/fig02.parquet")
    assert len(table) == 6 and set(table["start"]) == {"semantic", "positional"}
    assert counts(answer(*swept)) == (0, 3, 0)
    (tmp_path / "s.sqlite").unlink()  # the tables alone are enough to go on from
    assert counts(answer(*swept)) == (0, 3, 0)
    pd.testing.assert_frame_equal(load(tmp_path / "data/fig02.parquet"), table)


def test_a_sweep_goes_on_from_a_part(swept, answer, tmp_path, monkeypatch):
    path = tmp_path / "data/fig02.parquet"
    before = load(path)
    wanted = experiments.grid("fig02", "smoke")
    wanted.append(cells.StudentCell("fig02", Task(), 2.0, 20, 0, "lbfgs"))
    monkeypatch.setitem(experiments.GRIDS, "fig02", lambda profile: wanted)
    (tmp_path / "s.sqlite").unlink()
    assert counts(answer(*swept)) == (1, 3, 0)
    after = load(path)
    assert set(after["alpha"]) == {0.5, 1.0, 1.5, 2.0}
    kept = after[after["alpha"] < 2].reset_index(drop=True)
    pd.testing.assert_frame_equal(kept.astype(object), before.astype(object))  # the seconds too: not computed again


@pytest.mark.parametrize("quiet", [(), ("--quiet",)], ids=["shown", "quiet"])
@pytest.mark.parametrize(
    ("arguments", "unit"),
    [
        (("sweep", "fig02", "--profile", "smoke", "--workers", 1), "cell"),
        (("simulate", "--alpha", 1, "--d", 20, "--init", "semantic", "--seeds", 3), "data set"),
        (("gamp", "--alpha", 2, "--d", 100, "--init", "semantic"), "iteration"),
        (THRESHOLD, "point"),
        (("theory", "--alpha", 2, "--branch", "semantic", "--points", 64), "average"),
        (BREAKING, "root"),
        (("verify", "--experiment", "fig02", "--sample", 2), "cell"),
    ],
    ids=lambda each: each if isinstance(each, str) else each[0],
)
def test_progress_goes_to_a_terminal_with_the_time_left(tiny, run, tmp_path, monkeypatch, arguments, unit, quiet):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    if arguments[0] == "sweep":
        arguments = (*arguments, "--store", tmp_path / "s.sqlite", "--data", tmp_path / "data")
    code, out, err = run(*arguments, "--json", *quiet)
    assert code == 0 and only_object(out)
    assert bool(re.search(rf"\d+/\d+ \[\d\d:\d\d<[\d:?]+, .*{unit}", err)) is not bool(quiet)
    assert not quiet or err == ""


def test_a_store_that_cannot_be_opened_is_a_failure_in_one_line(tiny, complaint, tmp_path):
    err = complaint(1, "sweep", "fig02", "--store", tmp_path / "missing/s.sqlite", "--data", tmp_path, "--json")
    assert "missing/s.sqlite" in err


@pytest.mark.parametrize(
    ("address", "expected", "said"),
    [
        ("nowhere", 2, "scheduler = nowhere: must be an address such as tcp://host:8786"),
        ("foo://host:1", 2, "scheduler = foo://host:1: must be"),
        ("tcp://127.0.0.1:1", 1, "scheduler tcp://127.0.0.1:1: no Dask scheduler answers"),
    ],
)
def test_a_scheduler_that_cannot_be_reached_is_one_line_and_leaves_no_file(
    tiny, complaint, nowhere, monkeypatch, address, expected, said
):
    monkeypatch.setattr(executors, "TIMEOUT", 1)
    assert complaint(expected, "sweep", "fig02", "--scheduler", address, "--json").startswith(said)
    assert list(nowhere.iterdir()) == []


def alter(path, column, change):
    """Change the first row of a stored table, as a slip of the pen would."""
    table = pq.read_table(path)
    values = table[column].to_pylist()
    values[0] = change(values[0])
    place = table.column_names.index(column)
    pq.write_table(table.set_column(place, column, pa.array(values, table.schema.field(column).type)), path)


def test_verify_recomputes_what_is_stored(stored, answer, run):
    found = answer("verify")
    assert {name: found[name] for name in ("cells", "mismatches", "other_minima")} == {
        "cells": 3, "mismatches": [], "other_minima": [],
    }  # fmt: skip
    assert 0 <= found["expected_other_minima"]["cells"] < 1
    assert answer("verify", "--sample", 2)["cells"] == 2
    right = load(stored)["theta"].iloc[0]
    allowed = kinds.STUDENTS["theta"][1]
    alter(stored, "theta", lambda value: value + 0.3 * allowed)
    assert answer("verify")["mismatches"] == []
    alter(stored, "theta", lambda value: value + 2 * allowed)
    code, out, err = run("verify", "--json")
    (found,) = only_object(out)["mismatches"]
    assert code == 1 and err == "1 stored values differ\n"
    assert found["column"] == "theta"
    assert found["stored"] == pytest.approx(right + 2.3 * allowed, abs=1e-12)
    assert found["recomputed"] == pytest.approx(right, abs=allowed)


@pytest.mark.parametrize(("column", "change"), [("start", lambda value: "random"), ("seed", lambda value: value + 1)])
def test_verify_finds_altered_names_and_parameters(stored, run, column, change):
    alter(stored, column, change)
    code, out, _ = run("verify", "--json")
    assert code == 1 and [each["column"] for each in only_object(out)["mismatches"]] == [column]


def test_verify_without_results_is_a_failure(nowhere, complaint):
    assert str(nowhere / "data") in complaint(1, "verify", "--json")


def test_an_experiment_is_read_where_it_is_stored(stored, monkeypatch):
    monkeypatch.setattr(results, "compute", lambda *_: pytest.fail("computed although it is stored"))
    pd.testing.assert_frame_equal(results.experiment("fig02", "paper"), load(stored))


def test_an_experiment_computes_what_is_missing_and_leaves_data_alone(stored, monkeypatch):
    before, old = stored.read_bytes(), load(stored)
    wanted = [*experiments.grid("fig02", "paper")[:2], cells.StudentCell("fig02", Task(), 2.0, 20, 0, "lbfgs")]
    monkeypatch.setitem(experiments.GRIDS, "fig02", lambda profile: wanted)
    table = results.experiment("fig02", "paper", workers=1, quiet=True)
    assert sorted(set(table["alpha"])) == [0.5, 1.0, 2.0]  # the stored third one is not asked for
    known = old["alpha"] < 1.5
    assert table[table["alpha"] < 2]["seconds"].tolist() == old[known]["seconds"].tolist()  # read, not computed
    assert stored.read_bytes() == before and list(stored.parent.iterdir()) == [stored]


@pytest.mark.parametrize("profile", ["laptop", "smoke"])
def test_other_profiles_compute_all_once_and_leave_data_alone(stored, profile, monkeypatch):
    before, old = stored.read_bytes(), load(stored)
    table = results.experiment("fig02", profile, workers=1, quiet=True)
    assert set(table["cell"]) == set(old["cell"])
    assert set(table["seconds"]).isdisjoint(old["seconds"])
    assert stored.read_bytes() == before
    # Another notebook reads what this one has computed; other code computes anew.
    again = results.experiment("fig02", profile, workers=1, quiet=True)
    assert again["seconds"].tolist() == table["seconds"].tolist()
    monkeypatch.setattr(provenance, "source_digest", lambda: "other")
    anew = results.experiment("fig02", profile, workers=1, quiet=True)
    assert set(anew["seconds"]).isdisjoint(table["seconds"])


def test_an_interrupted_profile_goes_on(monkeypatch, tmp_path):
    monkeypatch.setattr(results, "BUILT", tmp_path / "built")
    wanted = [cells.StudentCell("fig02", Task(), alpha, 20, 0, "lbfgs") for alpha in (0.5, 1.0, 1.5)]
    monkeypatch.setitem(experiments.GRIDS, "fig02", lambda profile: wanted)
    train, calls = simulation.train_students, []

    def failing(cell):
        calls.append(cell.alpha)
        if len(calls) == 2:
            raise ArithmeticError("stopped here")
        return train(cell)

    monkeypatch.setattr(simulation, "train_students", failing)
    with pytest.raises(SweepError, match="1 of 3 cells failed"):
        results.experiment("fig02", "smoke", quiet=True)
    table = results.experiment("fig02", "smoke", quiet=True)
    assert calls == [0.5, 1.0, 1.5, 1.0] and sorted(set(table["alpha"])) == [0.5, 1.0, 1.5]


@pytest.mark.parametrize(
    ("changed", "kept"),
    [
        ("attention_phases/model/two_tokens.py", False),
        ("attention_book/experiments/simulation.py", False),
        ("attention_book/render/markup.py", True),
    ],
)
def test_results_outlive_a_change_of_a_page_but_not_of_the_science(tmp_path, monkeypatch, changed, kept):
    monkeypatch.setattr(provenance, "ROOT", tmp_path)
    path = tmp_path / "src" / changed
    path.parent.mkdir(parents=True)
    digests = []
    for source in ("x = 1", "x = 2"):
        path.write_text(source)
        digests.append(provenance.source_digest.__wrapped__())
    assert (digests[0] == digests[1]) == kept
