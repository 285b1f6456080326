"""How many minima the starts in one valley lead to, and how these differ."""

import numpy as np
import pandas as pd

from ..render.style import COLOURS, panels, styled

WHERE = ["omega", "alpha", "valley", "noise"]
SHOWN_STARTS = ((0.3, 0.1), (0.3, 0.3), (0.1, 0.1), (0.1, 1.0))  # omega and noise of the starts


def valleys(table):
    """How many minima the starts in one valley lead to, and how they differ.

    By `omega`, `alpha`, `valley` and `noise` of the experiment "landscape": `starts` on a data set; `minima`, their
    mean number over data sets, and the least and the greatest as a range; `relative_scatter` of the training loss,
    standard deviation over the lowest, mean over data sets (NaN: below 1e-6); `aligned`, cosine of two ends, with its
    standard deviation.
    """
    groups = table.groupby(WHERE)
    per_set = table.groupby([*WHERE, "seed"])
    minima = per_set["minimum"].nunique().groupby(WHERE)
    losses = per_set["train_loss"]
    relative = (losses.std() / losses.min()).groupby(WHERE).mean()
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
    """Cumulative distributions over starts and data sets of the experiment "landscape", at `SHOWN_STARTS`."""
    figure, (top, bottom) = panels(2, 3.3)
    groups = table.groupby(["omega", "valley", "noise"])
    shown = [(where, ends) for where, ends in groups if (where[0], where[2]) in SHOWN_STARTS]
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
