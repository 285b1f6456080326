"""The conversion of a figure on white paper to one on dark paper, in which only maps keep their colours."""

import copy
import re
from functools import cache
from xml.etree import ElementTree

import numpy as np

from attention_book.render.style import VALUES

PAPER, INK = "#121212", "#e6e6e6"  # what white and black become; the first is the background of the dark theme
SVG, LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
MAPS = ("QuadMesh", "QuadContourSet", VALUES)  # marks of a map: an axes with one of these, or with an image, is a map
# The first matrix leads from linear sRGB to the cubes of the responses of cones. The second leads from the cube roots
# to lightness and two opponent colours. Together they are Björn Ottosson's OKLab.
CONES = np.array(
    [[0.41222147, 0.53633254, 0.05144599], [0.2119035, 0.68069955, 0.10739696], [0.08830246, 0.28171884, 0.6299787]]
)
OPPONENTS = np.array(
    [[0.21045426, 0.79361779, -0.00407205], [1.9779985, -2.4285922, 0.45059371], [0.02590404, 0.78277177, -0.80867577]]
)


def linear(colour):
    """Return linear sRGB, an array (3,) with values from 0 to 1, of a colour "#rrggbb"."""
    values = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def oklab(colour):
    """Return lightness (0 to 1), green to red, and blue to yellow, an array (3,), of a colour "#rrggbb"."""
    return OPPONENTS @ np.cbrt(CONES @ linear(colour))


@cache
def on_dark(colour):
    """Return the colour on dark paper for a colour on white paper.

    The hue is the same. A lightness at the share t of the way from paper to ink moves to a larger share. It is t^(1/3)
    for colours, so that the colours of both mechanisms are about as light as in the explorer. It is t^0.6 for greys, so
    that faint greys remain faint. White "#ffffff" becomes `PAPER`, and black becomes `INK`.
    """
    lightness, *opponents = oklab(colour)
    grey = np.hypot(*opponents) < 0.03
    paper, ink = oklab(PAPER)[0], oklab(INK)[0]
    lightness = paper + (ink - paper) * max(0, 1 - lightness) ** (0.6 if grey else 1 / 3)
    for share in np.linspace(1, 0, 101):  # reduces the saturation until a screen can show the colour
        seen = np.linalg.solve(OPPONENTS, [lightness, *(share * np.array(opponents))]) ** 3
        shown = np.linalg.solve(CONES, seen)
        if (shown > -1e-4).all() and (shown < 1 + 1e-4).all():
            break
    shown = np.clip(shown, 0, 1)
    values = np.where(shown <= 0.0031308, 12.92 * shown, 1.055 * shown ** (1 / 2.4) - 0.055)
    return "#" + "".join(f"{round(255 * value):02x}" for value in values)


def dark(svg):
    """Return a figure on dark paper as SVG, from the SVG that matplotlib wrote on white or on no paper.

    All colours are changed by `on_dark`, except in maps and colour bars. The content of their axes keeps its colours
    and its white ground, so that cells keep their meaning and the lines over them remain legible. A framed legend
    belongs to a map and is not changed either, because it has the colours of the lines on the map.
    """
    tree = ElementTree.fromstring(svg)
    defined = list(tree.iterfind(f".//{SVG}defs/{SVG}path"))
    shapes = {shape.get("id"): copy.deepcopy(shape) for shape in defined}
    kept = [part for axes in tree.iterfind(f".//{SVG}g") if _is_map(axes) for part in _inside(axes)]
    framed = (key for key in tree.iterfind(f".//{SVG}g") if _is_framed(key))
    kept += [key for key in framed if kept and key not in kept]
    untouched = {element for part in kept for element in part.iter()} - {*defined}
    for element in tree.iter():
        if element not in untouched and "style" in element.attrib:
            style = re.sub(r"(?<=: )#[0-9a-f]{6}\b", lambda code: on_dark(code[0]), element.attrib["style"])
            element.set("style", style)
    tree.set("fill", INK)  # matplotlib leaves out black as a fill, because it is the default
    for part in kept:
        part.set("fill", "#000000")
        _own_shapes(part, shapes)
    ElementTree.register_namespace("", SVG.strip("{}"))
    ElementTree.register_namespace("xlink", LINK[1:].partition("}")[0])
    return ElementTree.tostring(tree, encoding="unicode")


def _is_map(group):
    return group.get("id", "").startswith("axes_") and any(
        part.tag == f"{SVG}image" or part.get("id", "").startswith(MAPS) for part in group.iter()
    )


def _is_framed(group):
    return group.get("id", "").startswith("legend") and group[0].get("id", "").startswith("patch")


def corners(axes):
    """Return the least and the largest x and y, two arrays (2,), of the background of an axes, its first group."""
    numbers = np.array(re.findall(r"(-?[\d.]+) (-?[\d.]+)", axes[0][0].get("d")), float)  # shape (n, xy)
    return numbers.min(axis=0), numbers.max(axis=0)


def _inside(axes):
    """Yield the groups of an axes on its background, without ticks, spines, titles, and legends beside it."""
    low, high = corners(axes)
    for part in axes:
        name = part.get("id", "")
        if name.startswith(("text", "legend")):
            moves = [re.match(r"translate\((\S+) (\S+)\)", element.get("transform", "")) for element in part.iter()]
            place = next((np.array(move.groups(), float) for move in moves if move), None)  # None for an arrow
            inside = place is None or ((low <= place) & (place <= high)).all()
        elif name.startswith("patch"):  # spines and the outline of a colour bar are lines that are not clipped
            line = part.find(f"{SVG}path")
            inside = "fill: none" not in line.get("style", "") or line.get("clip-path") is not None
        else:
            inside = not name.startswith("matplotlib.axis")
        if inside:
            yield part


def _own_shapes(part, shapes):
    """Give a group its own copies of marks, which matplotlib defines once for the whole figure."""
    names = {}
    for use in part.iter(f"{SVG}use"):
        name = use.get(LINK)[1:]
        if "style" in shapes[name].attrib:
            names[name] = f"{name}-{part.get('id')}"
            use.set(LINK, f"#{names[name]}")
    for name, own in names.items():
        shape = copy.deepcopy(shapes[name])
        shape.set("id", own)
        ElementTree.SubElement(part, f"{SVG}defs").append(shape)
