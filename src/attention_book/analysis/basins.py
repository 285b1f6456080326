"""Where training from random starts ends: in the semantic basin, in the positional one, or in neither (Figure 15)."""

import numpy as np
import pandas as pd

SETTLED = 0.01  # largest |grad R| of a run that has arrived
WIDTH = 3.0  # standard deviations between informed minima
MINIMA = 3  # on so many data sets at least, for a deviation to be had
BASINS = ("semantic", "positional")
WHERE = ["alpha", "d"]


def classify(table, width=WIDTH):
    """Basin of every run from a random start: these runs with a column `basin`, "neither" for those of no basin.

    A run counts for a basin if its gradient is small, if the basin's own overlap is the larger one (``|theta|`` for the
    semantic basin, ``|m|`` for the positional one), and if both lie within three standard deviations, between data
    sets, of the mean over the minima that L-BFGS reaches from the basin's own start at the same alpha and d. Of these
    only the minima count whose own overlap is the larger one too; where fewer than three do, the basin does not exist.

    table: "random" starts, by any optimiser, and "semantic" and "positional" ones by L-BFGS.
    width: other than three standard deviations.
    """
    runs = table[table["start"] == "random"].reset_index(drop=True)
    informed = table[(table["start"] != "random") & (table["optimizer"] == "lbfgs")]
    stayed = (informed["theta"].abs() > informed["m"].abs()) == (informed["start"] == "semantic")
    semantic = runs["theta"].abs() > runs["m"].abs()
    distance = pd.DataFrame(np.inf, index=runs.index, columns=list(BASINS))
    for (alpha, d, start), minima in informed[stayed].groupby([*WHERE, "start"], observed=True):
        if len(minima) < MINIMA:
            continue
        overlaps = minima[["theta", "m"]].abs()
        near = (runs["alpha"] == alpha) & (runs["d"] == d) & (semantic == (start == "semantic"))
        away = (runs.loc[near, ["theta", "m"]].abs() - overlaps.mean()) / overlaps.std()
        distance.loc[near, start] = away.abs().max(axis=1)
    arrived = (distance.min(axis=1) <= width) & (runs["grad_norm"] <= SETTLED)
    return runs.assign(basin=distance.idxmin(axis=1).where(arrived, "neither"))


def fractions(runs):
    """Share of the runs in each basin, with 95 % intervals: optimizer, alpha, d, basin, runs, fraction, low, high.

    Runs on one data set may resemble each other: the interval is Wilson's for as many independent runs as have the
    same variance, by the correlation within data sets.

    runs: from `classify`.
    """
    rows = []
    for where, some in runs.groupby(["optimizer", *WHERE], observed=True):
        for basin in (*BASINS, "neither"):
            hits = (some["basin"] == basin).astype(float)
            rows.append((*where, basin, len(some), hits.mean(), *_interval(hits.groupby(some["seed"]), hits.mean())))
    return pd.DataFrame(rows, columns=["optimizer", *WHERE, "basin", "runs", "fraction", "low", "high"])


def _interval(hits, share):
    """Wilson's interval of a share of runs, some on each data set."""
    count = hits.size().sum()
    size = count / hits.ngroups
    return wilson(share, count / (1 + (size - 1) * _correlation(hits, share, size)))


def wilson(share, count, z=1.96):
    """Wilson's interval of a share among `count` independent runs."""
    centre = (share + z**2 / (2 * count)) / (1 + z**2 / count)
    half = z * np.sqrt(share * (1 - share) / count + z**2 / (4 * count**2)) / (1 + z**2 / count)
    return min(max(centre - half, 0.0), share), max(min(centre + half, 1.0), share)  # rounding at shares 0 and 1


def _correlation(hits, share, size):
    """Correlation of the outcomes of two runs on one data set, at least zero; one where nothing tells it."""
    total = share * (1 - share)
    if size <= 1:
        return 0.0
    if total == 0 or hits.ngroups < 2:
        return 1.0
    between = hits.mean().var(ddof=1)
    return float(np.clip((between / total - 1 / size) / (1 - 1 / size), 0.0, 1.0))


def side_by_side(shares):
    """`fractions` with the basins side by side: `optimizer`, `d`, `alpha`; `semantic` and so on, each with a range."""
    wide = shares.pivot(index=["optimizer", "d", "alpha"], columns="basin", values=["fraction", "low", "high"])
    ends = {"fraction": "", "low": "_low", "high": "_high"}
    columns = {f"{basin}{end}": wide[part, basin] for basin in (*BASINS, "neither") for part, end in ends.items()}
    return pd.DataFrame(columns).reset_index().astype({"optimizer": object})
