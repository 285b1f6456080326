"""The book's work from a shell: `attention-phases COMMAND --help`.

Exit codes: 0 done; 1 the work failed, or a solution did not converge; 2 bad input, told in one line on stderr.
What a command needs is imported when it runs, so that --help and bad options answer at once.
"""

import argparse
import json
import sys
from concurrent.futures import BrokenExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import psutil

from .errors import BadInput, StoreError, SweepError, check_count
from .experiments import GRIDS, PROFILES, grid
from .model.architectures import SCORES, Architecture
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
    except (Failed, StoreError, SweepError) as error:
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

    if options.breaking:
        return _one_step_theory(options)
    if options.y is not None:
        raise BadInput("y", options.y, "left out without --breaking 1")
    if architecture := _architecture(options):
        return _general_theory(options, architecture)
    found = solve(_task(options), options.alpha, options.branch, *_quadrature(options))
    problem = None
    if not found.converged:
        problem = (
            f"no {options.branch} solution found at alpha = {options.alpha}: residual {found.residual:.1e}, "
            f"m = {found.overlaps.m:.1e}, theta = {found.overlaps.theta:.1e}"
        )
    estimates = ("train_loss", "test_mse", "free_energy", "replicon", "gain")
    names = (*estimates, "residual", "converged", "iterations", "stderr")
    return {**found.overlaps._asdict(), **{name: getattr(found, name) for name in names}, "problem": problem}


def _one_step_theory(options):
    """The same with one step of replica symmetry breaking: at a y, or the ground state."""
    from .theory.one_step.solution import POINTS, one_step

    if _architecture(options):
        raise BadInput("breaking", options.breaking, "0 for other students and sentences than the standard ones")
    quadrature = _quadrature(options, POINTS, rank=2)  # six dimensions
    found = one_step(_task(options), options.alpha, options.branch, options.y, *quadrature)
    q0, gap, m, theta, V, y = found.valley
    names = ("phi", "energy", "complexity", "shift", "residual", "iterations", "stderr")
    problem = found.reason and f"no {options.branch} solution found at alpha = {options.alpha}: {found.reason}"
    return {
        **{"q0": q0, "q1": q0 + gap, "m": m, "theta": theta, "V": V, "y": y, "converged": not found.reason},
        **{name: getattr(found, name) for name in names},
        "problem": problem,
    }


def _general_theory(options, architecture):
    """The same of another architecture: numbers with sigma^2 for one column of weights, else lists without it."""
    from .theory import general_solve
    from .theory.general.fixed_point import GENERAL_POINTS

    task = _task(options)
    quadrature = _quadrature(options, GENERAL_POINTS, architecture.rank)
    found = general_solve(task, architecture, options.alpha, options.branch, *quadrature)
    problem = None
    if not found.converged:
        overlaps, errors = found.overlaps, found.stderr
        own = ", ".join(
            f"{name} = {value.round(4).tolist()} with errors {error.round(4).tolist()}"
            for name, value, error in (
                ("m", overlaps.mu[0], errors["mu"][0]), ("theta", overlaps.theta, errors["theta"]),
            )
        )  # fmt: skip
        problem = f"no {options.branch} solution found at alpha = {options.alpha}: residual {found.residual:.1e}, {own}"
    one = architecture.rank == 1
    names = {"q": "q", "m": "mu", "theta": "theta", "V": "chi"}
    units = {name: task.sigma**2 if one and name != "m" else 1.0 for name in names}

    def said(values, name):
        scaled = units[name] * values[names[name]]
        return float(scaled.ravel()[0]) if one else scaled[0].tolist() if name == "m" else scaled.tolist()

    losses = ("train_loss", "test_mse", *(["gain"] if np.isfinite(found.gain) else []))
    overlaps, stderr = found.overlaps._asdict(), found.stderr
    return {
        **{name: said(overlaps, name) for name in names},
        **{name: getattr(found, name) for name in (*losses, "free_energy", "residual", "converged", "iterations")},
        "stderr": {name: said(stderr, name) for name in names} | {name: float(stderr[name]) for name in losses},
        "problem": problem,
    }


def threshold(options):
    """alpha_c or alpha_l."""
    from .theory import threshold
    from .theory.thresholds import GENERAL_POINTS

    task, architecture = _task(options), _architecture(options)
    quadrature = _quadrature(options, GENERAL_POINTS, architecture.rank) if architecture else _quadrature(options)
    found = threshold(task, options.kind, *quadrature, architecture=architecture)
    if not found.converged:
        raise Failed(f"no {options.kind} threshold found at omega = {task.omega}")
    return {"alpha": found.alpha, "stderr": found.stderr, "kind": options.kind, "omega": task.omega}


def baseline(options):
    """Test error of the linear model."""
    from .theory import general_linear_baseline, linear_baseline

    task, architecture = _task(options), _architecture(options)
    return {"test_mse": general_linear_baseline(task, architecture) if architecture else linear_baseline(task)}


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
    if workers == 1:
        rows = [row for each in cells for row in work(each)]
    else:
        with process_pool(workers) as executor:
            rows = [row for rows in executor.map(work, cells) for row in rows]
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
    from .training.message_passing import iterate, limiting, start_state
    from .training.optimizers import start_weights

    task = _task(options)
    sentences(options.alpha, options.d, copies=3)  # in float64, and a moment in both precisions
    rng = np.random.default_rng(check_count("seed", options.seed, at_least=0))
    drawn = sample(task, options.alpha, options.d, rng)
    data = limiting(task, drawn)
    start = start_state(task, data, start_weights(options.init, drawn.teacher, rng))
    found = iterate(task, data, start, options.damping, options.steps)
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

    checked = check(options.sample, options.seed, options.experiment)
    return {
        "cells": checked.cells,
        "mismatches": [each._asdict() for each in checked.mismatches],
        "other_minima": [each._asdict() for each in checked.other_minima],
        "expected_other_minima": checked.expected._asdict(),
        "problem": checked.problem,
    }


def figures(options):
    """The figures of the book, with the notebook of each."""
    from .figures import NOTEBOOKS

    return {"figures": [{"figure": name, "notebook": notebook} for name, notebook in NOTEBOOKS.items()]}


def _task(options):
    matrix = options.matrix
    if ";" in matrix:
        matrix = [row.split(",") for row in matrix.split(";")]
    return Task(omega=options.omega, sigma=options.sigma, lam=options.lam, matrix=matrix)


def _architecture(options):
    """The architecture asked for; None for the standard one."""
    asked = Architecture(options.architecture, options.tokens, options.token_correlation)
    return None if asked == Architecture() else asked


def _quadrature(options, usual=2**14, rank=1):
    from scipy.stats.qmc import Sobol

    points, scrambles = usual if options.points is None else options.points, options.scrambles
    dimensions = options.tokens * (rank + 1)
    if dimensions > Sobol.MAXDIM:
        allowed = f"at most {Sobol.MAXDIM // (rank + 1)}: Sobol points have no more dimensions"
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
    quadrature.add_argument("--scrambles", type=int, default=16, help="independent scrambles, for the error bar")
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
    added.add_argument("--quiet", action="store_true", help="no progress bar")
    added = add(verify)
    added.add_argument("--sample", type=int, default=20, help="cells to recompute")
    added.add_argument("--seed", type=int, default=0, help="chooses the cells")
    added.add_argument("--experiment", choices=tuple(GRIDS), help="of one experiment only")
    add(figures).add_argument("--list", action="store_true", help="list them")
    return parser


if __name__ == "__main__":
    sys.exit(main())
