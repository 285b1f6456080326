"""Other architectures: slices over alpha (Figures 10 to 13), and theory beside students of infinite d."""

import numpy as np
import pandas as pd

from attention_phases.measured import UNKNOWN
from attention_phases.task import Task
from attention_phases.theory import solve
from attention_phases.theory.branches import OWN
from attention_phases.theory.stability import gains_of_columns, settling_distance

from ..analysis.architectures import ONE, TITLES, TWO, beside_theory, by_branch, select, theory_thresholds
from ..analysis.instances import GAPS, as_columns, instance_means
from ..analysis.thresholds import alpha_of, crossing
from ..experiments.cells import ArchitectureCell
from ..experiments.variant_grids import COMPARED, MAPPED
from ..render.markup import mathtext
from ..render.slices import draw_theory, finish_slice
from ..render.style import BASELINE, COLOURS, NEUTRAL, draw_means, list_panel, slice_panels, styled
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
MARKERS = {"semantic": "o", "positional": "s", "mixed": "^", "random": "x"}  # of students by start


def from_onset(lines):
    """`by_branch` of the student of rank 2, whose semantic branch leaves the positional one continuously."""
    theory = by_branch(lines)
    positional = theory["positional"].select_dtypes("number").dropna(axis=1, how="all")
    onset = alpha_of(lines, "positional limit").value
    if np.isfinite(onset):
        start = {name: np.interp(onset, positional.index, positional[name]) for name in positional}
        start |= {"theta": 0.0, "theta_error": 0.0, "gain": np.nan}
        theory["semantic"] = pd.concat([pd.DataFrame([start], [onset]), theory["semantic"]])
    return theory


def trained_thresholds(table, rng):
    """`Measured` alpha of "critical" and "linear" where means of trained students cross, NaN where they do not."""
    crossed = {kind: crossing(gap(table), rng) for kind, gap in GAPS.items()}
    return {kind: alpha if alpha.error > 0 else UNKNOWN for kind, alpha in crossed.items()}


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


@styled
def draw_rank_two(table, theory, tied, thresholds, baseline, sigma):
    """Figure 11: the rank-2 student from several kinds of start; arguments as for `draw_variant`."""
    means = instance_means(table)
    figure, axes = slice_panels(4, r"training loss $\epsilon_t$")
    losses, overlaps, errors = axes
    for panel, name, hidden in ((losses, "train_loss", ""), (errors, "test_mse", "_")):
        for branch, colour in COLOURS.items():
            draw_theory(panel, theory[branch], name, NEUTRAL, f"{hidden}theory" if branch == "semantic" else None)
            look = {"color": colour, "linewidth": 1, "label": f"{hidden}rank 1, {branch}"}
            panel.plot(tied[branch][name], "--", **look)
        for start, marker in MARKERS.items():
            look = {"fillstyle": "none", "label": f"{hidden}{start} start"}
            draw_means(panel, means.loc[start], name, COLOURS.get(start, NEUTRAL), marker, **look)
    sizes = {"semantic": r"$|\theta|/\sigma^2$, with the teacher", "positional": r"$|m|/\sigma^2$, with the positions"}
    for branch, colour in COLOURS.items():
        own, unit = OWN[branch], sigma**2
        draw_theory(overlaps, theory["semantic"], own, colour, sizes[branch], unit)
        draw_theory(overlaps, theory["positional"], own, colour, unit=unit)
        for start, marker in MARKERS.items():
            draw_means(overlaps, means.loc[start], own, colour, marker, unit, fillstyle="none")
    errors.axhline(baseline, color=BASELINE, linestyle=":", label="best linear model")
    finish_slice(axes, ("Training loss", "Overlaps, both columns together", "Test error"), thresholds)
    return figure
