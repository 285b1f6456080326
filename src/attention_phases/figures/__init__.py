"""Drawing, one function a figure; nothing is computed here."""

from . import landscape, stability
from .architectures import architecture_slice, found_minima, fractions, rank_two
from .counting import attention_matrices, counting_curves, errors_by_count, loss_on_line
from .forest import forest
from .panel import attention_panel
from .phases import fig02, fig07, fig08, overlap_plane, phase_map
from .style import BASELINE, COLOURS, NEUTRAL, POSITIONAL, SEMANTIC, use_svg

NOTEBOOKS = {
    "fig01": "notebooks/fig01_landscape.md",
    "fig02": "notebooks/fig02_slice.md",
    "fig03": "notebooks/fig03_phase_diagram.md",
    "fig04": "notebooks/fig04_histogram.md",
    "fig05": "notebooks/fig05_positional_sgd.md",
    "fig06": "notebooks/fig06_semantic_sgd.md",
    "table1": "notebooks/table1_histogram.md",
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
    "BASELINE",
    "COLOURS",
    "NEUTRAL",
    "NOTEBOOKS",
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
]
