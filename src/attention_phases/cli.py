"""The book's work from a shell: `attention-phases COMMAND --help`.

Exit codes: 0 done; 1 the work failed, or a solution did not converge; 2 bad input, told in one line on stderr.
What a command needs is imported when it runs, so that --help and bad options answer at once.
"""

import argparse
import json
import sys
from concurrent.futures import BrokenExecutor
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import psutil

from .errors import BadInput, NotebookError, StoreError, SweepError, check_count
from .experiments import GRIDS, PROFILES, grid
from .model.architectures import SCORES, Architecture
from .progress import progress
from .task import Task


class Failed(RuntimeError):
    """The work could not be done; the message is one line."""


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        self.exit(2, _line(message) + "\n")  # without the usage text


def main(arguments=None):
    """Run one command and return its exit code."""
    options = _parser().parse_args(arguments)
    try:
        with np.errstate(all="ignore"):  # only the result has to be finite
            result = options.command(options)
        problem = result.pop("problem", None)
        text = _text(result, options.json, problem)
    except BadInput as error:
        print(_line(error), file=sys.stderr)
        return 2
    except (Failed, NotebookError, StoreError, SweepError) as error:
        print(_line(error), file=sys.stderr)
        return 1
    except (ArithmeticError, np.linalg.LinAlgError, MemoryError, BrokenExecutor) as error:
        print(_line(f"no result at these parameters: {type(error).__name__}: {error}"), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped; a sweep goes on from its store", file=sys.stderr)
        return 1
    print(text)
    if problem:
        print(problem, file=sys.stderr)
    return 1 if problem else 0


def theory(options):
    """One fixed point of the state evolution."""
    from .theory import solve

    task, architecture = _task(options), _architecture(options)
    if options.breaking:
        return _one_step_theory(options, task, architecture)
    if options.y is not None:
        raise BadInput("y", options.y, "left out without --breaking 1")
    quadrature = _quadrature(options, "solution", architecture)
    with progress(40, "average", options.quiet) as bar:
        found = solve(task, options.alpha, options.branch, *quadrature, architecture=architecture, report=bar.update)
    named = found.named(task.sigma**2)
    measured = [name for name in ("train_loss", "test_mse", "replicon", "gain") if name in found.spread]
    return {
        **{name: _plain(value) for name, (value, _) in named.items()},
        **{name: getattr(found, name) for name in (*measured, "free_energy")},
        **_outcome(options, found),
        "stderr": {name: _plain(error) for name, (_, error) in named.items()}
        | {name: found.stderr[name] for name in measured},
    }


def _one_step_theory(options, task, architecture):
    """The solution with one step of replica symmetry breaking: at a y, or the ground state."""
    from .theory.one_step.solution import one_step

    if architecture:
        raise BadInput("breaking", options.breaking, "0 for other students and sentences than the standard ones")
    quadrature = _quadrature(options, "one step", fields=6)
    with progress(6 if options.y is None else 2, "root", options.quiet) as bar:
        found = one_step(task, options.alpha, options.branch, options.y, *quadrature, report=lambda: bar.update(1))
    q0, gap, m, theta, V, y = found.valley
    return {
        **{"q0": q0, "q1": q0 + gap, "m": m, "theta": theta, "V": V, "y": y},
        **{name: getattr(found, name) for name in ("phi", "energy", "complexity", "shift")},
        **_outcome(options, found),
        "stderr": found.stderr,
    }


def _outcome(options, found):
    """How the solution of a branch ended, with the line that says so if it failed."""
    said = (
        f"no {options.branch} solution found at alpha = {options.alpha}: {found.reason}, residual {found.residual:.1e}"
    )
    outcome = {name: getattr(found, name) for name in ("residual", "converged", "reason", "iterations")}
    return outcome | {"problem": None if found.converged else said}


def _plain(value):
    """A number or nested lists of numbers, for JSON."""
    return np.asarray(value).tolist()


def threshold(options):
    """alpha_c or alpha_l."""
    from .theory import threshold
    from .theory.thresholds import MIDDLE_POINTS, ROUGH_POINTS

    task, architecture = _task(options), _architecture(options)
    quadrature = _quadrature(options, "threshold", architecture)
    search = 8 * min(quadrature[0], ROUGH_POINTS) + 3 * min(quadrature[0], MIDDLE_POINTS)  # about: points evaluated
    with progress(search + 2 * quadrature[0], "point", options.quiet) as bar:
        found = threshold(task, options.kind, *quadrature, architecture=architecture, report=bar.update)
    if not found.converged:
        raise Failed(f"no {options.kind} threshold found at omega = {task.omega}")
    return {"alpha": found.alpha, "stderr": found.stderr, "kind": options.kind, "omega": task.omega}


def baseline(options):
    """Test error of the linear model."""
    from .theory import linear_baseline

    return {"test_mse": linear_baseline(_task(options), _architecture(options))}


def simulate(options):
    """Train one student on each of several data sets."""
    from .experiments.architecture_grids import architecture_cell
    from .experiments.cells import student_cell
    from .experiments.results import work
    from .model.rank_one import sentences
    from .sweep.running import process_pool

    seeds, first = check_count("seeds", options.seeds), check_count("seed", options.seed, at_least=0)
    workers = check_count("workers", options.workers)
    task = _task(options)
    sentences(options.alpha, options.d, copies=workers)
    size, starts, optimizer = (options.alpha, options.d), (options.init,), options.optimizer
    if architecture := _architecture(options):
        cells = [
            architecture_cell("simulate", architecture, *size, seed, starts, task, optimizer) for seed in range(seeds)
        ]
    else:
        cells = [student_cell("simulate", task, *size, seed, optimizer, starts) for seed in range(seeds)]
    cells = [replace(each, seed=first + each.seed) for each in cells]
    rows = []
    pool = process_pool(workers) if workers > 1 else nullcontext()
    with pool as executor, progress(seeds, "data set", options.quiet) as bar:
        for found in executor.map(work, cells) if executor else map(work, cells):
            rows += found
            bar.update()
    measured = [name for name in rows[0] if name != "start"]
    columns = {name: [row[name] for row in rows] for name in measured}
    return {
        "runs": [{"seed": each.seed, **{name: row[name] for name in measured}} for each, row in zip(cells, rows)],
        "mean": {name: sum(values) / seeds for name, values in columns.items()},
        "stderr": {name: _standard_error(values) for name, values in columns.items()},
    }


def gamp(options):
    """Message passing (Algorithm 1) on one data set."""
    from .model.rank_one import sample, sentences
    from .training.message_passing import TOLERANCE, iterate, limiting, start_state
    from .training.optimizers import start_weights

    task = _task(options)
    sentences(options.alpha, options.d, copies=3)  # in float64, and a moment in both precisions
    rng = np.random.default_rng(check_count("seed", options.seed, at_least=0))
    drawn = sample(task, options.alpha, options.d, rng)
    data = limiting(task, drawn)
    start = start_state(task, data, start_weights(options.init, drawn.teacher, rng))
    with progress(options.steps, "iteration", options.quiet) as bar:

        def report(done, change):
            share = np.log(min(change, 0.9)) / np.log(TOLERANCE)  # the change shrinks by about a factor each time
            bar.total = min(options.steps, max(done, round(done / share)))
            bar.update()

        found = iterate(task, data, start, options.damping, options.steps, report=report)
    last = found.history.iloc[-1]
    change = found.history["change"].tolist()[1:]
    problem = None
    if not found.converged:
        problem = f"not settled after {len(change)} iterations: relative change {change[-1]:.1e}"
    values = {name: float(last[name]) for name in ("q", "m", "theta", "V")}
    return {**values, "change": change, "converged": found.converged, "problem": problem}


def sweep(options):
    """Compute the cells of an experiment that are not there yet."""
    from .experiments import results

    cells = grid(options.name, options.profile)
    kept = results.folder_of(cells[0], options.profile)
    folder = options.data or (results.DATA if options.profile == "paper" else kept)
    path = options.store or kept / f"{options.name}.sqlite"
    summary = results.compute(cells, path, folder, options.workers, options.quiet, options.scheduler)
    return {"done": summary.done, "skipped": summary.skipped, "failed": 0, "store": str(path), "data": str(folder)}


def verify(options):
    """Recompute stored cells."""
    from .experiments.results import check

    checked = check(options.sample, options.seed, options.experiment, options.quiet)
    return {
        "cells": checked.cells,
        "mismatches": [each._asdict() for each in checked.mismatches],
        "other_minima": [each._asdict() for each in checked.other_minima],
        "expected_other_minima": checked.expected._asdict(),
        "problem": checked.problem,
    }


def figure(options):
    """Compute one figure with parameters of your own."""
    from .notebooks.figure import run_figure

    folder = options.out or Path("_build", "figures", options.name)
    return run_figure(options.name, options.profile, options.set, folder, options.quiet)


def figures(options):
    """The figures of the book, with the notebook of each."""
    from .paths import ROOT, figure_texts

    listed = [(name, path.relative_to(ROOT).as_posix()) for name, path in figure_texts().items()]
    return {"figures": [{"figure": name, "notebook": path} for name, path in listed]}


def _task(options):
    matrix = options.matrix
    if ";" in matrix:
        matrix = [row.split(",") for row in matrix.split(";")]
    return Task(omega=options.omega, sigma=options.sigma, lam=options.lam, matrix=matrix)


def _architecture(options):
    """The architecture asked for; None for the standard one."""
    asked = Architecture(options.architecture, options.tokens, options.token_correlation)
    return None if asked == Architecture() else asked


def _quadrature(options, purpose, architecture=None, fields=None):
    """Points, scrambles and seed, by default the library's; `fields` is the number of dimensions where it is known."""
    from scipy.stats.qmc import Sobol

    from .theory.quadrature import SCRAMBLES, usual_points

    points = usual_points(purpose, architecture) if options.points is None else options.points
    scrambles = SCRAMBLES if options.scrambles is None else options.scrambles
    directions = architecture.rank + 1 if architecture else 2  # of a token: the student's and the teacher's
    dimensions = fields or options.tokens * directions
    if dimensions > Sobol.MAXDIM:
        allowed = f"at most {Sobol.MAXDIM // directions}: Sobol points have no more dimensions"
        raise BadInput("tokens", options.tokens, allowed)
    needed = 3 * dimensions * 8 * points * scrambles  # the points, and two copies while they are made
    present = psutil.virtual_memory().total
    if needed > present and min(points, scrambles) > 0:
        name, value = max(("points", points), ("scrambles", scrambles), key=lambda each: each[1])
        raise BadInput(name, value, f"smaller: {needed} bytes are needed, this machine has {present}")
    return points, scrambles, options.seed


def _standard_error(values):
    """Standard error of the mean; None for a single value."""
    count = len(values)
    mean = sum(values) / count
    return (sum((v - mean) ** 2 for v in values) / (count - 1) / count) ** 0.5 if count > 1 else None


def _text(result, as_json, problem):
    """One JSON object, or a line for each entry; `Failed` where a number is not finite, which JSON cannot say."""
    try:
        whole = json.dumps(result, allow_nan=False)
    except ValueError:
        raise Failed(problem or "no finite result at these parameters") from None
    width = max(map(len, result))
    lines = [
        f"{name:{width}}  {json.dumps(each)}"
        for name, value in result.items()
        for each in (value if isinstance(value, list) and value and isinstance(value[0], dict) else [value])
    ]
    return whole if as_json else "\n".join(lines)


def _line(message):
    """On one line, whatever a value contains."""
    return " ".join(str(message).split())


def _parser():
    parser = _Parser(prog="attention-phases", description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=_Parser)

    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--json", action="store_true", help="one JSON object on stdout")
    common.add_argument("--quiet", action="store_true", help="no progress on stderr")
    task = argparse.ArgumentParser(add_help=False)
    task.add_argument("--omega", type=float, default=Task.omega, help="weight of the positional part, in [0, 1]")
    task.add_argument("--sigma", type=float, default=Task.sigma, help="standard deviation of the tokens")
    task.add_argument("--lam", type=float, default=Task.lam, help="ridge penalty")
    task.add_argument("--matrix", default="standard", help='standard, alternative or "a,b;c,d"')
    architecture = argparse.ArgumentParser(add_help=False)
    architecture.add_argument("--architecture", choices=tuple(SCORES), default="tied", help="form of the student")
    architecture.add_argument("--tokens", type=int, default=2, help="length L of a sentence, at least 2")
    architecture.add_argument("--token-correlation", type=float, default=0.0,
                              help="of any two tokens' entries, in (-1/(L - 1), 1)")  # fmt: skip
    quadrature = argparse.ArgumentParser(add_help=False)
    quadrature.add_argument("--points", type=int, help="points a scramble, a power of two")
    quadrature.add_argument("--scrambles", type=int, help="independent scrambles, for the error bar")
    quadrature.add_argument("--seed", type=int, default=0, help="of the scrambles")
    alpha = argparse.ArgumentParser(add_help=False)
    alpha.add_argument("--alpha", type=float, required=True, help="sample complexity n/d")

    def add(command, *parents):
        added = commands.add_parser(command.__name__, help=command.__doc__, parents=[*parents, common])
        added.set_defaults(command=command)
        return added

    added = add(theory, alpha, task, architecture, quadrature)
    added.add_argument("--branch", choices=("semantic", "positional", "symmetric"), required=True)
    added.add_argument("--breaking", type=int, choices=(0, 1), default=0, help="steps of replica symmetry breaking")
    added.add_argument("--y", type=float, help="with --breaking 1: weights the minima; without it, the lowest ones")
    added = add(threshold, task, architecture, quadrature)
    added.add_argument("--kind", choices=("critical", "linear"), required=True)
    add(baseline, task, architecture)
    added = add(simulate, alpha, task, architecture)
    added.add_argument("--d", type=int, default=1000, help="embedding dimension")
    added.add_argument(
        "--init",
        choices=("semantic", "positional", "mixed", "random"),
        required=True,
        help="mixed: one column each, for rank2 and untied",
    )
    added.add_argument("--optimizer", choices=("lbfgs", "gd", "adam"), default="lbfgs")
    added.add_argument("--seeds", type=int, default=4, help="number of data sets")
    added.add_argument("--seed", type=int, default=0, help="of the first data set")
    added.add_argument("--workers", type=int, default=1, help="processes")
    added = add(gamp, alpha, task)
    added.add_argument("--d", type=int, default=1000, help="embedding dimension")
    added.add_argument("--init", choices=("semantic", "positional", "random"), required=True)
    added.add_argument("--damping", type=float, default=0.7, help="share of the old state that is kept, in [0, 1)")
    added.add_argument("--steps", type=int, default=1000, help="iterations at most")
    added.add_argument("--seed", type=int, default=0, help="of the data set")
    added = add(sweep)
    added.add_argument("name", choices=tuple(GRIDS))
    added.add_argument("--profile", choices=PROFILES, default="paper")
    where = added.add_mutually_exclusive_group()
    where.add_argument("--workers", type=int, help="processes, one a core by default")
    where.add_argument("--scheduler", help="address of a Dask cluster to run on, such as tcp://host:8786")
    added.add_argument("--store", type=Path, help="SQLite file that keeps results as they come")
    added.add_argument("--data", type=Path, help="folder of the exported tables")
    added = add(verify)
    added.add_argument("--sample", type=int, default=20, help="cells to recompute")
    added.add_argument("--seed", type=int, default=0, help="chooses the cells")
    added.add_argument("--experiment", choices=tuple(GRIDS), help="of one experiment only")
    added = add(figure)
    added.add_argument("name", help="such as fig02, or the name of a notebook")
    added.add_argument("--profile", choices=PROFILES, default="paper", help="at which size")
    added.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the notebook")
    added.add_argument("--out", type=Path, help="folder of what is written (_build/figures/NAME)")
    add(figures).add_argument("--list", action="store_true", help="list them")
    return parser


if __name__ == "__main__":
    sys.exit(main())
