"""The numbers that a figure shows, read from the figure itself.

A page offers these numbers as CSV. It also shows them when a reader points at the figure: for each point its place in
the panel, and its numbers as a page writes them.
"""

import json
import re
from html import escape
from math import isclose, isfinite

import numpy as np
import pandas as pd
from matplotlib.cbook import flatten
from matplotlib.collections import LineCollection, PathCollection, PolyCollection, QuadMesh
from matplotlib.colors import to_hex
from matplotlib.container import BarContainer, ErrorbarContainer
from matplotlib.contour import ContourSet
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter

from attention_phases.measured import Measured

NO_LABEL = re.compile(r"_(child|container)\d+$|_nolegend_$|None$")
UNITS = "# Units: pure numbers, unless an axis names another unit. low, high: ends of a standard error or range."
SERIES = ["panel", "series", "colour", "drawn as", "x", "y", "low", "high", "value"]
READOUT = "application/json;readout"  # type of the readout, which is in the same output as the picture
POINT = ["x", "y", "low", "high", "value"]


def figure_table(figure, names=None):
    """Return the content of a figure as a table, with a row for each point.

    The columns are panel (from 1), series (its label), colour (hexadecimal, or its name), drawn as (the kind of mark),
    x, y, low and high (the ends of its error bar or band), and value (the value that a colour or a level stands for).

    names: meaning of a colour, by its hexadecimal code.
    """
    frames = [pd.DataFrame(columns=SERIES)]
    for number, axes in enumerate(_panels_of(figure), 1):
        for label, colour, kind, values in _series(axes):
            colour = colour if colour is None else (names or {}).get(to_hex(colour), to_hex(colour)[1:])
            name = "" if NO_LABEL.match(label) else label.removeprefix("_")  # the prefix keeps a name out of the legend
            frames.append(pd.DataFrame({"panel": number, "series": name, "colour": colour, "drawn as": kind, **values}))
    return pd.concat(frames[1:] or frames, ignore_index=True).reindex(columns=SERIES)


def csv_of(figure, names=None):
    """Return the data of a figure as CSV, after comments that describe the axes of each panel.

    The text is empty if nothing is drawn to scale.
    """
    table = figure_table(figure, names)
    if table.empty:
        return ""
    comments = [UNITS]
    for number, axes in enumerate(_panels_of(figure), 1):
        labels = {"title": axes.get_title("left") or axes.get_title(), **_labels_of(axes)}
        for name in "xy":
            if getattr(axes, f"get_{name}scale")() == "log":
                labels[name] += " (logarithmic)"
        shown = [f"{name} = {', '.join(text.splitlines())}" for name, text in labels.items() if text]
        comments.append(f"# panel {number}: " + "; ".join(shown))
        for name, axis in (("x", axes.xaxis), ("y", axes.yaxis)):
            comments += [f"# panel {number}: near {name} = {place:g}: {word}" for place, word in _words(axis)]
    return "\n".join([*comments, table.to_csv(index=False, float_format="%.6g", lineterminator="\n")])


def _panels_of(figure):
    """Return the axes of a figure without the axes of its colour bars."""
    return [axes for axes in figure.axes if not hasattr(axes, "_colorbar")]


def _labels_of(axes):
    """Return a dictionary with the labels of a panel for x, for y and for the values that colours show.

    Panels that share an axis may share its label, and a figure may have one label for all panels.
    """
    bars = [mapped.colorbar.ax for mapped in axes.collections if mapped.colorbar]
    values = [bar.get_xlabel() or bar.get_ylabel() for bar in bars]
    return {"x": _label(axes, "x"), "y": _label(axes, "y"), "value": next(iter(values), "")}


def _label(axes, which):
    shared = getattr(axes, f"get_shared_{which}_axes")().get_siblings(axes)
    of_all = getattr(axes.figure, f"get_sup{which}label")()
    return next(filter(None, (getattr(panel, f"get_{which}label")() for panel in (axes, *shared))), of_all)


def _series(axes):
    """Yield (label, colour, kind, columns) for everything that is drawn in data coordinates."""
    parts = {*flatten(axes.containers)}
    for container in axes.containers:
        label = container.get_label()
        if isinstance(container, ErrorbarContainer) and container[0] is not None:
            yield label, container[0].get_color(), "points", _errorbars(container)
        elif isinstance(container, BarContainer):
            boxes = [bar.get_bbox() for bar in container]
            values = {"x": [(box.x0 + box.x1) / 2 for box in boxes], "y": [box.y1 for box in boxes]}
            yield label, container[0].get_facecolor(), "bar", values
    for line in axes.lines:
        if line not in parts and len(line.get_xdata()):
            kind = "points" if line.get_linestyle() == "None" else "line"
            yield line.get_label(), line.get_color(), kind, _line(axes, line)
    for collection in axes.collections:
        if collection not in parts:
            yield from _collection(collection)


def _errorbars(container):
    points, _, bars = container
    x, y = points.get_data(orig=False)
    paths = bars[-1].get_paths() if container.has_yerr else []
    segments = np.reshape([path.vertices for path in paths], (-1, 2, 2))  # shape (bars, 2 ends, xy)
    if len(segments) != len(x):
        return {"x": x, "y": y}
    return {"x": x, "y": y, "low": segments[:, :, 1].min(axis=1), "high": segments[:, :, 1].max(axis=1)}


def _line(axes, line):
    """Return the points of a line, or the single coordinate of a line across the whole panel."""
    x, y = line.get_data(orig=False)
    if line.get_transform() == axes.get_xaxis_transform(which="grid"):
        return {"x": x[:1]}
    if line.get_transform() == axes.get_yaxis_transform(which="grid"):
        return {"y": y[:1]}
    return {"x": x, "y": y}


def _collection(collection):
    label = collection.get_label()
    if isinstance(collection, ContourSet):
        for level, path in zip(collection.levels, collection.get_paths()):
            if len(path.vertices):
                x, y = path.vertices.T
                yield label, None, "contour", {"x": x, "y": y, "value": level}
    elif isinstance(collection, QuadMesh):
        corners = collection.get_coordinates()  # shape (rows + 1, columns + 1, xy)
        x, y = ((corners[1:, 1:] + corners[:-1, :-1]) / 2).reshape(-1, 2).T
        values = np.ma.filled(collection.get_array().astype(float), np.nan)
        yield label, None, "cell", {"x": x, "y": y, "value": values.ravel()}
    elif isinstance(collection, PathCollection) and len(collection.get_offsets()):
        x, y = np.ma.filled(collection.get_offsets().astype(float), np.nan).T
        values, colours = collection.get_array(), collection.get_facecolor()
        if values is None:
            yield label, colours[0] if len(colours) else None, "points", {"x": x, "y": y}
        else:
            yield label, None, "points", {"x": x, "y": y, "value": np.ma.filled(values, np.nan)}
    elif isinstance(collection, PolyCollection):
        for path in collection.get_paths():  # the outline of a band passes each x twice
            points = pd.Series(path.vertices[:, 1]).groupby(path.vertices[:, 0])
            low, high = points.min(), points.max()
            values = {"x": low.index, "low": low.to_numpy(), "high": high.to_numpy()}
            yield label, collection.get_facecolor()[0][:3], "band", values
    elif isinstance(collection, LineCollection):
        for segment in collection.get_segments():
            x, y = np.asarray(segment).T
            yield label, collection.get_color()[0], "line", {"x": x, "y": y}


def readout_of(figure, names=None):
    """Return the series of points of a figure as JSON, or None if the figure shows no data points.

    Each series has `axes`, the number of its axes in the figure; `name`, its own name or else the name of its colour or
    panel; `labels` of x, of y and of the value of a colour; and `points`. A point is a list: its place as a share of
    the panel's width and as a share of its height (None along a line across the panel), and texts of x, of y and of the
    value. Labels are HTML with formulas for MathJax. Contours, and lines across the panel without a name, are left out.

    names: as for `figure_table`.
    """
    table = _with_bands(figure_table(figure, names))
    series, panels = [], _panels_of(figure)
    value = next(filter(None, (_labels_of(axes)["value"] for axes in panels)), "")  # a bar may be beside a later panel
    for number, axes in enumerate(panels, 1):
        labels, title = _labels_of(axes), axes.get_title("left") or axes.get_title()
        value = labels["value"] = labels["value"] or value  # all panels may share one colour bar
        rows = table[table["panel"] == number]
        kinds = [rows["drawn as"] == "cell", "series", "colour"]
        place, shown = figure.axes.index(axes) + 1, [_html(label) for label in labels.values()]
        for (_, name, colour), some in rows.groupby(kinds, dropna=False, sort=False):
            name = _html(name or (colour if colour in (names or {}).values() else title))
            if points := [point for row in some[POINT].to_numpy() if (point := _point(axes, *row))]:
                series.append({"axes": place, "name": name, "labels": shown, "points": points})
    return json.dumps(series, ensure_ascii=False, separators=(",", ":")) if series else None


def _with_bands(table):
    """Return a figure's table with one row for each point or cell, and without rows for error bands.

    The points of a line have the ends of the band with the same colour around them.
    """
    key = ["panel", "colour", "x"]
    bands = table.loc[table["drawn as"] == "band", [*key, "low", "high"]]
    shown = table[~table["drawn as"].isin(["band", "contour"])].reset_index()
    # A line across the panel has a single coordinate. A series of points lacks one where there is no point.
    is_whole = shown[["x", "y"]].notna().all(axis=1)
    has_points = is_whole.groupby([shown[name] for name in SERIES[:4]], dropna=False).transform("any")
    shown = shown[is_whole | ~has_points]
    shown = shown.merge(bands, how="left", on=key, suffixes=("", "_band"))
    around = shown["low_band"].le(shown["y"]) & shown["high_band"].ge(shown["y"])
    for end in ("low", "high"):
        shown[end] = shown[end].fillna(shown[f"{end}_band"].where(around))
    told = shown["low"].notna() * 2 + (shown["series"] != "")  # keeps the most complete drawing of a point
    shown = shown.loc[told.sort_values(ascending=False, kind="stable").index].drop_duplicates([*key, "y"])
    shown = shown.drop_duplicates("index").sort_values("index")
    empty = (shown["drawn as"] == "cell") & shown["value"].isna()
    return shown[~empty & (shown[["x", "y"]].notna().all(axis=1) | (shown["series"] != ""))]


def _point(axes, x, y, low, high, value):
    """Return the position of a point and its numbers as text, or None if the point is outside the panel."""
    inside = np.where(np.isnan([x, y]), axes.viewLim.min, [x, y])
    place = (axes.transScale + axes.transLimits).transform(inside)
    if not ((place > -1e-6) & (place < 1 + 1e-6)).all():
        return None
    shares = [None if np.isnan(at) else round(float(share), 4) for at, share in zip((x, y), place)]
    strip = _strip(axes, x) if np.isnan(y) else ()
    return [*shares, _text(axes.xaxis, x, *strip), _text(axes.yaxis, y, low, high), _number(value)]


def _strip(axes, x):
    """Return the left and right edges of the shaded strip around a vertical line, or NaN if there is none."""
    boxes = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    strips = [(box.get_x(), box.get_x() + box.get_width()) for box in boxes]
    return next((ends for ends in strips if isclose(sum(ends) / 2, x, rel_tol=1e-9)), (np.nan, np.nan))


def _text(axis, value, low=np.nan, high=np.nan):
    """Format a number with its error or its range, or return the tick label in its place if this is a word.

    The text for NaN is empty.
    """
    for place, word in _words(axis):
        if abs(value - place) < 0.5:
            return _html(word)
    if not isfinite(low) or low == high:
        return _number(value)
    error = (high - low) / 2
    if isclose(low + error, value, rel_tol=1e-9, abs_tol=1e-3 * error):
        return _number(value, error)
    return f"{_number(value)} ({_number(low)} to {_number(high)})"


def _words(axis):
    """Return the places of the ticks that have a word as their label, with the words."""
    ticks, places = axis.get_major_formatter(), axis.get_majorticklocs()
    if not isinstance(ticks, FuncFormatter):  # labels that are set by hand have this formatter
        return []
    labels = zip(places, ticks.format_ticks(places))
    return [(place, word) for place, word in labels if not re.fullmatch(r"[-+−]?[\d.,]*", word)]


def _number(value, error=0.0):
    """Format a number with its error in brackets, and with a power of ten if it is below a thousandth.

    Without an error the number has four digits, but a whole number has all of its digits.
    """
    if np.isnan(value):
        return ""
    largest = max(abs(value), error)
    power = 0 if largest == 0 or largest >= 1e-3 else int(np.floor(np.log10(largest)))
    shown = value / 10.0**power
    plain = shown if shown.is_integer() else float(f"{shown:.4g}")
    text = Measured(shown, error / 10.0**power).text if error else f"{plain:.10g}".replace("-", "−")
    return f"{text}·10<sup>−{-power}</sup>" if power else text


def _html(label):
    return re.sub(r"\$([^$]*)\$", r"\\(\1\\)", escape(label))
