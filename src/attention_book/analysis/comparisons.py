"""A comparison of our results with published thresholds, published results of students, and the authors' tables.

`data/authors_tables.py` makes the stored comparison of the authors' tables from a checkout of their repository.
"""

import json
from math import hypot, nan

import numpy as np
import pandas as pd
from scipy.special import ndtri, stdtr

from attention_phases.measured import Measured
from attention_phases.task import Task
from attention_phases.theory.baseline import encoding_error, mean_attention

from .. import published
from ..published import Comparison, compare
from .instances import GAPS, absolute_means
from .thresholds import crossings, curve

SLACK = 0.2  # the published rules explain a difference if they reproduce it to within this fraction
MANY_MINIMA = 0.2  # omega below which both valleys have many minima near the transition
CELL = ["matrix", "form", "sigma", "omega", "lam", "alpha", "d", "start"]
LOSSES = {"linear_mse": "linear_gen_error", "test_mse": "attention_gen_error", "train_loss": "attention_train_error"}
OVERLAPS = {"m": "attention_mag", "theta": "attention_theta"}
SQUARES = {"m^2": "attention_mag", "theta^2": "attention_thet"}  # sums over two columns are invariant under rotation


def cause(known, ours, by_rule):
    """Return the reason why a published theoretical value differs from ours: "quadrature" or "cause unknown".

    The cause is "quadrature" if the published rules, run here, account for 80 to 120 % of the difference, within its
    error. If the rules give no number (NaN), the cause is unknown.
    """
    bound = SLACK * abs(ours.value - known.value) + hypot(ours.error, known.rounding)
    return "quadrature" if abs(by_rule - known.value) <= bound else "cause unknown"


def threshold_by_rule(rules, kind, omega):
    """Return a threshold computed with the published quadrature rules, or NaN if there is none.

    rules: the experiment "published_rule".
    """
    rows = rules[(rules["what"] == kind) & (rules["omega"] == omega)]
    return rows["rule"].item() if len(rows) else nan


def threshold_comparison(table, rules):
    """Return a table that compares our thresholds with the thresholds of the published theory.

    The result is a frame from `published.compare`. A crossing that a coarse grid does not resolve is left out.

    table: lines of theory, or students over alpha and omega by one or several optimisers, for the standard task.
    rules: the experiment "published_rule".
    """
    trained, comparisons = "optimizer" in table, []
    evidence = "students" if trained else "theory"
    parts = [({"optimizer": name}, rows) for name, rows in table.groupby("optimizer")] if trained else [({}, table)]
    for kind, known in published.THRESHOLDS.items():
        for optimizer, rows in parts:
            n = int(rows["seed"].nunique() if trained else rows["scrambles"].iloc[0])
            rows = rows[rows["omega"].isin([*known])]
            alphas = (crossings(rows, GAPS[kind]) if trained else curve(rows, kind)).dropna()
            for omega, ours in alphas[alphas["alpha_error"] > 0].iterrows():
                compared = known[omega], Measured(*ours)
                reason = cause(*compared, threshold_by_rule(rules, kind, omega))
                if trained and omega < MANY_MINIMA:
                    reason = "many minima"
                comparisons.append(Comparison(kind, {"omega": omega, **optimizer}, *compared, evidence, n, reason))
    return compare(comparisons)


def size_comparison(table, task, names):
    """Return a table that compares our students with the published ones, with a row per quantity and dimension d.

    The published students are in Figure 7 and in the left panel of Figure 3. The result is a frame from
    `published.compare`.

    table: the experiment "fig07", trained by gradient descent.
    names: keys of `published.SCALING`.
    """
    means, seeds = absolute_means(table, task.sigma, along="d"), int(table["seed"].nunique())
    comparisons = []
    for name in names:
        start = "positional" if name == "m/sigma^2" else "semantic"
        ours = means.loc[start, [name, f"{name}_error"]]
        for d in sorted(published.SCALING[name].keys() & set(ours.index)):
            known, where = published.SCALING[name][d], {"d": d, "branch": start}
            comparisons.append(Comparison(name, where, known, Measured(*ours.loc[d]), "students", seeds, "instances"))
    return compare(comparisons)


# The comparison with the authors' tables


def encodings(cells):
    """Return, for each row of `cells`, how much the linear model's test error rises if it also reads the positions."""
    where = ["matrix", "sigma", "omega", "d"]
    points = cells[where].drop_duplicates()
    tasks = [Task(omega=row.omega, sigma=row.sigma, matrix=json.loads(row.matrix)) for row in points.itertuples()]
    added = [encoding_error(mean_attention(task), d) for task, d in zip(tasks, points["d"])]
    return cells[where].merge(points.assign(encoding=added), how="left")["encoding"].set_axis(cells.index)


def ours(rows):
    """Return means of our students' results over data sets, with standard errors and the number of data sets.

    The columns are `CELL`, optimizer, quantity, ours, ours_error and instances.

    rows: from `stored_students`.
    """
    columns = {"m": rows["m"].abs(), "theta": rows["theta"].abs(), "m^2": rows["m"] ** 2, "theta^2": rows["theta"] ** 2}
    long = rows.assign(**columns).melt([*CELL, "optimizer"], [*LOSSES, *OVERLAPS, *SQUARES], "quantity")
    grouped = long.groupby([*CELL, "optimizer", "quantity"])["value"]
    return grouped.agg(ours="mean", ours_error="sem", instances="size").reset_index()


def standard_scores(compared):
    """Return the z-score of each difference between our mean and the authors' mean.

    A difference divided by its estimated error follows Student's t with Welch's degrees of freedom. If the authors'
    standard deviation is not known, it is taken to be equal to ours, and the degrees of freedom are one fewer than our
    data sets. The score is the value of a standard normal variable with the same tail probability, rounded to two
    decimals.
    """
    own, instances, runs = compared["ours_error"] ** 2, compared["instances"], compared["runs"]
    alike = compared["spread"].isna()
    other = (compared["spread"] ** 2 / runs).where(~alike, own * instances / runs)
    freedom = (own + other) ** 2 / (own**2 / (instances - 1) + other**2 / (runs - 1))
    ratio = (compared["ours"] - compared["published"]) / np.sqrt(own + other)
    tail = stdtr(freedom.where(~alike, instances - 1), -ratio.abs())
    return (-np.sign(ratio) * ndtri(tail)).round(2)


def summary(compared):
    """Return statistics of the z-scores of our results against the authors' results, by figure and quantity.

    The columns are the count, the median and the 95th percentile of ``|z|``, the share beyond 3, the mean z, and `p`.
    Cells of one start are independent of each other. Therefore a Kolmogorov-Smirnov test compares z with a standard
    normal variable for each start, and `p` is the smallest of the probabilities times the number of starts.

    compared: results by one optimiser, with the columns z, figure, quantity and start.
    """
    from scipy.stats import kstest  # slow to import

    scores = compared["z"].abs()
    where = [compared["figure"].astype(str), compared["quantity"].astype(str)]
    columns = {"numbers": scores.groupby(where).size(), "median": scores.groupby(where).median()}
    columns |= {"percentile_95": scores.groupby(where).quantile(0.95), "beyond_3": (scores > 3).groupby(where).mean()}
    by_start = compared["z"].groupby([*where, compared["start"].astype(str)])
    p = by_start.agg(lambda scores: kstest(scores, "norm").pvalue).groupby(level=[0, 1])
    p = (p.min() * p.size()).clip(upper=1)
    table = pd.DataFrame(columns | {"mean_z": compared["z"].groupby(where).mean(), "p": p}).reset_index()
    return table.sort_values("figure", key=lambda names: names.str.extract(r"(\d+)")[0].astype(int), kind="stable")
