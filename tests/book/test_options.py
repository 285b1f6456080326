"""Every option of every command arrives, from the parser's own list: another value of it changes what is seen.

What a command answers then is what the library says itself. A new option is tested with its choices; without any it
has an entry in `OTHERS`, else its test fails.
"""

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import authors_tables
import pytest
import reference
from answers import only_object

from attention_book.command_line import execution, printing
from attention_book.command_line import main as cli
from attention_book.experiments import grid, own, results, verification
from attention_book.paths import notebooks, stored_table
from attention_book.store.parquet import load
from attention_book.store.sweep import Summary
from attention_phases import Architecture, BadInput, Measured, Task, theory
from attention_phases.theory.thresholds import Threshold

CALLS = []  # of what a test does not wait for: searches, cells, files, pages


def of_threshold(options):
    plain = options.omega, options.sigma, options.lam, options.matrix
    task = Task(*plain, spectrum=options.covariance, encoding=options.encoding)
    architecture = Architecture(options.architecture, options.tokens, options.token_correlation)
    size = task, options.kind, options.points, options.scrambles, options.seed
    found = {"alpha": 1.25, "stderr": 0.01, "kind": options.kind, "omega": options.omega}
    return found | {"calls": [str((size, architecture))]}


def of_sweep(options):
    ours = results.folder_of(options.profile)
    if options.grid:
        cells, near = own.own_cells({"alpha": [1.0], "d": 20}, "mine"), options.grid.parent
        usual = near / "mine.sqlite", near
    else:
        changes = {"omega": 0.45} if options.set else {}
        cells = grid(options.name, options.profile, **changes)
        paper = options.profile == "paper" and not changes
        usual = ours / f"{options.name}.sqlite", results.DATA if paper else ours
    store, data = (given or place for given, place in zip((options.store, options.data), usual))
    return {"calls": [str((cells, store, data, options.workers, options.quiet, options.scheduler))]}


def of_verify(options):
    CALLS.clear()
    verification.check(options.sample, options.seed, options.experiment)
    assert all(f'"experiment":"{options.experiment}"' in cell for cell in CALLS if options.experiment)
    return {"cells": options.sample, "calls": [*map(str, CALLS)]}


def of_published(options):
    return {"calls": [str(options.folder), *([str(options.out)] if options.out else [])]}


def of_figure(options):
    folder = options.out or Path("_build/figures", options.name)
    return {"calls": [str((options.name, options.profile, options.set, folder, options.quiet))]}


class Command(NamedTuple):
    """The smallest size at which a command shows all, and what the library says of it."""

    given: str
    library: Callable  # what the answer must have; a function of the parsed options
    at: dict = {}  # noqa: RUF012  # other arguments than `given`, by option
    waits: str = ""  # the unit in which its progress is told


OTHERS = {  # values
    **{"sigma": ".6", "matrix": "0.3,0.7;0.8,0.2", "omega": ".45", "lam": ".02", "encoding": "2"},
    **{"covariance": "0.05,0.5,1,0;0.65,0.5", "tokens": "3", "token-correlation": ".3", "points": "32", "seed": "5"},
    **{"scrambles": "8", "workers": "2", "out": "elsewhere", "scheduler": "tcp://a:1", "name": "fig07"},
    **{"store": "mine.sqlite", "set": "omega=.45", "data": "mine", "grid": "mine.toml", "experiment": "fig14"},
    **{"sample": "2", "folder": "others"},
}
COMMANDS = {
    "threshold": Command("--points 16 --scrambles 4", of_threshold, waits="point"),
    "sweep": Command("fig02 --profile smoke", of_sweep, {"name": "", "grid": "", "profile": "fig02"}),
    "verify": Command("--experiment fig07 --sample 3", of_verify, waits="cell"),
    "published": Command("theirs", of_published, {"folder": ""}),
    "figure": Command("fig02", of_figure, {"name": ""}),
    "figures": Command("", lambda options: {"figures": [{"figure": name} for name in notebooks()]}),
}
(SUBPARSERS,) = [dict(action.choices) for action in cli.parser()._actions if action.choices]
OPTIONS = [(name, action) for name, parser in SUBPARSERS.items() for action in parser._actions]
OPTIONS = [(name, action) for name, action in OPTIONS if action.dest not in ("help", "json", "quiet")]


@pytest.fixture(autouse=True)
def stored(monkeypatch, tmp_path):
    """Results of the smallest size, and files of one's own; no process is started, no cell computed, no page built."""

    def computed(*arguments):
        CALLS.append(str(arguments))
        return Summary(0, 0, [])

    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text("alpha = [1.0]\nd = 20\n", encoding="utf-8")

    def looked_for(*size, architecture, report):
        CALLS.append(str((size, architecture)))
        return Threshold(Measured(1.25, 0.01), {})

    monkeypatch.setattr(theory, "threshold", looked_for)
    monkeypatch.setattr(results, "compute", computed)
    monkeypatch.setattr(verification, "DATA", reference.RESULTS)
    monkeypatch.setattr(verification, "check_cell", lambda _, rows: CALLS.append(rows["cell"].iloc[0]) or ([], []))
    compared = load(stored_table("published_tables"))
    monkeypatch.setattr(authors_tables, "compare_tables", lambda folder: CALLS.append(str(folder)) or (compared, []))
    monkeypatch.setattr(authors_tables, "write_comparison", lambda _, path: CALLS.append(str(path)))
    monkeypatch.setattr(execution, "run_figure", lambda *arguments: CALLS.append(str(arguments)) or {})


@pytest.fixture
def seen(run):
    """A function that runs a command: its exit code, what it prints, and what it calls."""

    def seen(*words):
        CALLS.clear()
        return *run(*words), [*CALLS]

    return seen


def without_origin(seen):
    """What a command says, but for the options themselves, which its object repeats."""
    code, out, err, calls = seen
    answer = only_object(out) if out else {}
    return code, {name: value for name, value in answer.items() if name != "origin"}, err, calls


def contains(answer, library):
    """Whether an answer has all that the library says."""
    if isinstance(library, dict):
        return all(contains(answer[name], value) for name, value in library.items())
    if isinstance(library, list):
        return len(answer) == len(library) and all(map(contains, answer, library))
    return answer == library


def test_every_command_is_here():
    assert COMMANDS.keys() == SUBPARSERS.keys()


@pytest.mark.parametrize(("name", "action"), OPTIONS, ids=[f"{name}-{action.dest}" for name, action in OPTIONS])
def test_another_value_changes_what_is_seen_to_what_the_library_says(seen, name, action):
    command = COMMANDS[name]
    option = action.dest.replace("_", "-")
    given = [name, *command.at.get(option, command.given).split(), "--json"]
    before = seen(*given)
    choices = [str(choice) for choice in action.choices or () if choice != action.default]
    values = [OTHERS[option]] if option in OTHERS else choices
    assert values, f"no other value of --{option} is named"
    for value in values:
        words = [*given, *action.option_strings, value]
        code, out, err, calls = after = seen(*words)
        assert without_origin(after) != without_origin(before), words
        try:
            library = command.library(cli.parser().parse_args(words))
        except BadInput:
            assert (code, out, err.count("\n")) == (2, "", 1), words
        else:
            assert contains(only_object(out) | {"calls": calls}, library), words


@pytest.mark.parametrize("name", SUBPARSERS)
def test_an_answer_is_for_people_or_one_object_that_the_help_describes_and_quiet_is_silent(seen, name, monkeypatch):
    words = [name, *COMMANDS[name].given.split()]
    _, out, err, _ = seen(*words)
    _, text, problem, _ = seen(*words, "--json")
    answer = only_object(text)
    origin = answer.pop("origin")
    assert origin["command"] == name and origin["version"] in origin["cite"] and {"commit"} <= {*origin}
    assert {*vars(cli.parser().parse_args(words))} - {"command", "json", "quiet"} <= {*origin}
    assert err == problem == seen(*words, "--quiet")[2]  # progress is a line a minute, so that bad input is one line
    assert out == printing.readable_text(answer) + "\n"
    described = re.findall(r"\w+", seen(name, "--help")[1].partition("JSON: ")[2])
    rows = [row for value in answer.values() if isinstance(value, list) for row in value if isinstance(row, dict)]
    assert answer.keys() | {column for row in rows for column in row} <= {*described}
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    bar = rf"\d+/\d+ \[\d\d:\d\d<[\d:?]+, .*{COMMANDS[name].waits}"
    assert bool(re.search(bar, seen(*words)[2])) is bool(COMMANDS[name].waits)
    assert seen(*words, "--quiet")[2] == problem
