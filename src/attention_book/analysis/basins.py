"""Where training from random starts ends: in the semantic basin, in the positional one, or in neither (Figure 15)."""

import numpy as np
import pandas as pd

SETTLED = 0.01  # largest |grad R| of a run that has arrived
WIDTH = 3.0  # standard deviations between informed minima
MINIMA = 3  # on so many data sets at least, for a deviation to be had
BASINS = ("semantic", "positional")
WHERE = ["alpha", "d"]


def classify(table, width=WIDTH):
    """Basin of every run from a random start.

    A run counts for a basin if its gradient is small, if the basin's own overlap is the larger one (``|theta|`` for the
    semantic basin, ``|m|`` for the positional one), and if both lie within three standard deviations, between data
    sets, of the mean over the minima that L-BFGS reaches from the basin's own start at the same alpha and d. Of these
    only the minima count whose own overlap is the larger one too; where fewer than three do, the basin does not exist.

    Parameters
    ----------
    table : pandas.DataFrame
        Results of "random" starts, by any optimiser, and of "semantic" and "positional" ones by L-BFGS.
    width : float
        Other than three standard deviations.

    Returns
    -------
    pandas.DataFrame
        The random runs, with a column `basin`: "semantic", "positional" or "neither".
    """
    runs = table[table["start"] == "random"].reset_index(drop=True)
    informed = table[(table["start"] != "random") & (table["optimizer"] == "lbfgs")]
    stayed = (informed["theta"].abs() > informed["m"].abs()) == (informed["start"] == "semantic")
    semantic = runs["theta"].abs() > runs["m"].abs()
    distance = pd.DataFrame(np.inf, index=runs.index, columns=list(BASINS))
    for (alpha, d, start), each in informed.groupby([*WHERE, "start"], observed=True):
        overlaps = each.loc[stayed, ["theta", "m"]].abs()
        if len(overlaps) < MINIMA:
            continue
        mean, spread = overlaps.mean(), overlaps.std()
        here = (runs["alpha"] == alpha) & (runs["d"] == d) & (semantic == (start == "semantic"))
        away = (runs.loc[here, ["theta", "m"]].abs() - mean) / spread
        distance.loc[here, start] = away.abs().max(axis=1)
    arrived = (distance.min(axis=1) <= width) & (runs["grad_norm"] <= SETTLED)
    return runs.assign(basin=distance.idxmin(axis=1).where(arrived, "neither"))


def fractions(runs):
    """Share of the runs in each basin, with 95 % intervals.

    Runs on one data set may resemble each other: the interval is Wilson's for as many independent runs as have the
    same variance, by the correlation within data sets.

    Parameters
    ----------
    runs : pandas.DataFrame
        From `classify`.

    Returns
    -------
    pandas.DataFrame
        optimizer, alpha, d, basin, runs, fraction, low, high.
    """
    rows = []
    for (optimizer, alpha, d), each in runs.groupby(["optimizer", *WHERE], observed=True):
        for basin in (*BASINS, "neither"):
            hits = (each["basin"] == basin).astype(float).groupby(each["seed"])
            count, share = len(each), (each["basin"] == basin).mean()
            size = count / hits.ngroups
            rows.append({
                "optimizer": optimizer, "alpha": alpha, "d": d, "basin": basin, "runs": count, "fraction": share,
                **dict(zip(("low", "high"), wilson(share, count / (1 + (size - 1) * _within(hits, share, size))))),
            })  # fmt: skip
    return pd.DataFrame(rows)


def wilson(share, count, z=1.96):
    """Wilson's interval of a share among `count` independent runs."""
    centre = (share + z**2 / (2 * count)) / (1 + z**2 / count)
    half = z * np.sqrt(share * (1 - share) / count + z**2 / (4 * count**2)) / (1 + z**2 / count)
    return min(max(centre - half, 0.0), share), max(min(centre + half, 1.0), share)  # rounding at shares 0 and 1


def _within(hits, share, size):
    """Correlation of the outcomes of two runs on one data set, at least zero; one where nothing tells it."""
    total = share * (1 - share)
    if size <= 1:
        return 0.0
    if total == 0 or hits.ngroups < 2:
        return 1.0
    between = hits.mean().var(ddof=1)
    return float(np.clip((between / total - 1 / size) / (1 - 1 / size), 0.0, 1.0))
