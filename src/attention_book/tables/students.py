"""Students of the standard architecture beside the paper's: Figures 2, 3 and 7."""

import numpy as np
import pandas as pd

from attention_phases.task import Task
from attention_phases.theory.quadrature import SCRAMBLES

from .. import published
from ..analysis.instances import instance_means
from ..analysis.optimizers import between_optimizers
from ..render.verdicts import OF_THRESHOLD, Comparison, compare
from .thresholds import PUBLISHED, broken

# Why a published number of a solution differs, where it is not the quadrature (see tests/test_published_rule.py).
OF_SOLUTION = {"train_loss": "losses", "test_mse": "unknown"}


def theory_of_slice(task, solutions, critical, linear):
    """Theory of Figure 2: thresholds, and order parameters at alpha = 2.

    Parameters
    ----------
    task : Task
    solutions : dict of theory.Solution
        The branches at alpha = 2.
    critical, linear : theory.Threshold

    Returns
    -------
    pandas.DataFrame
        As from `verdicts.compare`; empty where the paper gives nothing for this task.
    """
    rows = []
    for kind, ours in (("critical", critical), ("linear", linear)):
        if task == Task(omega=task.omega) and (theirs := PUBLISHED[kind].get(task.omega)):
            given = {"omega": task.omega}, theirs, ours.alpha, ours.stderr, "theory", SCRAMBLES, OF_THRESHOLD[kind]
            rows.append(Comparison(kind, *given, True, *broken(kind, task.omega)))
    for branch, found in solutions.items() if task == Task() else ():
        values = {**found.overlaps._asdict(), "train_loss": found.train_loss, "test_mse": found.test_mse}
        for name, theirs in published.THEORY[branch].items():
            where = {"alpha": 2.0, "branch": branch}
            ours, reason = (values[name], found.stderr[name]), OF_SOLUTION.get(name, "quadrature")
            rows.append(Comparison(name, where, theirs, *ours, "theory", SCRAMBLES, reason))
    return compare(rows)


def students_of_slice(task, table):
    """Experiments of Figure 2: the positional student, by gradient descent where there is one.

    Parameters
    ----------
    task : Task
    table : pandas.DataFrame
        Results of the experiment.

    Returns
    -------
    pandas.DataFrame
        As from `verdicts.compare`; empty where the paper gives nothing for this task.
    """
    optimizers = list(table["optimizer"].unique())
    optimizer = "gd" if "gd" in optimizers else optimizers[0]
    here = table[(table["optimizer"] == optimizer) & (table["start"] == "positional")]
    means, n = _absolute_means(here, "alpha").loc["positional"], int(here["seed"].nunique())
    rows = []
    for alpha in sorted(published.EXPERIMENT.keys() & set(means.index.to_numpy().round(4))) if task == Task() else ():
        ours = means.iloc[abs(means.index - alpha).argmin()]
        for name, theirs in published.EXPERIMENT[alpha].items():
            where = {"alpha": alpha, "branch": "positional", "optimizer": optimizer}
            same = name != "linear_mse"
            reason = "instances" if same else "definition"
            rows.append(Comparison(name, where, theirs, *_in_units(ours, name, task), "students", n, reason, same))
    return compare(rows)


def _absolute_means(table, along):
    """`instance_means` with overlaps without their sign, as published: a student and its negative attend alike."""
    return instance_means(table.assign(m=table["m"].abs(), theta=table["theta"].abs()), along)


def _in_units(means, name, task):
    """Value and error of a quantity such as "m/sigma^2" from a row of means."""
    column, _, scaled = name.partition("/")
    unit = task.sigma**2 if scaled else 1.0
    return means[column] / unit, means[f"{column}_error"] / unit


def by_dimension(table, task, names):
    """Students of Figures 3, left, and 7 in growing dimension beside the published ones.

    Parameters
    ----------
    table : pandas.DataFrame
        The experiment "fig07", of gradient descent.
    task : Task
    names : tuple of str
        Keys of `published.SCALING`.

    Returns
    -------
    pandas.DataFrame
        As from `verdicts.compare`.
    """
    means, n = _absolute_means(table, "d"), int(table["seed"].nunique())
    rows = []
    for name in names:
        start = "positional" if name == "m/sigma^2" else "semantic"
        for d in sorted(published.SCALING[name].keys() & set(means.loc[start].index)):
            theirs, where = published.SCALING[name][d], {"d": d, "branch": start}
            ours = _in_units(means.loc[start].loc[d], name, task)
            rows.append(Comparison(name, where, theirs, *ours, "students", n, "instances"))
    return compare(rows)


def distances_to_limit(means, limits):
    """Test errors by dimension, relative to the limit of infinite d.

    Parameters
    ----------
    means : pandas.DataFrame
        From `instances.instance_means` along d.
    limits : dict of theory.Solution

    Returns
    -------
    pandas.DataFrame
        `d`, and `ratio_semantic`, `ratio_positional` with their errors, of students and theory.
    """
    columns = {"d": means.index.unique("d")}
    for branch, found in limits.items():
        each = means.loc[branch]
        ratio = each["test_mse"] / found.test_mse
        error = ratio * np.hypot(each["test_mse_error"] / each["test_mse"], found.stderr["test_mse"] / found.test_mse)
        columns[f"ratio_{branch}"], columns[f"ratio_{branch}_error"] = ratio.to_numpy(), error.to_numpy()
    return pd.DataFrame(columns)


def optimizers(table):
    """`optimizers.between_optimizers`, what the optimisers leave between them, with names of columns."""
    names = {"error": "difference_error", "rms": "rms_difference"}
    return between_optimizers(table).rename(columns=names)
