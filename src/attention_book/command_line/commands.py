"""What each command of the command line does: its options in, a dictionary of results out.

What a command needs is imported when it runs, so that --help and bad options answer at once. An entry
``problem`` is one line on what failed; everything else is shown.
"""

import sys
from math import isnan
from pathlib import Path

import numpy as np

from attention_phases.errors import BadInput, ResultError, check_choice, check_count
from attention_phases.measured import standard_error
from attention_phases.model.architectures import STANDARD, Architecture
from attention_phases.task import Task

from ..experiments import grid
from ..store.sweep import progress

LEAST_SEARCHES = 10, 2  # over few points and over all, that a fixed point takes; averages without a search cost little


def theory(options):
    """One fixed point of the state evolution.

    JSON: q, m, theta, V, train_loss, test_mse, free_energy, replicon (below 1 the stability eigenvalue is positive),
    gain, residual, converged, reason, iterations, and stderr by name. With --breaking 1: q0, q1, m, theta, V, y, phi,
    energy, complexity, shift in the first's place.
    """
    from attention_phases.theory import solve

    task, architecture = _task(options), _architecture(options)
    if options.breaking:
        return _one_step_theory(options, task, architecture)
    if options.y is not None:
        raise BadInput("y", options.y, "left out without --breaking 1")
    quadrature = _quadrature(options, "solution", task, architecture)
    if architecture.tokens > 2 and not options.quiet:
        _say_how_long(task, options, architecture, quadrature)
    with progress(40, "average", options.quiet) as bar:
        solution = solve(task, options.alpha, options.branch, *quadrature, architecture=architecture, report=bar.update)
    named = solution.named(task.sigma**2).items()
    overlaps, errors = ({name: np.asarray(pair[part]).tolist() for name, pair in named} for part in (0, 1))
    losses = [name for name in ("train_loss", "test_mse", "replicon", "gain") if name in solution.spread]
    return {
        **overlaps,
        **{name: getattr(solution, name) for name in (*losses, "free_energy")},
        **_outcome(options, solution),
        "stderr": errors | {name: solution.stderr[name] for name in losses},
    }


def _say_how_long(task, options, architecture, quadrature):
    """A line on stderr where a solution takes more than a minute: a search at one point, or at a few, is timed."""
    from time import perf_counter

    from attention_phases.quadrature import gaussian_points
    from attention_phases.theory.branch import BranchMap, Net

    model = BranchMap(task, options.alpha, options.branch, architecture)
    few, seconds = gaussian_points(16, 4, 0, model.dimensions), 0.0
    for size in (1, 1, 4):  # the first call may compile
        if size == 1 or seconds < 0.1:
            net, began = Net(few[:size, :size], model.fields), perf_counter()
            net.averages(model, model.pack(model.start()))
            seconds = (perf_counter() - began) / size**2
    points, scrambles, _ = quadrature
    seconds *= LEAST_SEARCHES[0] * model.rough.points * model.rough.scrambles + LEAST_SEARCHES[1] * points * scrambles
    if seconds > 60:
        length = f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:.0f} hours"
        what = f"{architecture.tokens} tokens at {points} points in {scrambles} scrambles"
        print(f"{what} take at least {length} of one core; --quiet hides this line", file=sys.stderr)


def _one_step_theory(options, task, architecture):
    """The solution with one step of replica symmetry breaking: at a y, or the ground state."""
    from attention_phases.beyond.one_step.solution import one_step

    if architecture != STANDARD:
        raise BadInput("breaking", options.breaking, "0 for other students and sentences than the standard ones")
    quadrature = _quadrature(options, "one step", task)
    with progress(6 if options.y is None else 2, "root", options.quiet) as bar:
        solution = one_step(task, options.alpha, options.branch, options.y, *quadrature, report=lambda: bar.update(1))
    return {**solution.quantities, **_outcome(options, solution), "stderr": solution.stderr}


def _outcome(options, solution):
    """How the solution of a branch ended, with the line that says so if it failed."""
    problem = None
    if not solution.converged:
        why = f"{solution.reason} (residual {solution.residual:.1e})"
        problem = f"no {options.branch} solution found at alpha = {options.alpha}: {why}"
    outcome = {name: getattr(solution, name) for name in ("residual", "converged", "reason", "iterations")}
    return {**outcome, "problem": problem}


def threshold(options):
    """alpha_c or alpha_l.

    JSON: alpha, stderr, kind, omega; alpha and its stderr are null where there is none.
    """
    from attention_phases.theory import threshold
    from attention_phases.theory.thresholds import MIDDLE_POINTS, ROUGH_POINTS

    task, architecture = _task(options), _architecture(options)
    quadrature = _quadrature(options, "threshold", task, architecture)
    search = 8 * min(quadrature[0], ROUGH_POINTS) + 3 * min(quadrature[0], MIDDLE_POINTS)  # about: points evaluated
    with progress(search + 2 * quadrature[0], "point", options.quiet) as bar:
        place = threshold(task, options.kind, *quadrature, architecture=architecture, report=bar.update)
    (alpha, error), problem = place.alpha, None
    if not place.exists:
        alpha = error = None
        problem = f"no {options.kind} threshold found at omega = {task.omega}: {place.reason}"
        if not options.json:
            raise ResultError(problem)
    return {"alpha": alpha, "stderr": error, "kind": options.kind, "omega": task.omega, "problem": problem}


def baseline(options):
    """Test error of the linear model.

    JSON: test_mse.
    """
    from attention_phases.theory import linear_baseline

    return {"test_mse": linear_baseline(_task(options), _architecture(options))}


def optimal(options):
    """What any learner could reach with these sentences; with --d, by message passing on data.

    JSON: q, test_mse, reached (nothing, part or all), stderr by name; with --d runs: seed, q, steps, converged.
    """
    from attention_phases.amp.recovery import recover
    from attention_phases.beyond.optimal import optimal

    task = _task(options)
    check_count("seeds", options.seeds)
    if options.seed and options.d is None:
        raise BadInput("seed", options.seed, "left out without --d, of which it is the first data set")
    learner = optimal(task, options.alpha, options.tokens)
    result = {
        "q": learner.q.value,
        "test_mse": learner.test_mse.value,
        "reached": learner.reached,
        "stderr": {"q": learner.q.error, "test_mse": learner.test_mse.error},
    }
    if options.d is None:
        return result
    first = check_count("seed", options.seed, at_least=0)
    runs = []
    with progress(options.seeds, "data set", options.quiet) as bar:
        for seed in range(first, first + options.seeds):
            recovery = recover(task, options.alpha, options.d, np.random.default_rng(seed), options.tokens)
            runs.append({"seed": seed, **recovery._asdict()})
            bar.update()
    return result | {"runs": runs}


def end(options):
    """Where the phase diagram ends: up to which omega data bring alpha_c, alpha_l, and spinodals of minima.

    JSON: critical, linear, semantic, positional, each null where there is no end, and stderr by name; with --omega
    floors (test errors by model) and saddles.
    """
    from attention_phases.theory.baseline import FLOOR_MET, curvature, diverges_at, floors, minimum_bound
    from attention_phases.theory.branches import MINIMA

    omega = Task.omega if options.omega is None else options.omega
    task = Task(omega, options.sigma, matrix=options.matrix)
    ends = {kind: diverges_at(task, kind) for kind in FLOOR_MET}
    ends |= {branch: minimum_bound(task, branch) for branch in MINIMA}
    result = {kind: None if isnan(place.value) else place.value for kind, place in ends.items()}
    result["stderr"] = {kind: None if isnan(place.value) else place.error for kind, place in ends.items()}
    if options.omega is None:
        return result
    return result | {"floors": floors(task), "saddles": [name for name in MINIMA if curvature(task, name) < 0]}


def simulate(options):
    """Train one student on each of several data sets.

    JSON: runs, each with seed, q, m, theta, train_loss, test_mse, linear_mse, grad_norm, steps and seconds; their mean,
    and its stderr, by name.
    """
    from attention_phases.training.optimizers import starts_of
    from attention_phases.training.trials import train

    seeds, first = check_count("seeds", options.seeds), check_count("seed", options.seed, at_least=0)
    check_choice("init", options.init, starts_of(options.architecture))
    task, architecture = _task(options), _architecture(options)
    size = task, options.alpha, options.d, range(first, first + seeds), options.init, options.optimizer, architecture
    with progress(seeds, "data set", options.quiet) as bar:
        runs = train(*size, options.workers, bar.update).drop(columns=["start", "converged"]).to_dict("records")
    columns = {name: [run[name] for run in runs] for name in runs[0] if name != "seed"}
    if options.init == "random":  # a student and its negative are the same, and chance decides which is found
        signed = [name for name in columns if name.startswith(("m", "theta"))]
        columns |= {name: [abs(value) for value in columns[name]] for name in signed}
    return {
        "runs": runs,
        "mean": {name: sum(values) / seeds for name, values in columns.items()},
        "stderr": {name: standard_error(values) if seeds > 1 else None for name, values in columns.items()},
    }


def gamp(options):
    """Message passing (Algorithm 1) on one data set.

    JSON: q, m, theta, V, train_loss, test_mse, damping, change (of each iteration), converged.
    """
    from attention_phases.amp.message_passing import STILL, message_passing

    size = _task(options), options.alpha, options.d, options.seed
    with progress(options.steps, "iteration", options.quiet) as bar:

        def report(done, change):
            share = np.log(np.fmin(change, 0.9)) / np.log(STILL)  # shrinks by about a factor each time; may be NaN
            bar.total = min(options.steps, max(done, round(done / share)))
            bar.update()

        passed = message_passing(*size, options.init, options.damping, options.steps, report)
    losses = {name: getattr(passed, name) for name in ("V", "train_loss", "test_mse", "damping")}
    outcome = {"change": passed.run.history["change"].tolist()[1:], "converged": passed.converged}
    return {**passed.overlaps.named, **losses, **outcome, "problem": passed.reason or None}


def sweep(options):
    """Compute the cells of an experiment, or of a grid of one's own, that are not there yet.

    JSON: done, skipped, failed: numbers of cells; store, data: paths.
    """
    from ..experiments import grids, results

    if options.name is None and options.grid is None:
        raise BadInput("name", None, "an experiment, or left out beside --grid FILE")
    for name, usual in (("name", None), ("set", []), ("profile", "paper")):
        if options.grid and getattr(options, name) != usual:
            raise BadInput(name, getattr(options, name), "left out beside --grid FILE, which has all sizes")
    if options.grid:
        path = options.store or options.grid.with_suffix(".sqlite")
        cells, folder = grids.own_cells(grids.read_grid(options.grid), options.grid.stem), options.data or path.parent
    else:
        published, changes = options.profile == "paper" and not options.set, {}
        if options.set:
            from .parameters import parse_value, texts_of  # with what reads notebooks

            changes = {name: parse_value(text) for name, text in texts_of(options.set).items()}
        cells = grid(options.name, options.profile, **changes)
        folder = options.data or (results.DATA if published else results.folder_of(options.profile))
        path = options.store or results.folder_of(options.profile) / f"{options.name}.sqlite"
    options.store, options.data = path, folder  # for the origin
    summary = results.compute(cells, path, folder, options.workers, options.quiet, options.scheduler)
    return {"done": summary.done, "skipped": summary.skipped, "failed": 0, "store": str(path), "data": str(folder)}


def verify(options):
    """Recompute stored cells.

    JSON: cells, mismatches, other_minima, elsewhere.
    """
    from ..experiments.verification import check

    checked = check(options.sample, options.seed, options.experiment, options.quiet)
    return {
        "cells": checked.cells,
        "mismatches": [mismatch._asdict() for mismatch in checked.mismatches],
        "other_minima": [minimum._asdict() for minimum in checked.other_minima],
        "elsewhere": checked.elsewhere,
        "problem": checked.problem,
    }


def published(options):
    """The authors' published tables beside the stored results of the same cells.

    JSON: numbers, median_abs_z, p95_abs_z, beyond_3, not_computed, and by: n, mean_z and the same for each figure and
    quantity.
    """
    from ..analysis.beside_published import summary
    from ..paths import checkout

    sys.path.append(str(checkout() / "data"))  # what makes a table of data/ is beside it
    import authors_tables

    compared, lacking = authors_tables.compare_tables(options.folder)
    if options.out:
        authors_tables.write_comparison(compared, options.out)
    means = compared[(compared["optimizer"] == "gd") & compared["instances"].notna()]
    scores = means["z"].abs()
    by = summary(means).drop(columns="p").round(4)
    by = by.rename(columns={"numbers": "n", "median": "median_abs_z", "percentile_95": "p95_abs_z"})
    return {
        "numbers": len(means),
        "median_abs_z": scores.median(),
        "p95_abs_z": scores.quantile(0.95),
        "beyond_3": (scores > 3).mean(),  # a share, as in `by`
        "not_computed": lacking,
        "by": by.to_dict("records"),
    }


def figure(options):
    """Compute one figure with parameters of your own.

    JSON: parameters, notebook, page, svg, csv.
    """
    from .execution import run_figure

    folder = options.out or Path("_build", "figures", options.name)
    return run_figure(options.name, options.profile, options.set, folder, options.quiet)


def figures(options):
    """The pages that the command `figure` computes: figures, tables and further pages of the book.

    JSON: figures, each with figure (its name), notebook and title.
    """
    from ..paths import notebooks, title

    rows = [
        {"figure": name, "notebook": f"notebooks/{text.name}", "title": title(text.read_text(encoding="utf-8"))}
        for name, text in notebooks().items()
    ]
    return {"figures": rows}


def _task(options):
    parameters = {"omega": options.omega, "sigma": options.sigma, "lam": options.lam, "matrix": options.matrix}
    structure = {"spectrum": getattr(options, "covariance", []), "encoding": getattr(options, "encoding", 1.0)}
    return Task(**parameters, **structure)


def _architecture(options):
    return Architecture(options.architecture, options.tokens, options.token_correlation)


def _quadrature(options, purpose, task, architecture=STANDARD):
    """Points, by default as many as usual, scrambles and seed."""
    from attention_phases.quadrature import LARGEST_NET, usual_points
    from attention_phases.theory.setting import Setting

    most = LARGEST_NET // (architecture.rank + 1)  # of a token: the student's directions and the teacher's
    if architecture.tokens > most:
        raise BadInput("tokens", options.tokens, f"at most {most}: Sobol points have no more dimensions")
    fast = Setting(task, architecture).fast
    options.points = usual_points(purpose, fast) if options.points is None else options.points
    return options.points, options.scrambles, options.seed
