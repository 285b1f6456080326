"""The conversion of figures for phones into figures for wide screens, with panels side by side."""

import copy
import textwrap

import matplotlib.pyplot as plt
from IPython.core.pylabtools import print_figure
from matplotlib.ticker import AutoLocator

WIDE_TYPE = "image/svg+xml;layout=wide"  # type of the wide figure, which is in the same output as the figure for phones
PAGE_WIDTH = 12.1  # largest width in inches, which gives letters of 14.5 px in the book
HEIGHTS = (0.36, 0.6)  # smallest and largest ratio of height to width
LETTER = 0.11  # width in inches of a letter in a title
LABEL_WIDTH = 0.8  # width in inches of the labels beside a panel


def wide_svg(figure):
    """Return the SVG of a figure whose panels are rearranged for a wide screen, or None for a single row of panels.

    The figure is drawn in the current style.
    """
    specs = [*filter(None, (axes.get_subplotspec() for axes in figure.axes))]
    if not specs or specs[0].get_gridspec().nrows == 1:
        return None
    copied = copy.deepcopy(figure)
    _lay_out(copied)
    svg = print_figure(copied, "svg", metadata={"Date": None})
    plt.close(copied)
    return svg


def _lay_out(figure):
    """Transpose a grid of panels with more rows than columns, or put a square grid into a single row."""
    panels = [axes for axes in figure.axes if axes.get_subplotspec() is not None]
    rows, columns = panels[0].get_subplotspec().get_gridspec().get_geometry()
    shape = (1, rows * columns) if rows == columns else (columns, rows)
    size = figure.get_size_inches() / (columns, rows)  # size of a panel in inches
    width = min(size[0] * shape[1], PAGE_WIDTH)
    low, high = (share * width for share in HEIGHTS)
    figure.set_size_inches(width, min(max(size[1] * shape[0], low), high))
    figure.set_layout_engine("constrained")
    grid = figure.add_gridspec(*shape)
    for axes in panels:
        row, column = divmod(axes.get_subplotspec().num1, columns)
        place = (0, row * columns + column) if rows == columns else (column, row)
        axes.set_subplotspec(grid[place])
        _label(axes, *place, shape[0])
        title, room = axes.get_title("left"), round((width / shape[1] - LABEL_WIDTH) / LETTER)
        if len(title) > room:
            axes.set_title(title.replace(", $", ",\n$") if "$" in title else textwrap.fill(title, room), loc="left")
        if isinstance(axes.xaxis.get_major_locator(), AutoLocator):
            axes.locator_params(axis="x", nbins=6 if room > 25 else 4)
    _fit_legends(figure, panels, width, width / shape[1] - LABEL_WIDTH)


def _fit_legends(figure, panels, width, panel):
    """Redraw each legend of a figure with as many columns as fit.

    width: room above all panels, in inches.
    panel: room above one panel, in inches.
    """
    legends, drawn = list(figure.legends), {}
    figure.legends.clear()
    for axes in panels:
        drawn |= {label: handle for handle, label in zip(*axes.get_legend_handles_labels())}
    # A legend's own handles lack the markers of points with error bars, so other handles replace them.
    for legend in legends:
        texts = (text.get_text() for text in legend.get_texts())
        handles = [drawn.get(text, handle) for text, handle in zip(texts, legend.legend_handles)]
        _fit(figure, legend, handles, width, loc="outside upper center")
    for axes in panels:
        legend = axes.get_legend()
        if legend and legend.get_bbox_to_anchor().y0 >= axes.bbox.y1 and _size(legend)[0] > panel:
            handles = axes.get_legend_handles_labels()[0]
            height = _fit(axes, legend, handles, panel, loc="lower left", bbox_to_anchor=(-0.1, 1.06))
            axes.set_title(axes.get_title("left"), loc="left", pad=72 * height + 21)


def _fit(owner, legend, handles, room, **place):
    """Draw a legend again with as many columns as fit, and return its height in inches."""
    labels = [text.get_text() for text in legend.get_texts()]
    look = {"fontsize": legend.get_texts()[0].get_fontsize(), "columnspacing": 1}
    look |= {"frameon": legend.get_frame_on(), "framealpha": 1, "edgecolor": "none"}
    for columns in range(min(4, len(labels)), 0, -1):
        drawn = owner.legend(handles, labels, ncols=columns, **look, **place)
        width, height = _size(drawn)
        if width < room:
            break
        if columns > 1:
            drawn.remove()
    return height


def _size(legend):
    """Return the width and the height of a legend in inches.

    They do not depend on its place.
    """
    box = legend.get_window_extent(legend.figure.canvas.get_renderer())
    return box.width / legend.figure.dpi, box.height / legend.figure.dpi


def _label(axes, row, column, rows):
    """Set the tick labels and the x label of a moved panel that shares axes with other panels."""
    siblings = axes.get_shared_x_axes().get_siblings(axes)
    if len(siblings) > 1:
        axes.tick_params(axis="x", labelbottom=row == rows - 1)
        label = next(filter(None, (other.get_xlabel() for other in siblings)), "")
        axes.set_xlabel(label if row == rows - 1 else "")
    if len(axes.get_shared_y_axes().get_siblings(axes)) > 1:
        axes.tick_params(axis="y", labelleft=column == 0)
