"""The minima that many starts in one valley lead to: how many there are, their losses and mutual overlaps."""

import numpy as np
import pandas as pd

from ..analysis.instances import root_mean_squares
from ..render.panels import panels, styled
from ..render.style import COLOURS

WHERE = ["omega", "alpha", "valley", "noise"]
SAME_LOSS = 1e-8  # L-BFGS leaves less than this above a minimum
SHOWN = ((0.3, 0.1), (0.3, 0.3), (0.1, 0.1), (0.1, 1.0))  # omega and noise of the starts


def scatter(table):
    """How many minima the starts around one valley lead to, told apart by their losses.

    By `omega`, `alpha` and `valley`: `starts`; `minima`, their mean number over data sets, the `fewest` and the `most`;
    `scatter`, standard deviation of the training loss between the starts, root mean square over data sets, with its
    error, NaN where all starts end at the same loss.

    table: starts "semantic", "near_semantic" (several) and so on, from the same data.
    """
    where = ["omega", "alpha", "valley"]
    valley = table["start"].astype(str).str.removeprefix("near_")
    losses = table.assign(valley=valley).groupby([*where, "seed"])["train_loss"]
    minima = losses.agg(lambda ends: 1 + (np.diff(np.sort(ends)) > SAME_LOSS).sum()).groupby(where)
    spread = root_mean_squares(losses.var().to_frame("scatter").groupby(where))
    spread = spread.set_axis(["scatter", "scatter_error"], axis=1)
    counts = {
        "starts": losses.size().groupby(where).max(),
        "minima": minima.mean(),
        "fewest": minima.min().astype(int),
        "most": minima.max().astype(int),
    }
    return pd.DataFrame(counts).join(spread.where(spread["scatter"] > SAME_LOSS)).reset_index()


def valleys(table):
    """How many minima the starts in one valley lead to, and how they differ.

    By `omega`, `alpha`, `valley` and `noise`: `starts` on a data set; `minima`, their mean number over data sets,
    and the least and the greatest as a range; `relative_scatter` of the training loss, standard deviation over the
    lowest, mean over data sets (NaN: below 1e-6); `aligned`, cosine of two ends, with its standard deviation.

    table: the experiment "landscape".
    """
    groups = table.groupby(WHERE, observed=True)
    per_set = table.groupby([*WHERE, "seed"], observed=True)
    minima = per_set["minimum"].nunique().groupby(WHERE, observed=True)
    losses = per_set["train_loss"]
    relative = (losses.std() / losses.min()).groupby(WHERE, observed=True).mean()
    columns = {
        "starts": groups.size() // groups["seed"].nunique(),
        "minima": minima.mean(),
        "minima_low": minima.min(),
        "minima_high": minima.max(),
        "relative_scatter": relative.where(relative > 1e-6),
        "aligned": groups["aligned"].mean(),
        "aligned_std": groups["aligned"].std(),
    }
    return pd.DataFrame(columns).reset_index()


@styled
def draw_minima(table):
    """Cumulative distributions over starts and data sets of the experiment "landscape", at `SHOWN`."""
    figure, (top, bottom) = panels(2, 3.3)
    groups = table.groupby(["omega", "valley", "noise"], observed=True)
    shown = [(where, ends) for where, ends in groups if (where[0], where[2]) in SHOWN]
    for number, ((omega, valley, noise), ends) in enumerate(shown):
        excess = 100 * (ends["train_loss"] / ends.groupby("seed")["train_loss"].transform("min") - 1)
        fractions = (np.arange(len(ends)) + 1) / len(ends)
        look = {
            "color": COLOURS[valley],
            "linestyle": ("-", "--", ":", "-.")[number % 4],
            "drawstyle": "steps-post",
            "label": rf"$\omega={omega:g}$, {valley}, noise {noise:g}",
        }
        top.plot(np.sort(excess), fractions, **look)
        bottom.plot(np.sort(ends["aligned"]), fractions, **look)
    top.set(xlabel="training loss above the lowest on the same data, in %", ylabel="share of the starts")
    bottom.set(xlabel="cosine of the ends of two starts", ylabel="share of the pairs", xlim=(0, 1.02))
    bottom.legend(loc="upper left", fontsize=11)
    return figure
