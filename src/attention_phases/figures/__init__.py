"""Drawing, one function a figure; nothing is computed here."""

from .architectures import architecture_slice, found_minima, fractions, rank_two
from .phases import fig02, fig07, fig08, overlap_plane, phase_map
from .style import BASELINE, COLOURS, NEUTRAL, POSITIONAL, SEMANTIC, use_svg

NOTEBOOKS = {
    "fig02": "notebooks/fig02_slice.md",
    "fig03": "notebooks/fig03_phase_diagram.md",
    "fig07": "notebooks/fig07_dimension.md",
    "fig08": "notebooks/fig08_parameters.md",
    "fig09": "notebooks/fig09_alternative.md",
    "fig10": "notebooks/fig10_correlated.md",
    "fig11": "notebooks/fig11_rank2.md",
    "fig12": "notebooks/fig12_untied.md",
    "fig13": "notebooks/fig13_value.md",
    "fig14": "notebooks/fig14_maps.md",
    "fig15": "notebooks/fig15_random.md",
}

__all__ = [
    "BASELINE", "COLOURS", "NEUTRAL", "NOTEBOOKS", "POSITIONAL", "SEMANTIC",
    "architecture_slice", "fig02", "fig07", "fig08", "found_minima", "fractions", "overlap_plane", "phase_map",
    "rank_two", "use_svg",
]
