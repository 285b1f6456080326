"""What all figures share: colours, type, lines with error bands."""

from functools import wraps
from math import isfinite

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib_inline.backend_inline import set_matplotlib_formats

from .drawn import as_csv

SEMANTIC, POSITIONAL, BASELINE, NEUTRAL = "#c8553d", "#2667a8", "#4f7942", "#444444"
COLOURS = {"semantic": SEMANTIC, "positional": POSITIONAL}
ATTENTION, LINEAR = "#e08a00", "#5e3c99"  # which predicts better, on maps
HIGHER, LOWER = "#333333", "#008080"  # a loss by one optimiser than by the other
NAMED = {SEMANTIC: "semantic", POSITIONAL: "positional", BASELINE: "baseline"}  # in a figure's data

# The book makes the figures of its dark theme from white ones; a fixed salt gives the same SVG for the same picture.
STYLE = {
    "svg.hashsalt": "attention-phases",
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "font.size": 14,
    "axes.titlesize": 14,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "legend.fontsize": 12,
    "lines.linewidth": 1.8,
    "lines.markersize": 4.5,
    "figure.constrained_layout.use": True,
}


# labels of axes
ALPHA, OMEGA = r"sample complexity $\alpha = n/d$", r"positional share of the teacher $\omega$"
LOSS_GAP = r"$\epsilon_t^{\rm semantic}-\epsilon_t^{\rm positional}$"
TEST_ERROR = r"test error $\epsilon_g$"
# labels of the overlap that a branch is named after
OVERLAPS = {"semantic": r"$\theta/\sigma^2$, with the teacher", "positional": r"$m/\sigma^2$, with the positions"}


def styled(draw):
    """Decorator: the function draws in the book's style."""

    @wraps(draw)
    def drawing(*arguments, **options):
        with mpl.rc_context(STYLE):
            return draw(*arguments, **options)

    return drawing


def panels(count, height, width=6.4, **options):
    """A figure of `count` panels above one another, each of `height` inches, and its axes as an array (count,)."""
    figure, axes = plt.subplots(count, 1, figsize=(width, count * height), squeeze=False, **options)
    return figure, np.ravel(axes)


def slice_panels(height, losses=LOSS_GAP):
    """A figure of a slice over alpha, and its panels: training losses, with this label, overlaps, and test errors."""
    figure, axes = panels(3, height, sharex=True)
    for panel, label in zip(axes, (losses, "overlap", TEST_ERROR)):
        panel.set_ylabel(label)
    scientific(axes[0])
    scientific(axes[2])
    axes[2].set_xlabel(ALPHA)
    return figure, axes


def scientific(axes, axis="y"):
    """Ticks of an axis as multiples of one power of ten."""
    axes.ticklabel_format(axis=axis, style="sci", scilimits=(0, 0), useMathText=True)


def logarithmic(axes):
    """A logarithmic y axis over few decades, with plain numbers at 1, 2 and 5."""
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(mpl.ticker.LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(mpl.ticker.FormatStrFormatter("%g"))
    axes.yaxis.set_minor_formatter(mpl.ticker.NullFormatter())


def use_svg():
    """Show figures in notebooks as vector graphics, the same bytes for the same picture, with their data as CSV."""
    from IPython.core.formatters import BaseFormatter
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    shell.run_line_magic("matplotlib", "inline")  # MPLBACKEND may name another backend, which would show nothing
    set_matplotlib_formats("svg", metadata={"Date": None})  # which takes every other format away
    formatters = shell.display_formatter.formatters
    csv = formatters.setdefault("text/csv", BaseFormatter(format_type="text/csv", print_method="_repr_csv_"))
    csv.for_type(Figure, lambda figure: as_csv(figure, NAMED) or None)
    plt.rcParams["svg.hashsalt"] = STYLE["svg.hashsalt"]  # a notebook draws after the style's context has ended


def draw_line(axes, x, y, error, colour, style="-", label=None):
    """A line with a band of its standard error."""
    axes.plot(x, y, style, color=colour, label=label)
    axes.fill_between(x, y - error, y + error, color=colour, alpha=0.3, linewidth=0)


def draw_points(axes, x, y, error, colour, marker="o", **more):
    """Points with bars of their standard error."""
    axes.errorbar(x, y, error, fmt=marker, color=colour, elinewidth=1, **more)


def draw_means(axes, means, name, colour, unit=1.0, marker="o", **more):
    """The column `name` of `means` over its index, in a unit, with the bars of its "_error" column."""
    draw_points(axes, means.index, means[name] / unit, means[f"{name}_error"] / unit, colour, marker, **more)


def mark_threshold(axes, threshold, name, colour, left=False):
    """A vertical line at a threshold (`Measured`), if there is one: its error as the width, its name beside it."""
    alpha, error = threshold
    if not isfinite(alpha):
        return
    axes.axvline(alpha, color=colour, linewidth=1, linestyle="-.", label=f"_{name}")
    axes.axvspan(alpha - error, alpha + error, color=colour, alpha=0.3)
    offset, side = (-3, "right") if left else (3, "left")
    place = {"xy": (alpha, 1), "xycoords": ("data", "axes fraction")}
    axes.annotate(name, **place, xytext=(offset, -12), textcoords="offset points", color=colour, ha=side)
