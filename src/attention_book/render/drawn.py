"""What a figure draws, as numbers: read off the figure itself, so that the two cannot differ."""

import re

import numpy as np
import pandas as pd
from matplotlib.collections import LineCollection, PathCollection, PolyCollection, QuadMesh
from matplotlib.colors import to_hex
from matplotlib.container import BarContainer, ErrorbarContainer
from matplotlib.contour import ContourSet

UNNAMED = re.compile(r"_(child|container)\d+$|_nolegend_$|None$")
UNITS = "# Units: pure numbers, unless an axis names another unit. low, high: ends of a standard error or range."
SERIES = ["panel", "series", "colour", "drawn as", "x", "y", "low", "high", "value"]


def drawn(figure, names=None):
    """Data of a figure in long form, a row for each point.

    panel (from 1), series (its label), colour (hexadecimal, or its name), what it is drawn as, x, y, the ends of its
    error bar or band, and the value that a colour or a level shows.

    names: what a colour stands for, by its hexadecimal code.
    """
    frames = [pd.DataFrame(columns=SERIES)]
    for number, axes in enumerate(panels_of(figure), 1):
        for label, colour, kind, values in _series(axes):
            colour = colour if colour is None else (names or {}).get(to_hex(colour), to_hex(colour)[1:])
            name = "" if UNNAMED.match(label) else label.removeprefix("_")  # that keeps a name out of the legend
            frames.append(pd.DataFrame({"panel": number, "series": name, "colour": colour, "drawn as": kind, **values}))
    return pd.concat(frames[1:] or frames, ignore_index=True).reindex(columns=SERIES)


def as_csv(figure, names=None):
    """The same as CSV, below comments that say what the axes of each panel show; empty if nothing is drawn to scale."""
    table = drawn(figure, names)
    if table.empty:
        return ""
    comments = [UNITS]
    for number, axes in enumerate(panels_of(figure), 1):
        labels = {"title": axes.get_title("left") or axes.get_title(), **labels_of(axes)}
        for name in "xy":
            if getattr(axes, f"get_{name}scale")() == "log":
                labels[name] += " (logarithmic)"
        comments.append(f"# panel {number}: " + "; ".join(f"{name} = {text}" for name, text in labels.items() if text))
    return "\n".join([*comments, table.to_csv(index=False, float_format="%.6g", lineterminator="\n")])


def panels_of(figure):
    """Axes that show data: all but colour bars."""
    return [axes for axes in figure.axes if not hasattr(axes, "_colorbar")]


def labels_of(axes):
    """What a panel shows as `x`, as `y` (its own labels, or those of the axes it shares) and as `value`, by colour."""
    bars = [mapped.colorbar.ax for mapped in (*axes.collections, *axes.images) if mapped.colorbar]
    values = [bar.get_xlabel() or bar.get_ylabel() for bar in bars]
    return {"x": _label(axes, "x"), "y": _label(axes, "y"), "value": next(iter(values), "")}


def _label(axes, which):
    shared = getattr(axes, f"get_shared_{which}_axes")().get_siblings(axes)
    return next(filter(None, (getattr(panel, f"get_{which}label")() for panel in (axes, *shared))), "")


def _series(axes):
    """(label, colour, kind, columns) of everything that is drawn to the scale of the axes."""
    parts = {part for container in axes.containers for part in _leaves(container)}
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
    for image in axes.images:
        values = np.ma.filled(image.get_array().astype(float), np.nan)
        y, x = np.indices(values.shape)
        yield image.get_label(), None, "cell", {"x": x.ravel(), "y": y.ravel(), "value": values.ravel()}


def _leaves(container):
    for part in container:
        yield from _leaves(part) if isinstance(part, (tuple, list)) else [part]


def _errorbars(container):
    points, _, bars = container
    x, y = points.get_data(orig=False)
    segments = np.reshape(bars[-1].get_segments() if container.has_yerr else [], (-1, 2, 2))  # (n, end, xy)
    if len(segments) != len(x):
        return {"x": x, "y": y}
    return {"x": x, "y": y, "low": segments[:, :, 1].min(axis=1), "high": segments[:, :, 1].max(axis=1)}


def _line(axes, line):
    """Its points; of a line across the panel the one number that it stands for."""
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
        corners = collection.get_coordinates()  # (rows + 1, columns + 1, xy)
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
        for path in collection.get_paths():  # of a band: there and back
            points = pd.Series(path.vertices[:, 1]).groupby(path.vertices[:, 0])
            low, high = points.min(), points.max()
            values = {"x": low.index, "low": low.to_numpy(), "high": high.to_numpy()}
            yield label, collection.get_facecolor()[0][:3], "band", values
    elif isinstance(collection, LineCollection):
        for segment in collection.get_segments():
            x, y = np.asarray(segment).T
            yield label, collection.get_color()[0], "line", {"x": x, "y": y}
