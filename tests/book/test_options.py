"""Every option of every command arrives, from the parser's own list: another value of it changes what is seen.

What a command answers then is what the library says itself, of the same seed. A new option is tested with its choices;
without any it has an entry in `OTHERS` or in its command's, else its test fails.
"""

import re
import sys
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import authors_tables
import numpy as np
import pytest
import reference
from answers import only_object

from attention_book.command_line import execution, printing
from attention_book.command_line import main as cli
from attention_book.experiments import grid, grids, results, verification
from attention_book.paths import notebooks, stored_table
from attention_book.store.parquet import load
from attention_book.store.sweep import Summary
from attention_phases import Architecture, Measured, Task, machine, message_passing, solve, theory, train
from attention_phases.amp import message_passing as passing
from attention_phases.amp.recovery import recover
from attention_phases.beyond.one_step.solution import one_step
from attention_phases.beyond.optimal import optimal
from attention_phases.errors import BadInput
from attention_phases.theory import baseline, linear_baseline
from attention_phases.theory.branches import MINIMA
from attention_phases.theory.thresholds import Threshold

CALLS = []  # of what a test does not wait for: pools of processes, cells, files, pages


def task(options, **structure):
    return Task(options.omega, options.sigma, options.lam, options.matrix, **structure)


def structured(options):
    return task(options, spectrum=options.covariance, encoding=options.encoding)


def architecture(options):
    return Architecture(options.architecture, options.tokens, options.token_correlation)


def quadrature(options):
    return options.points, options.scrambles, options.seed


def seeds(options):
    return range(options.seed, options.seed + options.seeds)


def of_theory(options):
    if options.breaking:
        ground = one_step(structured(options), options.alpha, options.branch, options.y, *quadrature(options))
        return {**ground.quantities, "stderr": ground.stderr}
    net = quadrature(options)
    solution = solve(structured(options), options.alpha, options.branch, *net, architecture=architecture(options))
    named = {name: np.asarray(value).tolist() for name, (value, _) in solution.named(options.sigma**2).items()}
    errors = {name: solution.stderr[name] for name in ("train_loss", "test_mse")}
    losses = {name: getattr(solution, name) for name in errors}
    return named | losses | {"iterations": solution.iterations, "stderr": errors}


def of_threshold(options):
    size = structured(options), options.kind, *quadrature(options)
    found = {"alpha": 1.25, "stderr": 0.01, "kind": options.kind, "omega": options.omega}
    return found | {"calls": [str((size, architecture(options)))]}


def of_baseline(options):
    return {"test_mse": linear_baseline(structured(options), architecture(options))}


def of_optimal(options):
    learner = optimal(task(options), options.alpha, options.tokens)
    found = {"q": learner.q.value, "test_mse": learner.test_mse.value, "reached": learner.reached}
    if not options.d:
        return found
    size = task(options), options.alpha, options.d
    runs = [recover(*size, np.random.default_rng(seed), options.tokens)._asdict() for seed in seeds(options)]
    return found | {"runs": [{"seed": seed, **run} for seed, run in zip(seeds(options), runs)]}


def of_end(options):
    place = Task(options.omega or Task.omega, options.sigma, matrix=options.matrix)
    calls = [str((place, what)) for what in (*baseline.FLOOR_MET, *MINIMA)]
    return {"calls": calls} | ({"floors": baseline.floors(place)} if options.omega else {})


def of_simulate(options):
    size = structured(options), options.alpha, options.d, seeds(options), options.init, options.optimizer
    runs = train(*size, architecture(options), workers=1)
    columns = runs.columns.intersection(["seed", "train_loss", "test_mse", "steps"])
    return {"runs": runs[columns].to_dict("records")}


def of_gamp(options):
    size = structured(options), options.alpha, options.d, options.seed
    passed = message_passing(*size, options.init, options.damping, options.steps)
    return {"V": passed.V, "test_mse": passed.test_mse, "change": passed.run.history["change"].tolist()[1:]}


def of_sweep(options):
    ours = results.folder_of(options.profile)
    if options.grid:
        cells, near = grids.own_cells({"alpha": [1.0], "d": 20}, "mine"), options.grid.parent
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
    idle: tuple = ()  # options of a task that are taken, so that one line suits all commands, and that do not enter
    waits: str = ""  # the unit in which its progress is told


OTHERS = {  # values
    **{"alpha": "2", "sigma": ".6", "matrix": "0.3,0.7;0.8,0.2", "omega": ".45", "lam": ".02", "encoding": "2"},
    **{"covariance": "0.05,0.5,1,0;0.65,0.5", "tokens": "3", "token-correlation": ".3", "points": "32", "seed": "5"},
    **{"scrambles": "8", "d": "24", "seeds": "3", "workers": "2", "out": "elsewhere", "y": "300", "damping": ".6"},
    **{"steps": "3", "scheduler": "tcp://a:1", "name": "fig07", "store": "mine.sqlite", "set": "omega=.45"},
    **{"data": "mine", "grid": "mine.toml", "experiment": "fig14", "sample": "2", "folder": "others"},
}
NET, ONE = "--points 16 --scrambles 4", "--d 16 --seeds 1"
FOUND = f"--alpha 2 --branch positional {NET}"
BROKEN = f"--y 100 --alpha .75 --omega .1 --branch positional {NET}"
OF_THEORY = {"y": f"--breaking 1 {BROKEN}", "breaking": BROKEN, "architecture": FOUND}
OF_STUDENTS = {"init": f"--architecture untied {ONE}", "optimizer": "--d 4 --seeds 1", "workers": "--d 16 --seeds 2"}
COMMANDS = {
    "theory": Command(NET, of_theory, OF_THEORY, waits="average"),
    "threshold": Command(NET, of_threshold, waits="point"),
    "baseline": Command("", of_baseline, idle=("matrix", "lam", "encoding", "architecture")),
    "optimal": Command(ONE, of_optimal, {"lam": "", "matrix": ""}, idle=("lam", "matrix"), waits="data set"),
    "end": Command("", of_end),
    "simulate": Command(ONE, of_simulate, OF_STUDENTS, waits="data set"),
    "gamp": Command("--d 40 --steps 5", of_gamp, waits="iteration"),
    "sweep": Command("fig02 --profile smoke", of_sweep, {"name": "", "grid": "", "profile": "fig02"}),
    "verify": Command("--experiment fig07 --sample 3", of_verify, waits="cell"),
    "published": Command("theirs", of_published, {"folder": ""}),
    "figure": Command("fig02", of_figure, {"name": ""}),
    "figures": Command("", lambda options: {"figures": [{"figure": name} for name in notebooks()]}),
}
NUMBER = re.compile(r"[-\d.e() ]+")  # of which some are seconds
(SUBPARSERS,) = [dict(action.choices) for action in cli.parser()._actions if action.choices]
OPTIONS = [(name, action) for name, parser in SUBPARSERS.items() for action in parser._actions]
OPTIONS = [(name, action) for name, action in OPTIONS if action.dest not in ("help", "json", "quiet")]


@pytest.fixture(autouse=True)
def stored(monkeypatch, tmp_path):
    """Results of the smallest size, and files of one's own; no process is started, no cell computed, no page built."""

    @contextmanager
    def pool(workers, spawn):
        CALLS.append(workers)
        yield SimpleNamespace(map=map)

    def computed(*arguments):
        CALLS.append(str(arguments))
        return Summary(0, 0, [])

    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text("alpha = [1.0]\nd = 20\n", encoding="utf-8")

    def looked_for(*size, architecture, report):
        CALLS.append(str((size, architecture)))
        return Threshold(Measured(1.25, 0.01), {})

    def ended(*place):
        CALLS.append(str(place))
        return Measured(0.5, 0.01)

    monkeypatch.setattr(passing, "MODE_POINTS", 16)  # of the advice on damping
    monkeypatch.setattr(theory, "threshold", looked_for)
    monkeypatch.setattr(baseline, "diverges_at", ended)
    monkeypatch.setattr(baseline, "minimum_bound", ended)
    monkeypatch.setattr(machine, "process_pool", pool)
    monkeypatch.setattr(results, "compute", computed)
    monkeypatch.setattr(verification, "DATA", reference.RESULTS)
    monkeypatch.setattr(verification, "check_cell", lambda _, rows: CALLS.append(rows["cell"].iloc[0]) or ([], []))
    compared = load(stored_table("published_tables"))
    monkeypatch.setattr(authors_tables, "compare_tables", lambda folder: CALLS.append(str(folder)) or (compared, []))
    monkeypatch.setattr(authors_tables, "write_comparison", lambda _, path: CALLS.append(str(path)))
    monkeypatch.setattr(execution, "run_figure", lambda *arguments: CALLS.append(str(arguments)) or {})


@pytest.fixture
def seen(run):
    """A function that runs a command: its exit code, what it prints but how long it took, and what it calls."""

    def seen(*words):
        CALLS.clear()
        code, out, err = run(*words)
        return code, re.sub(r'"seconds": [^,}]*', '"seconds": 0', out), err, [*CALLS]

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
        assert (without_origin(after) == without_origin(before)) is (option in command.idle), words
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
    assert NUMBER.sub("", out) == NUMBER.sub("", printing.readable_text(answer) + "\n")
    described = re.findall(r"\w+", seen(name, "--help")[1].partition("JSON: ")[2])
    rows = [row for value in answer.values() if isinstance(value, list) for row in value if isinstance(row, dict)]
    assert answer.keys() | {column for row in rows for column in row} <= {*described}
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    bar = rf"\d+/\d+ \[\d\d:\d\d<[\d:?]+, .*{COMMANDS[name].waits}"
    assert bool(re.search(bar, seen(*words)[2])) is bool(COMMANDS[name].waits)
    assert seen(*words, "--quiet")[2] == problem
