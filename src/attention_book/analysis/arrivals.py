"""A classification of training runs from random starts by the minimum that each run reaches.

The landing page uses this classification, too.
"""

import numpy as np
import pandas as pd

from attention_phases.theory.branches import MINIMA

from .instances import wilson

BASINS = ("semantic", "positional", "neither", "still moving")
SMALL_GRADIENT = 1e-3  # largest |grad R| of a student that is no longer moving
CLOSE_COSINE = 0.2  # largest difference between the cosines of a run and of the minimum on the same sentences


def cosines(table, sigma):
    """Return the absolute cosines of each student's weights with the teacher and with the positional encoding 1_d.

    The columns are `semantic` (for the teacher) and `positional` (for 1_d).
    """
    along = {"semantic": table["theta"].abs() / sigma, "positional": sigma * table["m"].abs()}
    return pd.DataFrame(along).div(table["q"] ** 0.5, axis=0)


def classify(table, sigma, close=CLOSE_COSINE):
    """Classify each training run by the basin in which it ended, and return the runs with new columns.

    The new columns are both cosines, the `side` of the larger cosine, and the `basin`. A run whose gradient is larger
    than `SMALL_GRADIENT` is "still moving". Any other run ended in the basin of its side if both cosines are within
    `close` of the cosines of the minimum on this side, and otherwise in "neither". The minimum of a side is the end
    point of the student that started on this side, on the same sentences. If that student left its side, there is no
    such minimum.

    table: the rows of runs, and the rows of the starts "semantic" and "positional" on their data sets.
    """
    where = ["alpha", "d", "seed", "side"]
    values = cosines(table, sigma)
    table = table.assign(side=values.idxmax(axis=1), **values)
    runs = table[~table["start"].isin(MINIMA)].reset_index(drop=True)
    minima = table[table["start"] == table["side"]].set_index(where)[[*MINIMA]]
    away = runs[[*MINIMA]] - minima.reindex(pd.MultiIndex.from_frame(runs[where])).to_numpy()
    basin = runs["side"].where((away.abs() <= close).all(axis=1), "neither")
    return runs.assign(basin=basin.where(runs["grad_norm"] <= SMALL_GRADIENT, "still moving"))


def shares_of_basins(runs):
    """Return the share of runs that ended in each basin, for every combination of optimiser, alpha and d.

    Runs on one data set may resemble each other. Therefore `low` and `high` are Wilson's interval at 95 % for the
    number of independent runs that has the same variance.

    runs: a frame from `classify`.
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
    """Return the effective number of independent runs among runs that share data sets.

    So many independent runs would give a share with the same variance.

    hits: outcomes, 0 or 1, grouped by data set.
    """
    runs, variance = hits.size().sum(), share * (1 - share)
    size = runs / hits.ngroups
    is_estimable = variance > 0 and hits.ngroups > 1  # if False, all runs on one data set count as one run
    # The excess is the variance between the shares of data sets, divided by the variance that independent runs would
    # have.
    excess = size * hits.mean().var(ddof=1) / variance if is_estimable else size
    return runs / np.clip(excess, 1, size)
