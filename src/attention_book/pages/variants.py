"""Other architectures: slices over alpha (Figures 10 to 13), and theory beside students of infinite d."""

import numpy as np
import pandas as pd

from ..analysis.architectures import ONE, TITLES, TWO, beside_theory, select, theory_thresholds
from ..experiments.cells import ArchitectureCell
from ..experiments.variant_grids import COMPARED, MAPPED
from ..render.markup import mathtext
from ..render.style import NEUTRAL, list_panel, styled
from ..store.provenance import restore


def excess_length(cell):
    """``|Q*|^2/d - 1`` of a cell's teacher, the first that is drawn: 0 in the mean and at infinite d."""
    teacher = cell.rng().standard_normal(cell.d, dtype=np.float32).astype(float)
    return float(teacher @ teacher) / cell.d - 1


def compared(table, lines):
    """`beside_theory`, for every `architecture` that theory covers.

    table, lines: the experiments "variants_size" and "variants_theory".
    """
    cells = table["cell"].astype(str)
    lengths = {text: excess_length(restore(ArchitectureCell, text)) for text in cells.unique()}
    table, semantic = table.assign(length=cells.map(lengths)), lines[lines["what"] == "semantic"]
    pairs = []
    for name, architecture in COMPARED.items():
        students, theory = select(table, architecture), select(semantic, architecture)
        pairs.append((TITLES[name], students, theory, TWO if architecture.rank == 2 else ONE))
    return beside_theory(pairs).rename(columns={"case": "architecture"})


def thresholds_by_title(lines):
    """`theory_thresholds` of each architecture on the experiment "fig10_theory", by its title."""
    return {TITLES[name]: theory_thresholds(select(lines, architecture)) for name, architecture in MAPPED.items()}


def copies(table):
    """How far apart two copies of message passing settle in theory: rows of the experiment "variants_copies".

    `student`, `alpha`, `branch`; `distance` over the size of the weights, with its error: NaN where it is smaller than
    all that were tried.
    """
    titled = pd.concat([select(table, MAPPED[name]).assign(student=TITLES[name]) for name in MAPPED])
    named = {"what": "branch", "apart": "distance", "apart_error": "distance_error"}
    rows = titled.rename(columns=named)[["student", "alpha", "branch", "distance", "distance_error"]]
    return rows.assign(distance=rows["distance"].where(rows["distance"] > 0))


@styled
def draw_compared(rows):
    """How far students of infinite d are from theory, in errors: a line for each row of `compared`."""
    figure, axes, places = list_panel(rows["architecture"], rows["quantity"].map(mathtext))
    axes.axvspan(-1, 1, color="#e4e4e4", linewidth=0)
    axes.axvline(0, color="#bbbbbb", linewidth=1)
    axes.plot(rows["sigma_off"], places, "o", color=NEUTRAL)
    axes.set_xlabel("students minus theory, in standard errors")
    return figure
