"""What each command of the command line does: its options in, a dictionary of results out.

What a command needs is imported when it runs, so that --help and bad options answer at once. An entry
``problem`` is one line on what failed; everything else is shown.
"""

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np

from attention_phases.errors import BadInput, ResultError, check_choice, check_count, check_memory
from attention_phases.model.architectures import Architecture
from attention_phases.task import Task

from .experiments import grid
from .progress import progress


def theory(options):
    """One fixed point of the state evolution."""
    from attention_phases.theory import solve

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
    from attention_phases.theory.one_step.solution import one_step

    if architecture:
        raise BadInput("breaking", options.breaking, "0 for other students and sentences than the standard ones")
    quadrature = _quadrature(options, "one step", fields=6)
    with progress(6 if options.y is None else 2, "root", options.quiet) as bar:
        found = one_step(task, options.alpha, options.branch, options.y, *quadrature, report=lambda: bar.update(1))
    return {**found.quantities, **_outcome(options, found), "stderr": found.stderr}


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
    from attention_phases.theory import threshold
    from attention_phases.theory.thresholds import MIDDLE_POINTS, ROUGH_POINTS

    task, architecture = _task(options), _architecture(options)
    quadrature = _quadrature(options, "threshold", architecture)
    search = 8 * min(quadrature[0], ROUGH_POINTS) + 3 * min(quadrature[0], MIDDLE_POINTS)  # about: points evaluated
    with progress(search + 2 * quadrature[0], "point", options.quiet) as bar:
        found = threshold(task, options.kind, *quadrature, architecture=architecture, report=bar.update)
    if not found.converged:
        raise ResultError(f"no {options.kind} threshold found at omega = {task.omega}")
    return {"alpha": found.alpha, "stderr": found.stderr, "kind": options.kind, "omega": task.omega}


def baseline(options):
    """Test error of the linear model."""
    from attention_phases.theory.baseline import ON_NODES, linear_baseline, sampled_baseline

    task, architecture = _task(options), _architecture(options)
    if architecture is None or architecture.tokens <= ON_NODES:
        return {"test_mse": linear_baseline(task, architecture)}
    value, error = sampled_baseline(task, architecture)
    return {"test_mse": value, "stderr": {"test_mse": error}}


def simulate(options):
    """Train one student on each of several data sets."""
    from attention_phases.model.rank_one import sentences
    from attention_phases.model.students import starts_of

    from .experiments.cells import ArchitectureCell, StudentCell
    from .experiments.results import work
    from .store.processes import process_pool

    seeds, first = check_count("seeds", options.seeds), check_count("seed", options.seed, at_least=0)
    workers = check_count("workers", options.workers)
    check_choice("init", options.init, starts_of(options.architecture))
    task = _task(options)
    sentences(options.alpha, options.d, copies=workers)
    size, starts, optimizer = (options.alpha, options.d), (options.init,), options.optimizer
    first_cell = StudentCell("simulate", task, *size, first, optimizer, starts)
    if architecture := _architecture(options):
        first_cell = ArchitectureCell(**vars(first_cell), architecture=architecture)
    cells = [replace(first_cell, seed=first + number) for number in range(seeds)]
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
    from attention_phases.model.rank_one import sample, sentences
    from attention_phases.training.message_passing import TOLERANCE, iterate, limiting, start_state
    from attention_phases.training.optimizers import start_weights

    task = _task(options)
    sentences(options.alpha, options.d, copies=3)  # in float64, and a moment in both precisions
    rng = np.random.default_rng(check_count("seed", options.seed, at_least=0))
    drawn = sample(task, options.alpha, options.d, rng)
    data = limiting(task, drawn)
    start = start_state(task, data, start_weights(options.init, drawn.teacher, rng))
    with progress(options.steps, "iteration", options.quiet) as bar:

        def report(done, change):
            share = np.log(np.fmin(change, 0.9)) / np.log(TOLERANCE)  # shrinks by about a factor each time; may be NaN
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
    kept = results.folder_of(options.profile)
    folder = options.data or (results.DATA if options.profile == "paper" else kept)
    path = options.store or kept / f"{options.name}.sqlite"
    summary = results.compute(cells, path, folder, options.workers, options.quiet, options.scheduler)
    return {"done": summary.done, "skipped": summary.skipped, "failed": 0, "store": str(path), "data": str(folder)}


def verify(options):
    """Recompute stored cells."""
    from .experiments.verification import check

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

    from attention_phases.theory.quadrature import SCRAMBLES, usual_points

    points = usual_points(purpose, architecture) if options.points is None else options.points
    scrambles = SCRAMBLES if options.scrambles is None else options.scrambles
    directions = architecture.rank + 1 if architecture else 2  # of a token: the student's and the teacher's
    dimensions = fields or options.tokens * directions
    if dimensions > Sobol.MAXDIM:
        allowed = f"at most {Sobol.MAXDIM // directions}: Sobol points have no more dimensions"
        raise BadInput("tokens", options.tokens, allowed)
    needed = 3 * dimensions * 8 * points * scrambles  # the points, and two copies while they are made
    if min(points, scrambles) > 0:
        check_memory(*max(("points", points), ("scrambles", scrambles), key=lambda each: each[1]), needed)
    return points, scrambles, options.seed


def _standard_error(values):
    """Standard error of the mean; None for a single value."""
    count = len(values)
    mean = sum(values) / count
    return (sum((v - mean) ** 2 for v in values) / (count - 1) / count) ** 0.5 if count > 1 else None
