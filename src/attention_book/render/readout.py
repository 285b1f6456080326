"""What a figure tells who points at it: of every point its place in a panel, and its numbers as a page writes them."""

import json
import re
from html import escape
from math import isclose, isfinite

import numpy as np
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter

from attention_phases.measured import Measured

from .drawn import drawn, labels_of, panels_of

MIME = "application/json;readout"  # beside the picture that a notebook shows
POINT = ["x", "y", "low", "high", "value"]


def as_json(figure, names=None):
    """Series of points as JSON, None if nothing is drawn to scale.

    Of each series `axes`, the number of its axes in the figure; `name`; `labels` of x, y and the value of a colour; and
    `points`: [share of the panel's width, of its height (None of a line across), texts of x, y and the value].
    Labels are HTML with formulas for MathJax. Contours, and lines across that have no name, are left out.

    names: as of `drawn`.
    """
    table = _with_bands(drawn(figure, names))
    series, value = [], ""
    for number, axes in enumerate(panels_of(figure), 1):
        labels = labels_of(axes)
        value = labels["value"] = labels["value"] or value  # one bar may be that of all panels
        rows = table[table["panel"] == number]
        kinds = [rows["drawn as"] == "cell", "series", "colour"]
        for (_, name, colour), some in rows.groupby(kinds, dropna=False, sort=False):
            series.append(
                {
                    "axes": figure.axes.index(axes) + 1,
                    "name": _html(name or (colour if colour in (names or {}).values() else "")),
                    "labels": [_html(label) for label in labels.values()],
                    "points": [point for row in some[POINT].to_numpy() if (point := _point(axes, *row, name))],
                }
            )
    series = [some for some in series if some["points"]]
    return json.dumps(series, ensure_ascii=False, separators=(",", ":")) if series else None


def _with_bands(table):
    """Rows of points and cells, each place once; those of a line have the ends of the band of its colour around it."""
    key = ["panel", "colour", "x"]
    bands = table.loc[table["drawn as"] == "band", [*key, "low", "high"]]
    shown = table[~table["drawn as"].isin(["band", "contour"])].reset_index()
    shown = shown.merge(bands, how="left", on=key, suffixes=("", "_band"))
    around = shown["low_band"].le(shown["y"]) & shown["high_band"].ge(shown["y"])
    for end in ("low", "high"):
        shown[end] = shown[end].fillna(shown[f"{end}_band"].where(around))
    told = shown["low"].notna() * 2 + (shown["series"] != "")  # a point may be drawn several times, with less
    shown = shown.loc[told.sort_values(ascending=False, kind="stable").index].drop_duplicates([*key, "y"])
    shown = shown.drop_duplicates("index").sort_values("index")
    empty = (shown["drawn as"] == "cell") & shown["value"].isna()
    return shown[~empty & (shown[["x", "y"]].notna().all(axis=1) | (shown["series"] != ""))]


def _point(axes, x, y, low, high, value, name):
    """Place and texts of a point; None outside of the panel."""
    inside = np.where(np.isnan([x, y]), axes.viewLim.min, [x, y])
    place = (axes.transScale + axes.transLimits).transform(inside)
    if not ((place > -1e-6) & (place < 1 + 1e-6)).all():
        return None
    shares = [None if np.isnan(at) else round(float(share), 4) for at, share in zip((x, y), place)]
    strip = _strip(axes, x) if np.isnan(y) else ()
    return [*shares, _text(axes.xaxis, x, *strip), _text(axes.yaxis, y, low, high), _number(value)]


def _strip(axes, x):
    """Ends of the strip around a vertical line; NaN where it has none."""
    boxes = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    strips = [(box.get_x(), box.get_x() + box.get_width()) for box in boxes]
    return next((ends for ends in strips if isclose(sum(ends) / 2, x, rel_tol=1e-9)), (np.nan, np.nan))


def _text(axis, value, low=np.nan, high=np.nan):
    """A number with its error or its range, or the word at its place on the axis; empty if it is NaN."""
    ticks, places = axis.get_major_formatter(), axis.get_majorticklocs()
    if isinstance(ticks, FuncFormatter):  # what labels given by hand become
        for place, word in zip(places, ticks.format_ticks(places)):
            if abs(value - place) < 0.5 and not re.match(r"[-+−]?\d", word):
                return _html(word)
    if not isfinite(low) or low == high:
        return _number(value)
    error = (high - low) / 2
    if isclose(low + error, value, rel_tol=1e-9, abs_tol=1e-3 * error):
        return _number(value, error)
    return f"{_number(value)} ({_number(low)} to {_number(high)})"


def _number(value, error=0.0):
    """A number, below a thousandth as a multiple of a power of ten; with its error in brackets if that is not 0."""
    if np.isnan(value):
        return ""
    largest = max(abs(value), error)
    power = 0 if largest == 0 or largest >= 1e-3 else int(np.floor(np.log10(largest)))
    shown = value / 10.0**power
    text = Measured(shown, error / 10.0**power).text if error else f"{shown:.6g}".replace("-", "−")
    return f"{text}·10<sup>−{-power}</sup>" if power else text


def _html(label):
    return re.sub(r"\$([^$]*)\$", r"\\(\1\\)", escape(label))
