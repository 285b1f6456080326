"""The style of figures: colours, fonts, axis labels and panel elements.

Lines have error bands, and points have error bars. Maps have two colours, one for each sign. A threshold is a strip as
wide as its error.
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
from matplotlib.transforms import offset_copy
from matplotlib_inline.backend_inline import set_matplotlib_formats

from attention_phases.errors import BadInput, check_choice, check_count, check_kind, check_positive
from attention_phases.measured import Measured

from .figure_data import READOUT, csv_of, readout_of
from .layout import WIDE_TYPE, wide_svg
from .markup import number

SEMANTIC, POSITIONAL, BASELINE, NEUTRAL = "#c8553d", "#2667a8", "#4f7942", "#444444"
COLOURS = {"semantic": SEMANTIC, "positional": POSITIONAL}
ATTENTION, LINEAR = "#e08a00", "#5e3c99"  # on maps, the model that predicts better
PROCESS_SETTINGS = ("backend", "backend_fallback", "interactive")  # settings of Matplotlib that do not affect pictures
# Names of the colours in the data of a figure
COLOUR_NAMES = {SEMANTIC: "semantic", POSITIONAL: "positional", BASELINE: "baseline"}

# Figures are white, because the figures of the dark theme are made from white figures. With a fixed salt, the same
# picture always gives the same SVG. All other settings are the defaults of Matplotlib, so that a user's `matplotlibrc`
# has no effect.
STYLE = {name: value for name, value in mpl.rcParamsDefault.items() if name not in PROCESS_SETTINGS} | {
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
FONTS = {  # fonts that Matplotlib includes, for printed figures, each with a matching font for mathematics
    "sans": {"font.family": "DejaVu Sans", "mathtext.fontset": "dejavusans"},
    "STIX": {"font.family": "STIXGeneral", "mathtext.fontset": "stix"},
    "Computer Modern": {"font.family": "cmr10", "mathtext.fontset": "cm", "axes.formatter.use_mathtext": True},
}
logging.getLogger("fontTools").setLevel(logging.ERROR)  # fontTools warns of dates in the fonts of Computer Modern
# Options of a legend that hides the lines behind it
OPAQUE_LEGEND = {"frameon": True, "framealpha": 1, "edgecolor": "none"}

# Labels of axes
ALPHA, OMEGA = r"sample complexity $\alpha = n/d$", r"positional share of the teacher $\omega$"
LOSS_GAP = r"$\epsilon_t^{\rm semantic}-\epsilon_t^{\rm positional}$"
TEST_ERROR = r"test error $\epsilon_g$"
# Labels of the overlap that each branch is named after
OVERLAP_LABELS = {"semantic": r"$\theta/\sigma^2$, with the teacher", "positional": r"$m/\sigma^2$, with the positions"}
VALUES = "values"  # name of points whose colours show values, in gid=f"{VALUES}_{number}"
SVG, FIGURE_INFO = "image/svg+xml", "behind"  # type of an output that shows a figure, and key in its metadata
PNG, DOTS = "image/png;encoding=base64", 200  # type of a picture for download only, and its dots per inch
apply_style = mpl.rc_context(STYLE)  # decorator that makes a function draw in the book's style


def use_book_output():
    """Set the book's style, and show the figures of a notebook as reproducible vector graphics.

    With each figure a notebook stores its data as CSV, the numbers that are shown where a reader points, its version
    for wide screens and a PNG. The metadata has the experiments that were read before the figure.
    """
    from IPython import get_ipython

    shell = get_ipython()  # None if the page runs as a script
    if shell is not None:
        _show_in(shell)
    plt.rcParams.update(STYLE)


def _show_in(shell):
    """Register the output formats of the book's figures in a notebook's IPython shell."""
    from IPython.core.formatters import BaseFormatter
    from IPython.core.pylabtools import print_figure

    from ..experiments import results

    shell.run_line_magic("matplotlib", "inline")  # MPLBACKEND may name a backend that shows nothing
    set_matplotlib_formats("svg", metadata={"Date": None})  # removes every other format
    formatters = shell.display_formatter.formatters
    draw = formatters[SVG].for_type(Figure)
    formatters[SVG].for_type(Figure, lambda figure: (draw(figure), {FIGURE_INFO: [*results.READINGS]}))
    kinds = {
        "text/csv": lambda figure: csv_of(figure, COLOUR_NAMES) or None,
        READOUT: lambda figure: readout_of(figure, COLOUR_NAMES),
        WIDE_TYPE: wide_svg,
        PNG: lambda figure: print_figure(figure, "png", dpi=DOTS, base64=True),
    }
    for kind, write in kinds.items():
        new = BaseFormatter(format_type=kind, print_method="_repr_of_book_")  # no object has this method
        formatters.setdefault(kind, new).for_type(Figure, write)


def ticks(axis, places):
    """Place the ticks of an axis at given values, and label them with these values.

    The axis, such as ``axes.xaxis``, has no other ticks.
    """
    axis.set_ticks(places, map(str, places))
    axis.set_minor_locator(mpl.ticker.NullLocator())


def show(figure, name=None):
    """Show a finished figure, and close it so that it is shown only once.

    The call is the last line of a cell.

    name: name of the files name.svg and name.csv, in which a script saves the figure and its data.
    """
    from IPython.display import display

    check_kind("figure", figure, Figure)
    # The layout converges after two passes. It is then fixed, so that no format changes it.
    for _ in range(2):
        figure.draw_without_rendering()
    figure.set_layout_engine("none")
    if name:
        figure.savefig(f"{name}.svg", bbox_inches="tight", metadata={"Date": None})  # the same options as in a notebook
        if data := csv_of(figure, COLOUR_NAMES):
            Path(f"{name}.csv").write_text(data, encoding="utf-8")
    display(figure)
    plt.close(figure)


def publication(width=3.4, font="STIX"):
    """Return Matplotlib's settings for a printed figure, to be used with `rc_context`.

    width: in inches.
    font: one of `FONTS`.
    """
    size = 8 if check_positive("width", width) < 5 else 9
    printed = {"font.size": size, "axes.titlesize": size, "legend.fontsize": size - 1, "figure.dpi": 150}
    drawn = {"lines.linewidth": 1.1, "lines.markersize": 3, "figure.figsize": (width, 0.7 * min(width, 4.5))}
    files = {"pdf.fonttype": 42, "savefig.dpi": 600}  # font type and resolution that journals accept
    return STYLE | printed | drawn | files | FONTS[check_choice("font", font, tuple(FONTS))]


def panels(count, height, width=6.4, **options):
    """Return a figure with stacked panels, together with its axes.

    The figure has `count` panels, and each of them is `height` inches high.
    """
    size = check_positive("width", width), check_count("count", count) * check_positive("height", height)
    figure, axes = plt.subplots(count, 1, figsize=size, squeeze=False, **options)
    return figure, np.ravel(axes)


def list_panel(headings, labels, width=6.4):
    """Return a figure with a single empty panel that has labelled rows, grouped under bold headings.

    The axes and the positions of the rows are returned, too.
    """
    codes, names = pd.factorize(np.array(headings))
    places = np.arange(len(codes)) + 1 + codes  # each heading takes a line, too
    figure, (axes,) = panels(1, 1.2 + 0.27 * (len(places) + len(names)), width)
    beside = {"transform": axes.get_yaxis_transform(), "ha": "right", "va": "center", "weight": "bold"}
    for code, name in enumerate(names):
        axes.text(-0.02, places[codes == code][0] - 1, name, **beside)
    axes.set_yticks(places, labels)
    axes.set_ylim(places.max(initial=1) + 0.6, -0.6)
    axes.tick_params(axis="y", length=0)
    return figure, axes, places


def slice_panels(height, losses=LOSS_GAP):
    """Return an empty figure with panels for training losses, overlaps and test errors against alpha.

    losses: label of the first panel.
    """
    figure, axes = panels(3, height, sharex=True)
    for panel, label in zip(axes, (losses, "overlap", TEST_ERROR)):
        panel.set_ylabel(label)
    scientific(axes[0])
    scientific(axes[2])
    axes[2].set_xlabel(ALPHA)
    return figure, axes


def scientific(axes):
    """Label the ticks of the y axis in multiples of 10^-3, as for all losses and test errors of the book."""
    axes.ticklabel_format(axis="y", style="sci", scilimits=(-3, -3), useMathText=True)


def logarithmic(axes):
    """Make the y axis logarithmic, with plain tick labels at 1, 2 and 5 times each power of ten."""
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(mpl.ticker.LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(mpl.ticker.FormatStrFormatter("%g"))
    axes.yaxis.set_minor_formatter(mpl.ticker.NullFormatter())


def draw_line(axes, rows, name, colour, style="-", label=None, unit=1.0):
    """Draw a column of a data frame against its index, as a line with an error band.

    The errors are in the column with the suffix "_error". Values and errors are divided by `unit`. A single row is
    drawn as a dot. If there are no rows, nothing is drawn and the legend has no entry.
    """
    check_kind("axes", axes, Axes)
    check_kind("rows", rows, pd.DataFrame)
    if rows.empty:
        return
    value, error = _with_error(rows, name, unit)
    axes.plot(rows.index, value, "." if len(rows) == 1 else style, color=colour, label=label)
    axes.fill_between(rows.index, value - error, value + error, color=colour, alpha=0.3, linewidth=0)


def draw_means(axes, means, name, colour, marker="o", unit=1.0, **more):
    """Draw a column of a data frame against its index, as points with error bars.

    The errors are in the column with the suffix "_error". Values and errors are divided by `unit`.
    """
    draw_points(axes, means.index, *_with_error(means, name, unit), colour, marker, **more)


def _with_error(rows, name, unit):
    if not {name, f"{name}_error"} <= {*rows}:
        raise BadInput(f"the columns {name} and {name}_error are needed; the frame has {', '.join(rows)}")
    return rows[name] / unit, rows[f"{name}_error"] / unit


def draw_points(axes, x, y, error, colour, marker="o", displacement=0, **more):
    """Draw points with error bars, which are standard errors.

    If there are no points, the legend has no entry.

    displacement: distance in points (1/72 inch) by which marks are moved right, so that they do not cover others.
    The data of the figure remain as they are.
    """
    if len(x):
        bars = axes.errorbar(x, y, error, fmt=marker, color=colour, elinewidth=1, **more)
        for part in bars.get_children() if displacement else ():
            part.set_transform(offset_copy(axes.transData, axes.figure, x=displacement, units="points"))


def draw_cells(axes, maps, sides, largest=None):
    """Draw a heat map over omega and alpha on each of the given axes, and return the mesh of the last map.

    A map has omega as columns and alpha as rows.

    sides: colours of negative and of positive values.
    largest: size of a value that has the full colour. By default, 95 % of the values of a map are smaller, because the
    largest values are in a corner. Edges have the colour of their cells, so that no white lines appear between the
    cells.
    """
    largest = largest or max(np.nanquantile(np.abs(values), 0.95) for values in maps)
    colours = mpl.colors.LinearSegmentedColormap.from_list("sides", [sides[0], "white", sides[1]])
    look = {"cmap": colours, "shading": "nearest", "edgecolors": "face", "linewidth": 0.2}
    for panel, values in zip(axes, maps):
        cells = values.columns, values.index, values.to_numpy()
        mesh = panel.pcolormesh(*cells, vmin=-largest, vmax=largest, **look)
    return mesh


def draw_shares(axes, matrix, limits, form, label=None, **words):
    """Draw an attention matrix in shades of grey, with the value of each entry written in its cell.

    form: format of the numbers.
    words: options of `text` for the numbers.
    """
    rows, columns = map(range, np.shape(matrix))
    look = {"cmap": "Greys", "shading": "nearest", "edgecolors": "face", "linewidth": 0.2}
    look |= dict(zip(("vmin", "vmax"), limits))
    dark = np.interp(0.54, (0, 1), limits)  # above it, white text is easier to read, on average over both themes
    axes.pcolormesh(columns, rows, matrix, label=label, **look)
    words |= {"ha": "center", "va": "center", "in_layout": False}  # the layout does not count text inside the cells
    for (i, j), value in np.ndenumerate(matrix):
        axes.text(j, i, number(value, form), color="white" if value > dark else "black", **words)
    axes.set_aspect("equal")
    axes.invert_yaxis()


def draw_colour_bar(figure, mapped, axes, label, extend="both", **options):
    """Draw a common colour bar below several maps."""
    options |= {"orientation": "horizontal", "label": label, "extend": extend, "aspect": 35}
    bar = figure.colorbar(mapped, ax=axes, **options)
    # The bar is drawn as shapes, because the dark theme changes the colours of shapes, but not of images.
    bar.solids.set(rasterized=False, edgecolor="face", linewidth=0.2)
    losses = max(map(abs, mapped.get_clim())) < 0.01  # labels of losses are in thousandths, as elsewhere
    bar.formatter.set_powerlimits((-3, -3) if losses else (-2, 3))
    bar.formatter.set_useMathText(True)


def mark_threshold(axes, threshold, name, colour, left=False):
    """Mark a threshold with a vertical line and its name.

    A strip around the line is as wide as the error. A threshold that does not exist (NaN) is not marked.
    """
    check_kind("axes", axes, Axes)
    check_kind("threshold", threshold, Measured)
    alpha, error = threshold
    if not isfinite(alpha):
        return
    axes.axvline(alpha, color=colour, linewidth=1, linestyle="-.", label=f"_{name}")
    axes.axvspan(alpha - error, alpha + error, color=colour, alpha=0.3)
    write_label(axes, alpha, 1, name, colour, left, -12)


def write_label(axes, x, height, text, colour, left=False, up=0, **more):
    """Write text beside a vertical line at x.

    height: share of the panel's height.
    up: shift upwards in points.
    """
    offset, side = (-3, "right") if left else (3, "left")
    place = {"xycoords": ("data", "axes fraction"), "xytext": (offset, up), "textcoords": "offset points"}
    axes.annotate(text, (x, height), color=colour, ha=side, **place, **more)
