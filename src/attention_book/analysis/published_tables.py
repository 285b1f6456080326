"""Scores of the means that the authors published against ours, and what slips of ours would do.

`command_line.authors_tables` makes the comparison that is stored, from a checkout of their repository.
"""

import json

import numpy as np
import pandas as pd
from scipy.stats import kstest, norm, t

from attention_phases.task import Task
from attention_phases.theory import encoding_error, mean_attention

from ..paths import DATA, stored_table
from ..store import parquet

NAME = "published_tables"
CELL = ["matrix", "form", "sigma", "omega", "lam", "alpha", "d", "start"]
LOSSES = {"linear_mse": "linear_gen_error", "test_mse": "attention_gen_error", "train_loss": "attention_train_error"}
OVERLAPS = {"m": "attention_mag", "theta": "attention_theta"}
SQUARES = {"m^2": "attention_mag", "theta^2": "attention_thet"}  # summed over two columns: no rotation changes them


def encodings(cells):
    """By how much a linear model's test error grows when it reads the positions too, of each cell."""
    where = ["matrix", "sigma", "omega", "d"]

    def added(row):
        task = Task(omega=row.omega, sigma=row.sigma, matrix=json.loads(row.matrix))
        return encoding_error(mean_attention(task), row.d)

    points = cells[where].drop_duplicates()
    by_point = points.assign(encoding=[added(row) for row in points.itertuples()])
    return cells[where].merge(by_point, how="left")["encoding"].set_axis(cells.index)


def ours(rows):
    """Means of `stored_students` over data sets: `CELL`, optimizer, quantity, ours, ours_error and instances."""
    columns = {
        "m": rows["m"].abs(),
        "theta": rows["theta"].abs(),
        "m^2": rows["m"] ** 2,
        "theta^2": rows["theta"] ** 2,
    }
    long = rows.assign(**columns).melt([*CELL, "optimizer"], [*LOSSES, *OVERLAPS, *SQUARES], "quantity")
    grouped = long.groupby([*CELL, "optimizer", "quantity"])["value"]
    return grouped.agg(ours="mean", ours_error="sem", instances="size").reset_index()


def halves(rows):
    """Scores of the first half of our own runs of two columns against the second, and of that against the first.

    In the sums of squared overlaps, whose scatter is taken to be that of the scored runs, as in `compare_tables`.
    """
    parts = [some for _, some in rows.groupby(rows["seed"] < rows["seed"].max() / 2)]
    one, other = (ours(part).query("quantity in @SQUARES").reset_index(drop=True) for part in parts)
    pairs = [(one, other), (other, one)]
    frames = [a.assign(published=b["ours"], spread=np.nan, runs=b["instances"]) for a, b in pairs]
    return standard_scores(pd.concat(frames, ignore_index=True))


def standard_scores(compared):
    """The differences of means as standard normal numbers, to two decimals.

    The difference over its estimated error follows Student's t with Welch's degrees of freedom, or, where we take
    their scatter to be ours, with one fewer than our data sets. The score has the same probability under a Gaussian.
    """
    own, instances, runs = compared["ours_error"] ** 2, compared["instances"], compared["runs"]
    alike = compared["spread"].isna()
    other = (compared["spread"] ** 2 / runs).where(~alike, own * instances / runs)
    freedom = (own + other) ** 2 / (own**2 / (instances - 1) + other**2 / (runs - 1))
    ratio = (compared["ours"] - compared["published"]) / np.sqrt(own + other)
    tail = t.sf(ratio.abs(), freedom.where(~alike, instances - 1))
    return (np.sign(ratio) * norm.isf(tail)).round(2)


def summary(compared):
    """Count, median and 95th percentile of ``|z|``, share beyond 3 and mean z by figure and quantity, of one optimiser.

    `p` is the smallest of the Kolmogorov-Smirnov probabilities of the starts against a standard normal number, times
    the number of starts: cells of one start are independent of each other.
    """
    scores = compared["z"].abs()
    where = [compared["figure"].astype(str), compared["quantity"].astype(str)]
    columns = {"numbers": scores.groupby(where).size(), "median": scores.groupby(where).median()}
    columns |= {"percentile_95": scores.groupby(where).quantile(0.95), "beyond_3": (scores > 3).groupby(where).mean()}
    by_start = compared["z"].groupby([*where, compared["start"].astype(str)]).agg(_p).groupby(level=[0, 1])
    p = (by_start.min() * by_start.size()).clip(upper=1)
    table = pd.DataFrame(columns | {"mean_z": compared["z"].groupby(where).mean(), "p": p}).reset_index()
    return table.sort_values("figure", key=lambda names: names.str.extract(r"(\d+)")[0].astype(int), kind="stable")


def _p(scores):
    return kstest(scores, "norm").pvalue


def slipped():
    """By how much slips in gradient descent move students: `slip`, omega, alpha, start, quantity and `moved`.

    On the data sets that the map of Figure 3 has without them.
    """
    where = ["omega", "alpha", "start"]
    slips, usual = (parquet.load(stored_table(name)) for name in ("slips", "fig03"))
    usual = usual.query("optimizer == 'gd' and seed == 0")
    columns = [*where, "test_mse", "train_loss", *OVERLAPS]
    with_slip = slips[["slip", *columns]].astype({"start": str}).set_index([*where, "slip"]).abs()
    without = usual[columns].astype({"start": str}).set_index(where).abs()
    moved = (with_slip - without).dropna().rename_axis("quantity", axis=1).stack().rename("moved").reset_index()
    return moved.assign(alpha=moved["alpha"].round(6))


def stored():
    """The comparison that is kept."""
    return parquet.load(DATA / f"{NAME}.parquet")
