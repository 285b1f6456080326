"""Drawing, one function a figure.

What is shown is computed before. Done here are means over instances or scrambles with their errors, units, and what the
picture itself needs, such as levels of contours.
"""

from ..render.forest import forest
from ..render.style import ATTENTION, BASELINE, COLOURS, HIGHER, LINEAR, LOWER, NEUTRAL, POSITIONAL, SEMANTIC, use_svg
from . import landscape, stability
from .architectures import architecture_slice, rank_two
from .counting import attention_matrices, counting_curves, errors_by_count, loss_on_line, worst_letters
from .maps import overlap_plane, phase_map
from .panel import attention_panel
from .phases import fig02, fig07, fig08
from .random_starts import found_minima, fractions

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
    "architecture_slice",
    "attention_matrices",
    "attention_panel",
    "counting_curves",
    "errors_by_count",
    "fig02",
    "fig07",
    "fig08",
    "forest",
    "found_minima",
    "fractions",
    "landscape",
    "loss_on_line",
    "overlap_plane",
    "phase_map",
    "rank_two",
    "stability",
    "use_svg",
    "worst_letters",
]
