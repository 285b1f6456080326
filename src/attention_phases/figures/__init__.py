"""Drawing, one function a figure; nothing is computed here."""

from . import landscape, stability
from .phases import fig02, fig07, fig08, overlap_plane, phase_map
from .style import BASELINE, COLOURS, NEUTRAL, POSITIONAL, SEMANTIC, use_svg

NOTEBOOKS = {
    "fig01": "notebooks/fig01_landscape.md",
    "fig02": "notebooks/fig02_slice.md",
    "fig03": "notebooks/fig03_phase_diagram.md",
    "fig07": "notebooks/fig07_dimension.md",
    "fig08": "notebooks/fig08_parameters.md",
    "fig09": "notebooks/fig09_alternative.md",
}

__all__ = [
    "BASELINE", "COLOURS", "NEUTRAL", "NOTEBOOKS", "POSITIONAL", "SEMANTIC",
    "fig02", "fig07", "fig08", "landscape", "overlap_plane", "phase_map", "stability", "use_svg",
]
