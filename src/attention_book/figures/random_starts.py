"""Figure 15: where training from random starts ends."""

import matplotlib as mpl
import matplotlib.pyplot as plt

from ..render.style import COLOURS, NEUTRAL, STYLE, draw_points

OPTIMIZERS = {"adam": "Adam", "gd": "Gradient descent"}


def found_minima(informed, runs, sigma):
    """Figure 15: where runs from random starts end, beside the minima that informed starts lead to.

    Parameters
    ----------
    informed, runs : DataFrame
        Results with start, d, m and theta; `runs` with `basin` from `basins.classify`. Informed ones in the dimension
        of the runs and in a larger one.
    sigma : float

    Returns
    -------
    matplotlib Figure
    """
    variance = sigma**2
    with mpl.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(6.4, 5.2))
        for (branch, d), each in informed.groupby(["start", "d"], observed=True):
            same = d == runs["d"].iloc[0]
            axes.scatter(
                each["m"].abs() / variance,
                each["theta"].abs() / variance,
                14 if same else 40,
                facecolors="none",
                edgecolors=COLOURS[branch],
                linewidths=0.8,
                marker="o" if same else "D",
                label=f"{branch} start, L-BFGS, $d={d}$",
            )
        for basin, colour in {**COLOURS, "neither": NEUTRAL}.items():
            each = runs[runs["basin"] == basin]
            x, y = each["m"].abs() / variance, each["theta"].abs() / variance
            axes.scatter(x, y, 22, color=colour, marker="x", label=f"random start, {basin}")
        axes.set_xlabel(r"overlap with the positions $|m|/\sigma^2$")
        axes.set_ylabel(r"overlap with the teacher $|\theta|/\sigma^2$")
        axes.legend(loc="best")
    return figure


def fractions(table):
    """How often each basin is found, over alpha: one panel for each dimension (rows) and optimiser (columns).

    Parameters
    ----------
    table : DataFrame
        From `basins.fractions`.

    Returns
    -------
    matplotlib Figure
    """
    optimizers, dimensions = sorted(table["optimizer"].unique()), sorted(table["d"].unique())
    size = 6.4, 1.9 * len(dimensions) + 1
    with mpl.rc_context(STYLE):
        figure, panels = plt.subplots(
            len(dimensions), len(optimizers), figsize=size, sharex=True, sharey=True, squeeze=False
        )
        for row, d in zip(panels, dimensions):
            for axes, optimizer in zip(row, optimizers):
                here = table[(table["optimizer"] == optimizer) & (table["d"] == d)]
                for (basin, colour), marker in zip(COLOURS.items(), "os"):
                    each = here[here["basin"] == basin]
                    errors = (each["fraction"] - each["low"], each["high"] - each["fraction"])
                    draw_points(axes, each["alpha"], each["fraction"], errors, colour, f"{marker}-", label=basin)
                axes.set(title=f"{OPTIMIZERS[optimizer]}, $d={d}$", ylim=(-0.03, 1.03), yticks=(0, 0.5, 1))
        figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
        figure.supxlabel(r"sample complexity $\alpha = n/d$", fontsize=14)
        figure.supylabel("fraction of runs", fontsize=14)
    return figure
