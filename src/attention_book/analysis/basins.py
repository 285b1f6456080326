"""Where students from random starts end: in the basin of one of the two minima, or in neither."""

import numpy as np
import pandas as pd

from ..render.style import COLOURS
from .instances import wilson

BASINS = ("semantic", "positional", "neither")
SMALL_GRADIENT = 0.01  # largest |grad R| of a run that has arrived
CLOSE_COSINE = 0.2  # largest difference of a cosine from that of the informed minima
FEWEST_MINIMA = 3  # informed ones at least, or a basin does not exist


def cosines(table, sigma):
    """Cosines of students with the teacher and with 1_d, without their sign: `semantic` and `positional`.

    ``|Q*|`` is taken as sqrt(d), its value in the limit: in a small dimension the first may exceed 1.
    """
    size = table["q"] ** 0.5
    return pd.DataFrame({"semantic": table["theta"].abs() / sigma, "positional": sigma * table["m"].abs()}).div(size, 0)


def classify(table, sigma, close=CLOSE_COSINE):
    """Basin of every run from a random start: these runs with `basin`, "neither" for those of no basin, and `side`.

    Its side is that of the larger of its `cosines`. A run counts for the basin of its side if its gradient is small and
    each of its cosines is within `close` of the mean over the minima that L-BFGS reaches from the basin's own start at
    the same alpha and d. Of these only the minima on this side count; where fewer than three are, there is no basin.

    table: "random" starts, by any optimiser, and "semantic" and "positional" ones by L-BFGS.
    """
    values = cosines(table, sigma)
    side, where = values.idxmax(axis=1), ["alpha", "d", "side"]
    table = table.assign(side=side, **values)
    informed = table[(table["start"] == side) & (table["optimizer"] == "lbfgs")].groupby(where)
    centres = informed[list(COLOURS)].mean()[informed.size() >= FEWEST_MINIMA]
    runs = table[table["start"] == "random"].reset_index(drop=True)
    away = runs[list(COLOURS)] - centres.reindex(pd.MultiIndex.from_frame(runs[where])).to_numpy()
    arrived = (away.abs() <= close).all(axis=1) & (runs["grad_norm"] <= SMALL_GRADIENT)
    return runs.assign(basin=runs["side"].where(arrived, "neither"))


def fractions(runs):
    """Share of the runs of `classify` in each basin: optimizer, alpha, d, basin, runs, fraction, and low, high at 95 %.

    Runs on one data set may resemble each other: the interval is Wilson's for as many independent runs as have the
    same variance, by the correlation within data sets.
    """
    where, rows = ["optimizer", "alpha", "d"], []
    for values, some in runs.groupby(where):
        for basin in BASINS:
            hits = (some["basin"] == basin).astype(float)
            low, high = _interval(hits.groupby(some["seed"]), hits.mean())
            rows.append((*values, basin, len(some), hits.mean(), low, high))
    return pd.DataFrame(rows, columns=[*where, "basin", "runs", "fraction", "low", "high"])


def _interval(hits, share):
    """Wilson's interval of a share of runs, some on each data set."""
    count = hits.size().sum()
    size = count / hits.ngroups
    return wilson(share, count / (1 + (size - 1) * _correlation(hits, share, size)))


def _correlation(hits, share, size):
    """Correlation of the outcomes of two runs on one data set, at least zero; one where nothing tells it."""
    total = share * (1 - share)
    if size <= 1:
        return 0.0
    if total == 0 or hits.ngroups < 2:
        return 1.0
    between = hits.mean().var(ddof=1)
    return float(np.clip((between / total - 1 / size) / (1 - 1 / size), 0.0, 1.0))
