"""Drawing, one function a figure.

What is shown is computed before. Done here are means over instances or scrambles with their errors, units, and what the
picture itself needs, such as levels of contours.
"""

from ..render.style import ATTENTION, BASELINE, COLOURS, HIGHER, LINEAR, LOWER, NEUTRAL, POSITIONAL, SEMANTIC, use_svg

__all__ = [
    "ATTENTION",
    "BASELINE",
    "COLOURS",
    "HIGHER",
    "LINEAR",
    "LOWER",
    "NEUTRAL",
    "POSITIONAL",
    "SEMANTIC",
    "use_svg",
]
