"""Figure 15: where training from random starts ends, in the semantic basin, in the positional one, or in neither."""

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

from ..analysis.means import wilson
from ..render.style import ALPHA, COLOURS, NEUTRAL, draw_points, panels, styled

OPTIMIZERS = {"adam": "Adam", "gd": "Gradient descent"}
BASINS = ("semantic", "positional", "neither")
SETTLED = 0.01  # largest |grad R| of a run that has arrived
WIDTH = 3.0  # standard deviations between informed minima
MINIMA = 3  # on so many data sets at least, for a deviation to be had


def classify(table, width=WIDTH):
    """Basin of every run from a random start: these runs with a column `basin`, "neither" for those of no basin.

    A run counts for a basin if its gradient is small, if the basin's own overlap is the larger one (``|theta|`` for the
    semantic basin, ``|m|`` for the positional one), and if both lie within `width` standard deviations, between data
    sets, of the mean over the minima that L-BFGS reaches from the basin's own start at the same alpha and d. Of these
    only the minima count whose own overlap is the larger one too; where fewer than three do, the basin does not exist.

    table: "random" starts, by any optimiser, and "semantic" and "positional" ones by L-BFGS.
    """
    table = table.assign(side=np.where(table["theta"].abs() > table["m"].abs(), "semantic", "positional"))
    runs = table[table["start"] == "random"].reset_index(drop=True)
    informed = table[(table["start"] == table["side"]) & (table["optimizer"] == "lbfgs")]
    distance = pd.Series(np.inf, runs.index)
    for (alpha, d, side), minima in informed.groupby(["alpha", "d", "side"]):
        if len(minima) >= MINIMA:
            overlaps = minima[["theta", "m"]].abs()
            same = (runs["alpha"] == alpha) & (runs["d"] == d) & (runs["side"] == side)
            away = (runs.loc[same, ["theta", "m"]].abs() - overlaps.mean()) / overlaps.std()
            distance[same] = away.abs().max(axis=1)
    arrived = (distance <= width) & (runs["grad_norm"] <= SETTLED)
    return runs.drop(columns="side").assign(basin=runs["side"].where(arrived, "neither"))


def fractions(runs):
    """Share of the runs in each basin, with 95 % intervals: optimizer, alpha, d, basin, runs, fraction, low, high.

    Runs on one data set may resemble each other: the interval is Wilson's for as many independent runs as have the
    same variance, by the correlation within data sets.

    runs: from `classify`.
    """
    where, rows = ["optimizer", "alpha", "d"], []
    for values, some in runs.groupby(where, observed=True):
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


def side_by_side(shares):
    """`fractions` with the basins side by side: `optimizer`, `d`, `alpha`; `semantic` and so on, each with a range."""
    ends = {"fraction": "", "low": "_low", "high": "_high"}
    wide = shares.pivot(index=["optimizer", "d", "alpha"], columns="basin", values=list(ends))
    columns = {f"{basin}{end}": wide[part, basin] for basin in BASINS for part, end in ends.items()}
    return pd.DataFrame(columns).reset_index().astype({"optimizer": object})


@styled
def draw_minima(informed, runs, sigma):
    """Figure 15: where runs from random starts end, beside the minima that informed starts lead to.

    informed: students in the dimension of the runs and in a larger one.
    runs: from `classify`.
    """
    figure, (axes,) = panels(1, 5.2)
    for (branch, d), minima in informed.groupby(["start", "d"], observed=True):
        marker, size = ("o", 14) if d == runs["d"].iloc[0] else ("D", 40)
        style = {"facecolors": "none", "edgecolors": COLOURS[branch], "linewidths": 0.8, "marker": marker}
        label = f"{branch} start, L-BFGS, $d={d}$"
        axes.scatter(*_overlaps(minima, sigma), size, **style, label=label)
    for basin, colour in {**COLOURS, "neither": NEUTRAL}.items():
        ends = _overlaps(runs[runs["basin"] == basin], sigma)
        axes.scatter(*ends, 22, color=colour, marker="x", label=f"random start, {basin}")
    axes.set_xlabel(r"overlap with the positions $|m|/\sigma^2$")
    axes.set_ylabel(r"overlap with the teacher $|\theta|/\sigma^2$")
    axes.legend(loc="best")
    return figure


def _overlaps(students, sigma):
    return students["m"].abs() / sigma**2, students["theta"].abs() / sigma**2


@styled
def draw_fractions(shares):
    """How often each basin is found, over alpha: one panel for each dimension (rows) and optimiser (columns).

    shares: from `fractions`.
    """
    optimizers, dimensions = sorted(shares["optimizer"].unique()), sorted(shares["d"].unique())
    grid, size = (len(dimensions), len(optimizers)), (6.4, 1.9 * len(dimensions) + 1)
    figure, axes = plt.subplots(*grid, figsize=size, sharex=True, sharey=True, squeeze=False)
    by_panel = dict(list(shares.groupby(["d", "optimizer"])))
    for d, row in zip(dimensions, axes):
        for optimizer, panel in zip(optimizers, row):
            _draw_shares(panel, by_panel[d, optimizer])
            panel.set(title=f"{OPTIMIZERS[optimizer]}, $d={d}$", ylim=(-0.03, 1.03), yticks=(0, 0.5, 1))
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    figure.supxlabel(ALPHA, fontsize=14)
    figure.supylabel("fraction of runs", fontsize=14)
    return figure


def _draw_shares(axes, shares):
    for (basin, colour), marker in zip(COLOURS.items(), "os"):
        rows = shares[shares["basin"] == basin]
        fraction = rows["fraction"]
        errors = (fraction - rows["low"], rows["high"] - fraction)
        draw_points(axes, rows["alpha"], fraction, errors, colour, f"{marker}-", label=basin)
