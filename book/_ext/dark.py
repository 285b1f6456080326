"""The conversion of a figure on white paper to one on dark paper: white becomes paper, and black becomes ink."""

import re
from functools import cache
from xml.etree import ElementTree

import numpy as np

from attention_book.render.style import VALUES

PAPER, INK = "#121212", "#e6e6e6"  # what white and black become; the first is the background of the dark theme
SVG, LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
CONTOURS = "QuadContourSet"
MAPS = ("QuadMesh", CONTOURS, VALUES)  # a map is an axes with one of these parts, whose colours show values
SUMMIT = 0.5  # lightness of the highest place of a terrain on dark paper, from paper (0) to ink (1)
# The first matrix leads from linear sRGB to the cubes of the responses of cones. The second leads from the cube roots
# to lightness and two opponent colours. Together they are Björn Ottosson's OKLab.
CONES = np.array(
    [[0.41222147, 0.53633254, 0.05144599], [0.2119035, 0.68069955, 0.10739696], [0.08830246, 0.28171884, 0.6299787]]
)
OPPONENTS = np.array(
    [[0.21045426, 0.79361779, -0.00407205], [1.9779985, -2.4285922, 0.45059371], [0.02590404, 0.78277177, -0.80867577]]
)


def linear_rgb(colour):
    """Return linear sRGB, an array (3,) with values from 0 to 1, of a colour "#rrggbb"."""
    values = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def oklab(colour):
    """Return lightness (0 to 1), green to red, and blue to yellow, an array (3,), of a colour "#rrggbb"."""
    return OPPONENTS @ np.cbrt(CONES @ linear_rgb(colour))


def bold_tone(lightness):
    """Return the lightness on dark paper, from paper (0) to ink (1), of a coloured line or word.

    The exponent makes the colours of both mechanisms about as light as the explorer's.
    """
    return max(0, 1 - lightness) ** (1 / 3)


def faint_tone(lightness):
    """Return the lightness on dark paper of a grey or of a cell of a map, such that faint greys remain faint."""
    return max(0, 1 - lightness) ** 0.6


def deep_tone(lightness):
    """Return the lightness on dark paper of a terrain, whose low places are dark on both papers."""
    return SUMMIT * lightness


@cache
def dark_colour(colour, tone=None):
    """Return the colour on dark paper for a colour on white paper.

    The hue is the same. The `tone` determines the lightness. The default tone is `faint_tone` for greys and `bold_tone`
    for colours. White "#ffffff" becomes `PAPER`, and black becomes `INK`, except in a terrain.
    """
    lightness, *opponents = oklab(colour)
    tone = tone or (faint_tone if np.hypot(*opponents) < 0.03 else bold_tone)
    paper, ink = oklab(PAPER)[0], oklab(INK)[0]
    lightness = paper + (ink - paper) * tone(lightness)
    for share in np.linspace(1, 0, 101):  # reduces the saturation until a screen can show the colour
        seen = np.linalg.solve(OPPONENTS, [lightness, *(share * np.array(opponents))]) ** 3
        shown = np.linalg.solve(CONES, seen)
        if (shown > -1e-4).all() and (shown < 1 + 1e-4).all():
            break
    shown = np.clip(shown, 0, 1)
    values = np.where(shown <= 0.0031308, 12.92 * shown, 1.055 * shown ** (1 / 2.4) - 0.055)
    return "#" + "".join(f"{round(255 * value):02x}" for value in values)


def darken(svg):
    """Return a figure on dark paper as SVG, from the SVG that matplotlib wrote on white or on no paper.

    All colours are changed by `dark_colour`. In a map the cells, and the tips of its colour bar, have `faint_tone`, so
    that a cell without a value has the colour of the paper. In a figure with contours they have `deep_tone`.
    """
    tree = ElementTree.fromstring(svg)
    groups = list(tree.iterfind(f".//{SVG}g"))
    tone = deep_tone if any(_begins(group, CONTOURS) for group in groups) else faint_tone
    tree.set("fill", INK)  # matplotlib leaves out black as a fill, because it is the default
    cells, filled = set(), set()
    for axes in groups:
        parts = [part for part in axes.iter() if _begins(part, MAPS)] if _begins(axes, "axes_") else []
        for part in parts:
            part.set("fill", dark_colour("#000000", tone))
            cells |= {*part.iter()}
        filled |= {element for part in axes[1:] if parts and _begins(part, "patch") for element in part.iter()}
    for element in tree.iter():
        for name, code in re.findall(r"([\w-]+): (#[0-9a-f]{6})\b", element.get("style", "")):
            cell = element in cells or (element in filled and name == "fill")
            changed = f"{name}: {dark_colour(code, tone if cell else None)}"
            element.set("style", element.get("style").replace(f"{name}: {code}", changed))
    ElementTree.register_namespace("", SVG.strip("{}"))
    ElementTree.register_namespace("xlink", LINK[1:].partition("}")[0])
    return ElementTree.tostring(tree, encoding="unicode")


def _begins(group, names):
    return group.get("id", "").startswith(names)


def corners(axes):
    """Return the least and largest x and y, two arrays (2,), of the background of an axes, its first group."""
    numbers = np.array(re.findall(r"(-?[\d.]+) (-?[\d.]+)", axes[0][0].get("d")), float)  # shape (n, xy)
    return numbers.min(axis=0), numbers.max(axis=0)
