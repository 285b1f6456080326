"""The commands of the command line: functions that turn options into a dictionary of results.

A command imports what it needs when it runs, so that --help and bad options are answered at once. The entry ``problem``
of a result is one line that says what failed. Everything else is shown.
"""

import sys
from pathlib import Path

from attention_phases.errors import BadInput, ResultError
from attention_phases.model.architectures import Architecture
from attention_phases.task import Task

from ..experiments import grid
from ..paths import checkout, title
from ..store.sweep import progress
from .settings import parse_value, texts_of


def threshold(options):
    """Compute the threshold alpha_c or alpha_l.

    JSON: alpha, stderr, kind, omega. If there is no threshold, alpha and stderr are null.
    """
    from attention_phases.quadrature import usual_points
    from attention_phases.theory import threshold
    from attention_phases.theory.setting import Setting
    from attention_phases.theory.thresholds import MIDDLE_POINTS, ROUGH_POINTS

    size = options.omega, options.sigma, options.lam, options.matrix
    task = Task(*size, spectrum=options.covariance, encoding=options.encoding)
    architecture = Architecture(options.architecture, options.tokens, options.token_correlation)
    fast = Setting(task, architecture).fast
    points = options.points = usual_points("threshold", fast) if options.points is None else options.points
    search = 8 * min(points, ROUGH_POINTS) + 3 * min(points, MIDDLE_POINTS)  # estimated number of evaluated points
    net = points, options.scrambles, options.seed
    with progress(search + 2 * points, "point", options.quiet) as bar:
        place = threshold(task, options.kind, *net, architecture=architecture, report=bar.update)
    (alpha, error), problem = place.alpha, None
    if not place.exists:
        alpha = error = None
        problem = f"no {options.kind} threshold found at omega = {task.omega}: {place.reason}"
        if not options.json:
            raise ResultError(problem)
    return {"alpha": alpha, "stderr": error, "kind": options.kind, "omega": task.omega, "problem": problem}


def sweep(options):
    """Compute the cells of an experiment, or of your own grid, that are not stored yet.

    JSON: done, skipped and failed (numbers of cells); only_in_table (the number of skipped cells that are in the table
    but not in the store); store and table (files).
    """
    from ..experiments import own, results

    if options.name is None and options.grid is None:
        raise BadInput("no experiment given: name one, such as fig02, or pass --grid FILE")
    for name, usual in (("name", None), ("--set", []), ("--profile", "paper")):
        if options.grid and getattr(options, name.strip("-")) != usual:
            raise BadInput(f"{name} cannot be combined with --grid FILE, because FILE has all sizes")
    if options.grid:
        path = options.store or options.grid.with_suffix(".sqlite")
        cells, folder = own.own_cells(own.read_grid(options.grid), options.grid.stem), options.data or path.parent
    else:
        published, changes = options.profile == "paper" and not options.set, {}
        if options.set:
            changes = {name: parse_value(text) for name, text in texts_of(options.set).items()}
        cells = grid(options.name, options.profile, **changes)
        folder = options.data or (results.DATA if published else results.folder_of(options.profile))
        path = options.store or results.folder_of(options.profile) / f"{options.name}.sqlite"
    # The JSON output names these paths as the origin of the numbers.
    options.store, options.data = path, folder
    where = options.scheduler, options.device
    summary = results.compute(cells, path, folder, options.workers, options.quiet, *where)
    done = {"done": summary.done, "skipped": summary.skipped, "only_in_table": summary.elsewhere, "failed": 0}
    return {**done, "store": str(path), "table": str(folder / f"{cells[0].experiment}.parquet")}


def verify(options):
    """Recompute a random sample of the stored cells and compare the results.

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
    """Compare the authors' published tables with our stored results.

    JSON: numbers, median_abs_z, p95_abs_z, beyond_3 (a share), not_computed; and by, which has n, mean_z and the same
    statistics for each figure and quantity.
    """
    from ..analysis.comparisons import summary

    sys.path.insert(0, str(checkout() / "data"))  # for the import of `authors_tables`, which is in this folder
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
    """Compute the page of one figure with parameters that you choose.

    JSON: parameters, notebook, page, svg, csv.
    """
    sys.path.insert(0, str(checkout() / "book"))  # for the import of `execution`, which is in this folder
    import execution

    folder = options.out or Path("_build", "figures", options.name)
    return execution.run_figure(options.name, options.profile, options.set, folder, options.quiet)


def figures(options):
    """List the figures, tables and other results that the command `figure` can compute.

    JSON: figures, each with figure (its name), notebook, title, and parameters (the names that `figure --set` accepts).
    """
    sys.path.insert(0, str(checkout() / "book"))  # for the import of `parameters`, which is in this folder
    from parameters import notebooks, published_values

    rows = []
    for name, text in notebooks().items():
        parameters = [parameter for parameter in published_values(text) if parameter != "profile"]
        about = title(text.read_text(encoding="utf-8"))
        rows.append({"figure": name, "notebook": f"notebooks/{text.name}", "title": about, "parameters": parameters})
    return {"figures": rows}
