"""The minima that many starts in one valley lead to: distributions of their losses and mutual overlaps."""

import numpy as np

from ..render.style import COLOURS, panels, styled

SHOWN = ((0.3, 0.1), (0.3, 0.3), (0.1, 0.1), (0.1, 1.0))  # omega and noise of the starts


@styled
def draw_minima(table):
    """Distributions over starts and data sets of the experiment "landscape", at `SHOWN`."""
    figure, (top, bottom) = panels(2, 3.7)
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
    top.set(xlabel="loss above the lowest on the same data, in %", ylabel="share of the starts")
    bottom.set(xlabel="overlap (cosine) of the ends of two starts", ylabel="share of the pairs", xlim=(0, 1.02))
    bottom.legend(loc="upper left", fontsize=11)
    return figure
