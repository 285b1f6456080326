"""Every option of every command has an effect: the lines of `tests/cases/calls.txt` give the calls of the library.

A new option needs a line with a value that differs from its default; otherwise a test fails.
"""

import re
import sys
from functools import partial
from pathlib import Path

import authors_tables
import execution
import pytest
from answers import only_object
from cases import cases

from attention_book.command_line import main as cli, printing
from attention_book.experiments import grid, own, results, verification
from attention_book.paths import stored_table
from attention_book.store.parquet import load
from attention_book.store.sweep import Summary
from attention_phases import Architecture, Measured, Task, theory
from attention_phases.theory.thresholds import Threshold

LINES = cases("calls")
CALLED = ("threshold", "compute", "check", "compare_tables", "write_comparison", "run_figure")
NAMES = {"Task": Task, "Architecture": Architecture, "Path": Path, "grid": grid, "own_cells": own.own_cells}
NAMES |= {"folder_of": results.folder_of, "DATA": results.DATA}
NAMES |= {name: lambda *arguments, name=name: (name, *arguments) for name in CALLED}
(SUBPARSERS,) = [dict(action.choices) for action in cli.parser()._actions if action.choices]
OPTIONS = [(name, action) for name, parser in SUBPARSERS.items() for action in parser._actions]
OPTIONS = [(name, action) for name, action in OPTIONS if action.dest not in ("help", "json", "quiet")]


@pytest.fixture(autouse=True)
def calls(monkeypatch, tmp_path):
    """Return the recorded calls of slow functions, each of which is replaced by a function with a small result."""
    calls = []

    def note(name, answer, *arguments, architecture=None, report=None):
        calls.append((name, *arguments, *([architecture] if architecture else [])))
        return answer

    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text("alpha = [1.0]\nd = 20\n", encoding="utf-8")
    compared, mismatch = load(stored_table("published_tables")), verification.Mismatch("{}", "q", 0.1, 0.2)
    checked = verification.CheckResult(3, 6, [mismatch], [verification.OtherMinimum("{}", 0, 0.1, 0.2)])
    monkeypatch.setattr(theory, "threshold", partial(note, "threshold", Threshold(Measured(1.25, 0.01), {})))
    monkeypatch.setattr(results, "compute", partial(note, "compute", Summary(0, 0, [], 0)))
    monkeypatch.setattr(verification, "check", partial(note, "check", checked))
    monkeypatch.setattr(authors_tables, "compare_tables", partial(note, "compare_tables", (compared, [])))
    monkeypatch.setattr(authors_tables, "write_comparison", lambda _, path: note("write_comparison", None, path))
    monkeypatch.setattr(execution, "run_figure", lambda *arguments: note("run_figure", {"svg": []}, *arguments))
    return calls


@pytest.mark.parametrize(("line", "expected"), LINES, ids=[line for line, _ in LINES])
def test_a_command_calls_the_library_with_its_options(run, calls, line, expected):
    run(*line.split())
    assert calls == [*eval(f"{expected},", {**NAMES})]


def test_every_option_has_a_line_with_another_value():
    given = [cli.parser().parse_args(line.split()) for line, _ in LINES]
    for name, action in OPTIONS:
        values = [getattr(options, action.dest) for options in given if options.command.__name__ == name]
        assert any(value != action.default for value in values), (name, action.dest)


@pytest.mark.parametrize("line", [*dict(reversed([(line.split()[0], line) for line, _ in LINES])).values(), "figures"])
def test_an_answer_is_for_people_or_one_object_that_the_help_describes_and_quiet_is_silent(run, line, monkeypatch):
    words = line.split()
    code, out, err = run(*words)
    text, problem = run(*words, "--json")[1:]
    answer = only_object(text)
    origin = answer.pop("origin")
    assert origin["command"] == words[0] and origin["version"] in origin["cite"] and {"commit"} <= {*origin}
    assert {*vars(cli.parser().parse_args(words))} - {"command", "json", "quiet"} <= {*origin}
    # Progress is one line per minute, so that bad input leads to one line.
    assert err == problem == run(*words, "--quiet")[2]
    assert (code, problem.count("\n")) == ((1, 1) if words[0] == "verify" else (0, 0))
    assert out == printing.readable_text(answer) + "\n"
    described = re.findall(r"\w+", run(words[0], "--help")[1].partition("JSON: ")[2])
    tables = [value for value in answer.values() if isinstance(value, list) and words[0] != "verify"]
    assert answer.keys() | {column for rows in tables for row in rows for column in row} <= {*described}
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert bool(re.search(r"\d+/\d+ \[\d\d:\d\d<[\d:?]+, .*point", run(*words)[2])) is (words[0] == "threshold")
    assert run(*words, "--quiet")[2] == problem
