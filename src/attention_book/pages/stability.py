"""Message passing beside its state evolution, iteration by iteration."""

import matplotlib as mpl
import numpy as np

from ..render.style import (
    COLOURS,
    NEUTRAL,
    SEMANTIC,
    draw_means,
    panels,
    styled,
)

# label and unit, over sigma^2; m has a drawing of its own
TRACKED = {"q": (r"$q/\sigma^2$", 1), "theta": (r"$\theta/\sigma^2$", 1), "V": (r"$V/10\sigma^2$", 10)}


@styled
def draw_tracking(runs, theory, sigma):
    """Overlaps by iteration: message passing on several data sets, and the state evolution from the same start.

    runs, theory: `message_passing.Run.history` of each data set, and `theory.stability.trajectory`.
    """
    figure, rows = panels(len(TRACKED), 2.4, sharex=True)
    for axes, (name, (label, multiple)) in zip(rows, TRACKED.items()):
        unit = multiple * sigma**2
        histories = [run[name] / unit for run in runs]
        _draw_runs(axes, histories, SEMANTIC, "message passing, one data set", alpha=0.7)
        draw_means(axes, theory, name, "black", unit=unit, markersize=4, label="state evolution")
        low, high = theory[name].min() / unit, theory[name].max() / unit
        room = max(0.25 * (high - low), 0.1)  # what runs away leaves the frame
        axes.set(ylabel=label, ylim=(low - room, high + room))
    figure.legend(*rows[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    rows[-1].set_xlabel("iteration")
    rows[-1].xaxis.set_major_locator(mpl.ticker.MaxNLocator(6, integer=True))
    return figure


@styled
def draw_mode(undamped, damped, gain, sigma):
    """The overlap with the positions near the semantic solution, and the growth that the map's derivative predicts.

    undamped, damped: `message_passing.Run.history` of each data set.
    gain: of m, `theory.Solution.gain`.
    """
    figure, (axes,) = panels(1, 4.4)
    for runs, colour, label in ((undamped, COLOURS["positional"], "undamped"), (damped, NEUTRAL, "damped")):
        _draw_runs(axes, [abs(run["m"]) / sigma**2 for run in runs], colour, label, alpha=0.8)
    steps = np.arange(3, 9)
    growth = 0.03 * abs(gain) ** (steps - 3.0)
    axes.plot(steps, growth, "o--", color="black", markersize=4, label=rf"slope of theory: ${gain:.2f}$ a step")
    last = max(run.index.max() for run in undamped)
    axes.set(yscale="log", xlabel="iteration", ylabel=r"$|m|/\sigma^2$", ylim=(1e-4, 30), xlim=(0, last))
    axes.legend(loc="lower right")
    return figure


def _draw_runs(axes, runs, colour, label, alpha):
    """A thin line for each run, named once."""
    for number, run in enumerate(runs):
        name = None if number else label
        axes.plot(run.index, run, "-", color=colour, linewidth=0.8, alpha=alpha, label=name)
