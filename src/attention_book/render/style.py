"""What figures share: colours, type, labels of axes, and what is drawn in their panels.

Lines have error bands, points error bars, maps the colours of two sides, thresholds a strip as wide as their error.
"""

import logging
from math import isfinite
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib_inline.backend_inline import set_matplotlib_formats

from attention_phases.errors import BadInput, check_choice, check_count, check_kind, check_positive
from attention_phases.measured import Measured

from .drawn import READOUT, csv_of, readout_of
from .markup import number
from .wide import WIDE, wide_svg

SEMANTIC, POSITIONAL, BASELINE, NEUTRAL = "#c8553d", "#2667a8", "#4f7942", "#444444"
COLOURS = {"semantic": SEMANTIC, "positional": POSITIONAL}
ATTENTION, LINEAR = "#e08a00", "#5e3c99"  # which predicts better, on maps
OF_PROCESS = ("backend", "backend_fallback", "interactive")  # settings of Matplotlib that are not of a picture
NAMED = {SEMANTIC: "semantic", POSITIONAL: "positional", BASELINE: "baseline"}  # in a figure's data

# The book makes the figures of its dark theme from white ones; a fixed salt gives the same SVG for the same picture.
# Below it are Matplotlib's defaults, so that nothing of a user's `matplotlibrc` shows.
STYLE = {name: value for name, value in mpl.rcParamsDefault.items() if name not in OF_PROCESS} | {
    "svg.hashsalt": "attention-phases",
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "font.size": 14,
    "axes.titlesize": 14,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "legend.fontsize": 12.5,
    "lines.linewidth": 1.8,
    "lines.markersize": 4.5,
    "figure.constrained_layout.use": True,
}
FONTS = {  # of printed figures: Matplotlib's own, each with the mathematics that goes with it
    "sans": {"font.family": "DejaVu Sans", "mathtext.fontset": "dejavusans"},
    "STIX": {"font.family": "STIXGeneral", "mathtext.fontset": "stix"},
    "Computer Modern": {"font.family": "cmr10", "mathtext.fontset": "cm", "axes.formatter.use_mathtext": True},
}
logging.getLogger("fontTools").setLevel(logging.ERROR)  # it warns of the dates in the files of Computer Modern
# Options of a legend that no line crosses.
OPAQUE = {"frameon": True, "framealpha": 1, "edgecolor": "none"}

# labels of axes
ALPHA, OMEGA = r"sample complexity $\alpha = n/d$", r"positional share of the teacher $\omega$"
LOSS_GAP = r"$\epsilon_t^{\rm semantic}-\epsilon_t^{\rm positional}$"
TEST_ERROR = r"test error $\epsilon_g$"
# labels of the overlap that a branch is named after
OVERLAP_LABELS = {"semantic": r"$\theta/\sigma^2$, with the teacher", "positional": r"$m/\sigma^2$, with the positions"}
VALUES = "values"  # a drawing names points so whose colours show values: gid=f"{VALUES}_{number}"
SVG, BEHIND = "image/svg+xml", "behind"  # of an output that shows a figure, and in its metadata
PNG, DOTS = "image/png;encoding=base64", 200  # to take away, which no page shows; dots of an inch
styled = mpl.rc_context(STYLE)  # decorator: the function draws in the book's style


def use_book_output():
    """Draw in the book's style, and in a notebook show figures as vector graphics: one picture, the same bytes.

    Each comes with its data as CSV, what it shows where a reader points, its shape for wide screens, as PNG, and in
    its metadata the experiments that were read before it.
    """
    from IPython import get_ipython

    shell = get_ipython()  # None: the page runs as a script
    if shell is not None:
        _show_in(shell)
    plt.rcParams.update(STYLE)


def _show_in(shell):
    """Let a notebook's shell show figures as the book needs them."""
    from IPython.core.formatters import BaseFormatter
    from IPython.core.pylabtools import print_figure

    from ..experiments import results

    shell.run_line_magic("matplotlib", "inline")  # MPLBACKEND may name another backend, which would show nothing
    set_matplotlib_formats("svg", metadata={"Date": None})  # which takes every other format away
    formatters = shell.display_formatter.formatters
    draw = formatters[SVG].for_type(Figure)
    formatters[SVG].for_type(Figure, lambda figure: (draw(figure), {BEHIND: [*results.READ]}))
    kinds = {
        "text/csv": lambda figure: csv_of(figure, NAMED) or None,
        READOUT: lambda figure: readout_of(figure, NAMED),
        WIDE: wide_svg,
        PNG: lambda figure: print_figure(figure, "png", dpi=DOTS, base64=True),
    }
    for kind, write in kinds.items():
        new = BaseFormatter(format_type=kind, print_method="_repr_of_book_")  # which no object has
        formatters.setdefault(kind, new).for_type(Figure, write)


def ticks(axis, places):
    """Mark these places alone along an axis, such as ``axes.xaxis``, as they are written."""
    axis.set_ticks(places, map(str, places))
    axis.set_minor_locator(mpl.ticker.NullLocator())


def show(figure, name=None):
    """Show a finished figure, once: as the last line of its cell, which otherwise shows what that line returns.

    name: that of the files name.svg and name.csv in which a script also saves the figure and its data.
    """
    from IPython.display import display

    check_kind("figure", figure, Figure)
    for _ in range(2):  # in which the layout settles; then it stays, as each format would seek it again
        figure.draw_without_rendering()
    figure.set_layout_engine("none")
    if name:
        figure.savefig(f"{name}.svg", bbox_inches="tight", metadata={"Date": None})  # as a notebook shows it
        if data := csv_of(figure, NAMED):
            Path(f"{name}.csv").write_text(data, encoding="utf-8")
    display(figure)
    plt.close(figure)


def publication(width=3.4, font="STIX"):
    """Settings of Matplotlib for a figure in print, of `width` inches and with a font of `FONTS`: for `rc_context`."""
    size = 8 if check_positive("width", width) < 5 else 9
    printed = {"font.size": size, "axes.titlesize": size, "legend.fontsize": size - 1, "figure.dpi": 150}
    drawn = {"lines.linewidth": 1.1, "lines.markersize": 3, "figure.figsize": (width, 0.7 * min(width, 4.5))}
    files = {"pdf.fonttype": 42, "savefig.dpi": 600}  # letters that journals accept
    return STYLE | printed | drawn | files | FONTS[check_choice("font", font, tuple(FONTS))]


def panels(count, height, width=6.4, **options):
    """A figure of `count` panels above one another, each of `height` inches, and its axes as an array (count,)."""
    size = check_positive("width", width), check_count("count", count) * check_positive("height", height)
    figure, axes = plt.subplots(count, 1, figsize=size, squeeze=False, **options)
    return figure, np.ravel(axes)


def list_panel(headings, labels, width=6.4):
    """A panel of lines below bold headings, each with its label: the figure, its axes, and the places of the lines."""
    codes, names = pd.factorize(np.array(headings))
    places = np.arange(len(codes)) + 1 + codes  # a line of its own for each heading
    figure, (axes,) = panels(1, 1.2 + 0.27 * (len(places) + len(names)), width)
    beside = {"transform": axes.get_yaxis_transform(), "ha": "right", "va": "center", "weight": "bold"}
    for code, name in enumerate(names):
        axes.text(-0.02, places[codes == code][0] - 1, name, **beside)
    axes.set_yticks(places, labels)
    axes.set_ylim(places.max(initial=1) + 0.6, -0.6)
    axes.tick_params(axis="y", length=0)
    return figure, axes, places


def slice_panels(height, losses=LOSS_GAP):
    """A figure of a slice over alpha, and its panels: training losses, with this label, overlaps, and test errors."""
    figure, axes = panels(3, height, sharex=True)
    for panel, label in zip(axes, (losses, "overlap", TEST_ERROR)):
        panel.set_ylabel(label)
    scientific(axes[0])
    scientific(axes[2])
    axes[2].set_xlabel(ALPHA)
    return figure, axes


def scientific(axes):
    """Ticks of the y axis, losses or test errors, as multiples of a thousandth, as elsewhere in the book."""
    axes.ticklabel_format(axis="y", style="sci", scilimits=(-3, -3), useMathText=True)


def logarithmic(axes):
    """A logarithmic y axis over few decades, with plain numbers at 1, 2 and 5."""
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(mpl.ticker.LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(mpl.ticker.FormatStrFormatter("%g"))
    axes.yaxis.set_minor_formatter(mpl.ticker.NullFormatter())


def draw_line(axes, rows, name, colour, style="-", label=None, unit=1.0):
    """The column `name` of `rows` over their index, in a unit, as a line with a band of its "_error" column.

    One row alone is a dot. Without rows nothing is drawn, and nothing is in the legend.
    """
    check_kind("axes", axes, Axes)
    check_kind("rows", rows, pd.DataFrame)
    if rows.empty:
        return
    value, error = _with_error(rows, name, unit)
    axes.plot(rows.index, value, "." if len(rows) == 1 else style, color=colour, label=label)
    axes.fill_between(rows.index, value - error, value + error, color=colour, alpha=0.3, linewidth=0)


def draw_means(axes, means, name, colour, marker="o", unit=1.0, **more):
    """The same as points with bars."""
    draw_points(axes, means.index, *_with_error(means, name, unit), colour, marker, **more)


def _with_error(rows, name, unit):
    if not {name, f"{name}_error"} <= {*rows}:
        raise BadInput("name", name, f"a column that has its error beside it, as x has x_error, of {', '.join(rows)}")
    return rows[name] / unit, rows[f"{name}_error"] / unit


def draw_points(axes, x, y, error, colour, marker="o", **more):
    """Points with bars of their standard error; without any, nothing is in the legend."""
    if len(x):
        axes.errorbar(x, y, error, fmt=marker, color=colour, elinewidth=1, **more)


def draw_cells(axes, maps, sides, largest=None):
    """Draw maps over omega (columns) and alpha (rows), one on each of some axes, in two colours; return the last mesh.

    Colours are full at plus and minus `largest`, or where that is not given beyond 95 % of the values of a map: the
    largest ones stand in a corner. Cells are drawn up to their edges, so that no white lines are left.
    """
    largest = largest or max(np.nanquantile(np.abs(values), 0.95) for values in maps)
    colours = mpl.colors.LinearSegmentedColormap.from_list("sides", [sides[0], "white", sides[1]])
    look = {"cmap": colours, "shading": "nearest", "edgecolors": "face", "linewidth": 0.2}
    for panel, values in zip(axes, maps):
        cells = values.columns, values.index, values.to_numpy()
        mesh = panel.pcolormesh(*cells, vmin=-largest, vmax=largest, **look)
    return mesh


def draw_shares(axes, matrix, limits, form, label=None, **words):
    """Draw a matrix of attention as grey cells with their numbers in this form; `words` are options of `text`."""
    rows, columns = map(range, np.shape(matrix))
    look = {"cmap": "Greys", "shading": "nearest", "edgecolors": "face", "linewidth": 0.2}
    look |= dict(zip(("vmin", "vmax"), limits))
    dark = np.interp(0.54, (0, 1), limits)  # beyond it white words are read better, in the mean over both themes
    axes.pcolormesh(columns, rows, matrix, label=label, **look)
    words |= {"ha": "center", "va": "center", "in_layout": False}  # in their cell, for which room is made
    for (i, j), value in np.ndenumerate(matrix):
        axes.text(j, i, number(value, form), color="white" if value > dark else "black", **words)
    axes.set_aspect("equal")
    axes.invert_yaxis()


def bar_below(figure, mapped, axes, label, extend="both", **options):
    """Draw the colour bar of maps below them."""
    options |= {"orientation": "horizontal", "label": label, "extend": extend, "aspect": 35}
    bar = figure.colorbar(mapped, ax=axes, **options)
    # The dark theme changes the colours of shapes, but not of images.
    bar.solids.set(rasterized=False, edgecolor="face", linewidth=0.2)
    losses = max(map(abs, mapped.get_clim())) < 0.01  # in thousandths, as elsewhere
    bar.formatter.set_powerlimits((-3, -3) if losses else (-2, 3))
    bar.formatter.set_useMathText(True)


def mark_threshold(axes, threshold, name, colour, left=False):
    """A vertical line at a threshold (`Measured`), if there is one: its error as the width, its name beside it."""
    check_kind("axes", axes, Axes)
    check_kind("threshold", threshold, Measured)
    alpha, error = threshold
    if not isfinite(alpha):
        return
    axes.axvline(alpha, color=colour, linewidth=1, linestyle="-.", label=f"_{name}")
    axes.axvspan(alpha - error, alpha + error, color=colour, alpha=0.3)
    write_beside(axes, alpha, 1, name, colour, left, -12)


def write_beside(axes, x, height, text, colour, left=False, up=0, **more):
    """Text beside a vertical line at x, at a share of the panel's height, and `up` by so many points."""
    offset, side = (-3, "right") if left else (3, "left")
    place = {"xycoords": ("data", "axes fraction"), "xytext": (offset, up), "textcoords": "offset points"}
    axes.annotate(text, (x, height), color=colour, ha=side, **place, **more)
