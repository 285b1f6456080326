"""What a reader sees of a figure, in words and numbers: the text that stands for it, which references compare.

The data of the figure, `render.figure_data`, hold what is shown to scale. This text describes how everything in the
picture looks, and where it is. This module is an extension of IPython. The kernels that compare and write references
load it, so that the plain text of a figure is this text.
"""

from itertools import groupby
from math import ceil, log10

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.collections import Collection, LineCollection, PathCollection, PolyCollection, QuadMesh
from matplotlib.colors import to_hex, to_rgba
from matplotlib.contour import ContourSet
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.path import Path
from matplotlib.spines import Spine
from matplotlib.text import Text

from attention_book.render.figure_data import NO_LABEL
from attention_book.render.style import COLOUR_NAMES

AT_MOST = 9  # most items of a group of similar things; of more items every second, every third and so on is listed
DIGITS = 5  # digits of numbers, relative to the width of their axis
KINDS = {PolyCollection: "band", LineCollection: "bars", PathCollection: "marks", QuadMesh: "cells", Rectangle: "box"}
NAMES = {"#ffffff": "white", "#000000": "black"} | COLOUR_NAMES  # names of colours
SHADES = (0.0, 0.25, 0.5, 0.75, 1.0)  # places on a colour scale


def load_ipython_extension(shell):
    """Replace the figures of a notebook by descriptions, in every cell, because naming formats undoes this."""
    formatter = shell.display_formatter.formatters["text/plain"]

    def register(_):
        formatter.for_type(Figure, lambda figure, text, cycle: text.text(text_of(figure)))

    shell.events.register("pre_run_cell", register)


def text_of(figure):
    """All that is in a drawn figure, in lines: of each panel its axes, then its parts from the back to the front.

    A line says of parts how they look, then where each is: series their range in x and y, words and legends their lower
    left corner in shares of the panel. Of a map it gives the colours of some values.
    """
    lines = []
    for number, axes in enumerate(filter(Axes.get_visible, figure.findobj(Axes)), 1):
        bar = hasattr(axes, "_colorbar")  # the colours are described with the map
        told = [_axis(axis) for axis in (axes.xaxis, axes.yaxis)]
        lines += [f"{'colour bar' if bar else 'panel'} {number}", *told, *([] if bar else _parts(axes))]
    return "\n".join([*lines, *_parts(figure)])


def _parts(owner):
    """Return lines on the parts of a panel, or of a figure outside its panels; equal neighbours share a line."""
    parts = [part for part in owner.get_children() if part.get_visible() and part is not owner.patch]
    told = [_told(part, owner) for part in sorted(parts, key=lambda part: part.get_zorder())]
    for look, places in groupby(filter(None, told), key=lambda one: one[0]):
        some = [place for _, place in places]
        count = f"{len(some)} times " if len(some) > 1 else ""
        yield f"{count}{look}: {'; '.join(some[:: 1 + (len(some) - 1) // AT_MOST])}"


def _told(part, owner):
    """Return the look and the place of a part, or None if it is described elsewhere or has no content."""
    if isinstance(part, Legend):
        return f"legend at {_corner(part, owner)}", ", ".join(_entries(part))
    if isinstance(part, Text):
        return part.get_text() and (_look(part), f"{_quoted(part)} {_corner(part, owner)}")
    if isinstance(part, (Axes, Axis, Spine)):
        return None
    if not isinstance(part, (Collection, Line2D, Patch)):
        return type(part).__name__, "somewhere"
    label = part.get_label()
    name = f'"{label.removeprefix("_")}" ' if label and not NO_LABEL.match(label) else ""
    look = _look(part)
    return look and (look, name + _extent(part, owner))


def _look(part):
    """Return the kind of a part, with its colours."""
    if isinstance(part, Text):
        weight = f"{part.get_fontweight()} " * (part.get_fontweight() != "normal")
        return f"{weight}words {_colour(part.get_color())}"
    if isinstance(part, Line2D):
        line, marker, words = part.get_linestyle(), part.get_marker(), []
        if line != "None":
            words.append(f"line {line} {part.get_linewidth():.1f}")
        if marker not in ("None", "none", "", None):
            words.append(f"points {marker} {part.get_markersize():.1f}")
            if part.get_markerfacecolor() != part.get_color():
                words.append(f"in {_colour(part.get_markerfacecolor())}")
        return " ".join([*words, _colour(part.get_color(), part.get_alpha())]) if words else ""
    kind = next((name for kind, name in KINDS.items() if isinstance(part, kind)), type(part).__name__)
    if isinstance(part, PathCollection):
        kind = f"{kind} of {len(part.get_paths()[0])} corners and size {part.get_sizes().mean():.1f}"
    if isinstance(part, Collection) and part.get_array() is not None:
        return f"{kind} of {_scale(part)}{_hatched(part)}"
    if isinstance(part, (Collection, Patch)):
        sides = [_colours(getattr(part, f"get_{side}color")()) for side in ("face", "edge")]
        return f"{kind} {' in '.join(dict.fromkeys(filter(None, sides)))}{_hatched(part)}"
    return kind


def _hatched(part):
    hatches = part.hatches if isinstance(part, ContourSet) else [getattr(part, "get_hatch", str)()]
    return f" hatched {', '.join(map(str, hatches))}" if any(hatches) else ""


def _scale(mapped):
    """Return the colours of values on a colour scale, and of missing values."""
    values = [float(mapped.norm.inverse(share)) for share in SHADES]
    step = values[-1] - values[0]
    shades = [f"{_number(value, step)} {_colour(mapped.to_rgba(value))}" for value in values]
    low, high, none = (_colour(mapped.to_rgba(value)) for value in (values[0] - step, values[-1] + step, np.nan))
    return f"{', '.join(shades)}, below {low}, above {high}, without a value {none or 'clear'}"


def _colours(colours):
    """Return the colours of a part, with equal neighbours listed once."""
    runs = [name for name, _ in groupby(_colour(colour) for colour in np.atleast_2d(colours))]
    return ", ".join(filter(None, runs[:AT_MOST]))


def _colour(colour, alpha=None) -> str:
    """Return the name or code of a colour and its opacity if it is not opaque; empty if there is none."""
    *_, opaque = to_rgba(colour, alpha)
    code = to_hex(colour)
    name = NAMES.get(code, code)
    return name if opaque == 1 else f"{name} {opaque:.2f}" if opaque else ""


def _entries(legend):
    """Return the words of each entry of a legend, with the looks of the handles."""
    looks = []
    for part in legend.findobj(lambda part: isinstance(part, (Line2D, Patch, Collection, Text)) and part.get_visible()):
        if isinstance(part, Text) and part.get_text():
            yield f"{_quoted(part)} {' and '.join(filter(None, looks))}".strip()
            looks = []
        elif part is not legend.legendPatch and not isinstance(part, Text):
            looks.append(_look(part))


def _axis(axis):
    """Return the limits of an axis, the words at its ticks, and its label."""
    low, high = axis.get_view_interval()
    kind = axis.get_scale()
    ends = [f"{end:.3e}" if kind == "log" else _number(end, high - low) for end in (low, high)]
    told = [f"{axis.axis_name} {kind if kind != 'linear' else ''} {' to '.join(ends)}".replace("  ", " ")]
    if axis.axes.axison and axis.get_visible():
        shown = [tick for tick in axis.get_major_ticks() if min(low, high) <= tick.get_loc() <= max(low, high)]
        words = [text for tick in shown for text in (tick.label1, tick.label2) if text.get_visible()]
        told += [" ".join(text.get_text() for text in words), axis.get_offset_text().get_text() if words else ""]
        label = axis.get_label()
        told += [label.get_text() and f"{_look(label)} {_quoted(label)}"]
    return "; ".join(filter(None, told)).replace(r"\mathdefault", "")


def _quoted(text):
    return f'"{" / ".join(text.get_text().splitlines())}"'


def _corner(part, owner):
    """Return the lower left corner of a part in shares of the panel or of the figure."""
    shares = (part.get_window_extent().min - owner.bbox.min) / owner.bbox.size
    return " ".join(f"{share + 0.0:.2f}" for share in shares)


def _extent(part, owner):
    """Return the ranges of a series in x and y in units of the axes, and its number of points."""
    points = _points(part)
    if isinstance(owner, Axes):
        points = owner.transData.inverted().transform(points)
    points = points[np.isfinite(points).all(axis=1)]
    if not len(points):
        return "nowhere"
    view = (owner.viewLim if isinstance(owner, Axes) else owner.bbox).get_points()
    ranges = [_range(*ends) for ends in zip(points.min(axis=0), points.max(axis=0), *view)]
    return f"{', '.join(ranges)}{'' if isinstance(part, ContourSet) else f' ({len(points)})'}"


def _range(low, high, start, end):
    """Return the part of an axis from `start` to `end` as text."""
    low, high, *ends = (_number(value, end - start) for value in (low, high, start, end))
    return "across" if {low, high} == {*ends} else low if low == high else f"{low} to {high}"


def _points(part):
    """Return the places of the points or corners of a part (n, xy) on the canvas."""
    if isinstance(part, QuadMesh):
        return part.get_transform().transform(part.get_coordinates().reshape(-1, 2))
    if isinstance(part, PathCollection):
        return np.ma.filled(part.get_offset_transform().transform(part.get_offsets()), np.nan)
    paths = part.get_paths() if isinstance(part, Collection) else [part.get_path()]
    segments = [segment for path in paths for segment in path.iter_segments(simplify=False)]
    corners = [xy for corner, code in segments if code != Path.CLOSEPOLY for xy in corner]
    return part.get_transform().transform(np.reshape(corners, (-1, 2)))


def _number(value, span):
    """Return a number on an axis or scale of this width as text, to a ten thousandth of the width or better."""
    decimals = max(1, DIGITS - ceil(log10(abs(span)))) if span else DIGITS
    return f"{round(float(value), decimals) + 0.0:.{decimals}f}"
