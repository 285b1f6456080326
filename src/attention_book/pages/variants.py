"""Other architectures: slices over alpha (Figures 10 to 13), and theory beside students of infinite d."""

import numpy as np

from attention_phases.task import Task
from attention_phases.theory import solve
from attention_phases.theory.stability import gains_of_columns, settling_distance

from ..analysis.architectures import ONE, TITLES, TWO, beside_theory, select, theory_thresholds
from ..analysis.instances import as_columns
from ..experiments.cells import ArchitectureCell
from ..experiments.variant_grids import COMPARED, MAPPED
from ..render.markup import mathtext
from ..render.style import NEUTRAL, list_panel, styled
from ..store.provenance import restore

SETTLED = (  # near alpha_c; of rank 2, which has none, before its onset, soon after, and far from it
    ("correlated", 2.7, "semantic"),
    ("correlated", 2.7, "positional"),
    ("untied", 2.3, "semantic"),
    ("untied", 2.3, "positional"),
    ("rank2", 2.0, "semantic"),
    ("rank2", 0.75, "semantic"),
    ("rank2", 0.5, "positional"),
)
NET = (2**10, 8)  # points and scrambles of a quadrature


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


def copies():
    """How far apart two copies of message passing settle in theory, at each of `SETTLED`.

    `student`, `alpha`, `branch`; `distance` over the size of the weights, with its error: NaN where it is smaller than
    all that were tried.
    """
    distances = {}
    for name, alpha, branch in SETTLED:
        solution = solve(Task(), alpha, branch, *NET, architecture=MAPPED[name])
        gains = gains_of_columns(Task(), MAPPED[name], alpha, solution.overlaps, *NET)
        distances[TITLES[name], alpha, branch] = settling_distance(*gains)
    rows = as_columns(distances, ["student", "alpha", "branch"], "distance").reset_index()
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
