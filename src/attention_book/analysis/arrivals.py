"""Which minimum runs from random starts have come to, and how often; the guess on the landing page counts alike."""

import numpy as np
import pandas as pd

from .instances import wilson

BASINS = ("semantic", "positional", "neither")
SMALL_GRADIENT = 0.01  # largest |grad R| of a run that has arrived
CLOSE_COSINE = 0.2  # largest difference of a cosine from that of the informed minima
FEWEST_MINIMA = 3  # informed ones at least, or a basin does not exist


def cosines(table, sigma):
    """Of each student without their sign: `semantic` with the teacher, `positional` with 1_d."""
    along = {"semantic": table["theta"].abs() / sigma, "positional": sigma * table["m"].abs()}
    return pd.DataFrame(along).div(table["q"] ** 0.5, axis=0)


def classify(table, sigma, close=CLOSE_COSINE):
    """The runs from random starts with their `side`, that of the larger cosine, and `basin`.

    The basin is that of the side if the gradient is small and each cosine is within `close` of the mean over the minima
    on this side that L-BFGS reaches from its own start at this alpha and d.
    """
    values = cosines(table, sigma)
    side, where = values.idxmax(axis=1), ["alpha", "d", "side"]
    table = table.assign(side=side, **values)
    informed = table[(table["start"] == side) & (table["optimizer"] == "lbfgs")].groupby(where)
    centres = informed[[*values]].mean()[informed.size() >= FEWEST_MINIMA]
    runs = table[table["start"] == "random"].reset_index(drop=True)
    away = runs[[*values]] - centres.reindex(pd.MultiIndex.from_frame(runs[where])).to_numpy()
    arrived = (away.abs() <= close).all(axis=1) & (runs["grad_norm"] <= SMALL_GRADIENT)
    return runs.assign(basin=runs["side"].where(arrived, "neither"))


def shares_of_basins(runs):
    """Which share of runs found which minimum: a row for each optimiser, alpha, d and basin.

    Runs on one data set may resemble each other: from `low` to `high` is Wilson's interval, at 95 %, of as many
    independent runs as have the same variance.

    runs: as from `classify`.
    """
    rows = []
    for place, some in runs.groupby(["optimizer", "alpha", "d"]):
        for basin in BASINS:
            hits = (some["basin"] == basin).astype(float)
            share = hits.mean()
            low, high = wilson(share, _independent_runs(hits.groupby(some["seed"]), share))
            rows.append((*place, basin, share, low, high))
    return pd.DataFrame(rows, columns=["optimizer", "alpha", "d", "basin", "fraction", "low", "high"])


def _independent_runs(hits, share):
    """How many these are, from the outcomes of all by data set, which are 0 or 1."""
    runs, variance = hits.size().sum(), share * (1 - share)
    size = runs / hits.ngroups
    told = variance > 0 and hits.ngroups > 1  # else nothing tells how alike runs on one data set are: they count as one
    excess = size * hits.mean().var(ddof=1) / variance if told else size  # over the variance of independent runs
    return runs / np.clip(excess, 1, size)
