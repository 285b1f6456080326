"""Other architectures: slices over alpha (Figures 10 to 13), and theory beside students of infinite d."""

import numpy as np
import pandas as pd

from attention_phases.measured import UNKNOWN
from attention_phases.task import Task
from attention_phases.theory import solve
from attention_phases.theory.branches import MINIMA, OWN
from attention_phases.theory.stability import gains_of_columns, settling_distance

from ..analysis.instances import GAPS, as_columns, instance_means, intercept, off, training_gap
from ..analysis.thresholds import crossing, mark, side_by_side
from ..experiments.cells import ArchitectureCell
from ..experiments.variant_grids import COMPARED, MAPPED
from ..render.markup import mathtext
from ..render.style import (
    BASELINE,
    COLOURS,
    NEUTRAL,
    OVERLAP_LABELS,
    draw_line,
    draw_means,
    draw_points,
    list_panel,
    mark_threshold,
    slice_panels,
    styled,
)
from ..store.provenance import restore
from .landscape import theory_lines

TITLES = {
    "correlated": "correlated tokens",
    "untied": "untied queries and keys",
    "rank2": "rank 2",
    "three tokens": "three tokens",
    "four tokens": "four tokens",
}
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
TIED = "#999999"
ONE = ("q", "m", "theta", "train_loss", "test_mse")
TWO = ("q_11", "q_12", "q_22", "m_2", "theta_1", "theta_2", "train_loss", "test_mse")
MARKERS = {"semantic": "o", "positional": "s", "mixed": "^", "random": "x"}  # of students by start


def select(table, architecture):
    """The rows of one architecture."""
    own = [table[name] == value for name, value in vars(architecture).items()]
    return table[np.logical_and.reduce(own)].dropna(axis=1, how="all")


def standard(profile):
    """Theory of the standard student over alpha: `by_branch`, and `theory_thresholds`."""
    lines = theory_lines(profile, [Task().omega])
    return by_branch(lines), theory_thresholds(lines)


def by_branch(lines):
    """The rows of both branches and of the gap of their losses over alpha, by name; none where there are none."""
    return {what: lines[lines["what"] == what].set_index("alpha") for what in (*MINIMA, "gap")}


def from_onset(lines):
    """`by_branch` of the student of rank 2, whose semantic branch leaves the positional one continuously."""
    theory = by_branch(lines)
    positional = theory["positional"].select_dtypes("number").dropna(axis=1, how="all")
    onset = mark(lines, "positional limit").value
    if np.isfinite(onset):
        start = {name: np.interp(onset, positional.index, positional[name]) for name in positional}
        start |= {"theta": 0.0, "theta_error": 0.0, "gain": np.nan}
        theory["semantic"] = pd.concat([pd.DataFrame([start], [onset]), theory["semantic"]])
    return theory


def theory_thresholds(lines):
    """`Measured` alpha of "critical" and "linear" in theory at one omega, NaN where there is none."""
    return {kind: mark(lines, kind) for kind in GAPS}


def trained_thresholds(table, rng):
    """`Measured` alpha of "critical" and "linear" where means of trained students cross, NaN where they do not."""
    crossed = {kind: crossing(gap(table), rng) for kind, gap in GAPS.items()}
    return {kind: alpha if alpha.error > 0 else UNKNOWN for kind, alpha in crossed.items()}


def moves(students):
    """By how much an architecture moves both thresholds.

    `student`; `critical` and `linear` with errors; `critical_moves` and `linear_moves`, NaN for the first student, with
    whom the others are compared.

    students: `theory_thresholds` or `trained_thresholds` by the student's name.
    """
    parts = []
    for kind in GAPS:
        alphas = as_columns({name: thresholds[kind] for name, thresholds in students.items()}, "student", kind)
        moved = alphas[kind].iloc[1:] - alphas[kind].iloc[0]
        parts.append(alphas.assign(**{f"{kind}_moves": moved}))
    return pd.concat(parts, axis=1).reset_index()


def beside_students(usual, thresholds, table, rng):
    """Thresholds of theory beside those of the standard student and those of trained students.

    `threshold`; `usual`, `theory` and `trained` with errors; `sigma_off`, trained minus theory over both errors.

    usual, thresholds: `theory_thresholds` of the standard student and of this one, which `table` has trained.
    """
    columns = {
        "usual": as_columns(usual, "threshold"),
        "theory": as_columns(thresholds, "threshold"),
        "trained": as_columns({kind: crossing(gap(table), rng) for kind, gap in GAPS.items()}, "threshold"),
    }
    rows = side_by_side(columns, columns["theory"].dropna().index)
    return rows.assign(sigma_off=off(rows, "trained", "theory")).rename_axis("threshold").reset_index()


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


def beside_theory(pairs):
    """Students at infinite d beside theory, in the quantities that the branch does not hold at zero.

    `case`, `alpha`, `quantity`; `theory` and `limit` (students at infinite d) with their errors; `sigma_off`: students
    minus theory, over both errors in quadrature. Overlaps with the positions count without their sign.

    pairs: of each case its name, the students of `extrapolate`, the row of theory (a frame), and the quantities.
    """
    rows = []
    for case, students, lines, quantities in pairs:
        for quantity in quantities:
            value, error = lines.iloc[0][[quantity, f"{quantity}_error"]]
            trained = students
            if quantity.startswith("m"):
                value, trained = abs(value), students.assign(**{quantity: students[quantity].abs()})
            if error > 0:
                row = case, lines.iloc[0]["alpha"], quantity, value, error, *extrapolate(trained, quantity)
                rows.append(row)
    columns = ["case", "alpha", "quantity", "theory", "theory_error", "limit", "limit_error"]
    rows = pd.DataFrame(rows, columns=columns)
    return rows.assign(sigma_off=off(rows, "limit", "theory"))


def extrapolate(table, quantity):
    """`Measured` value at infinite d of a quantity that falls or grows as 1/d, for a teacher of length 1.

    Most of the spread between data sets comes from the teacher's length. It is known, and 1 in the limit. Fitted to
    all data sets is ``value + slope/d + response (|Q*|^2/d - 1)``, with variances in proportion to 1/d.

    table: students in several dimensions d, with the teacher's `length` over that in the limit, minus 1.
    """
    weight = np.sqrt(table["d"].to_numpy())
    design = np.stack([np.ones(len(table)), 1 / table["d"], table["length"]], axis=1)
    return intercept(design * weight[:, None], table[quantity].to_numpy() * weight)


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
def draw_variant(table, theory, tied, thresholds, baseline, sigma, columns=1, reference="standard student, theory"):
    """A slice of one architecture over alpha: difference of training losses, overlaps, test errors.

    table: students from the semantic and the positional start.
    theory: `by_branch`, dotted where the gain exceeds 1; empty where there is no theory.
    tied: the dashed lines by branch, those of `standard` or others, which `reference` names.
    thresholds: `Measured` alpha of "critical" and "linear".
    baseline: test error of the linear model.
    columns: of weights that share one overlap; overlaps are drawn over the root of their number.
    """
    means, gaps = instance_means(table), training_gap(table)
    unit = sigma**2 * columns**0.5
    figure, axes = slice_panels(4)
    losses, overlaps, errors = axes
    losses.axhline(0, color="#bbbbbb", linewidth=1)
    semantic, positional = (tied[branch]["train_loss"] for branch in MINIMA)
    losses.plot((semantic - positional).dropna(), "--", color=TIED, label=reference)
    _draw_theory(losses, theory.get("gap"), "train_loss", NEUTRAL, "theory")
    draw_points(losses, gaps.index, gaps.mean(axis=1), gaps.sem(axis=1), NEUTRAL, label="trained")
    errors.axhline(baseline, color=BASELINE, linestyle=":", label="best linear model")
    for branch, colour in COLOURS.items():
        own = OWN[branch]
        overlaps.plot(tied[branch][own] / sigma**2, "--", color=TIED)
        _draw_theory(overlaps, theory.get(branch), own, colour, unit=unit)
        draw_means(overlaps, means.loc[branch], own, colour, unit=unit, label=OVERLAP_LABELS[branch])
        errors.plot(tied[branch]["test_mse"], "--", color=TIED)
        _draw_theory(errors, theory.get(branch), "test_mse", colour)
        draw_means(errors, means.loc[branch], "test_mse", colour, label=f"{branch} start")
    _finish(axes, ("Training losses", "Overlaps of the two students", "Test errors"), thresholds)
    return figure


@styled
def draw_rank_two(table, theory, tied, thresholds, baseline, sigma):
    """Figure 11: the rank-2 student from several kinds of start; arguments as for `draw_variant`."""
    means = instance_means(table)
    figure, axes = slice_panels(4, r"training loss $\epsilon_t$")
    losses, overlaps, errors = axes
    for panel, name, hidden in ((losses, "train_loss", ""), (errors, "test_mse", "_")):
        for branch, colour in COLOURS.items():
            _draw_theory(panel, theory[branch], name, NEUTRAL, f"{hidden}theory" if branch == "semantic" else None)
            look = {"color": colour, "linewidth": 1, "label": f"{hidden}rank 1, {branch}"}
            panel.plot(tied[branch][name], "--", **look)
        for start, marker in MARKERS.items():
            look = {"fillstyle": "none", "label": f"{hidden}{start} start"}
            draw_means(panel, means.loc[start], name, COLOURS.get(start, NEUTRAL), marker, **look)
    sizes = {"semantic": r"$|\theta|/\sigma^2$, with the teacher", "positional": r"$|m|/\sigma^2$, with the positions"}
    for branch, colour in COLOURS.items():
        own, unit = OWN[branch], sigma**2
        _draw_theory(overlaps, theory["semantic"], own, colour, sizes[branch], unit)
        _draw_theory(overlaps, theory["positional"], own, colour, unit=unit)
        for start, marker in MARKERS.items():
            draw_means(overlaps, means.loc[start], own, colour, marker, unit, fillstyle="none")
    errors.axhline(baseline, color=BASELINE, linestyle=":", label="best linear model")
    _finish(axes, ("Training loss", "Overlaps, both columns together", "Test error"), thresholds)
    return figure


def _draw_theory(axes, curve, name, colour, label=None, unit=1.0):
    """A curve of theory, if there is one, with its band; dotted where it is a saddle."""
    if curve is None:
        return
    saddle = curve["gain"] > 1 if "gain" in curve else pd.Series(False, curve.index)
    dotted = saddle | saddle.shift(1, fill_value=False) | saddle.shift(-1, fill_value=False)  # joins the line
    draw_line(axes, curve[~saddle], name, colour, "-", label, unit)
    draw_line(axes, curve[dotted], name, colour, ":", None, unit)


def _finish(panels, titles, thresholds):
    """Titles, legends between them and the panels, where they cover nothing, and thresholds."""
    _, overlaps, errors = panels
    overlaps.set_ylim(0, None)
    errors.set_ylim(0, None)
    critical, linear = thresholds["critical"], thresholds["linear"]
    for axes, title in zip(panels, titles):
        if axes.get_ylim()[0] == 0:
            axes.set_ylim(top=1.12 * axes.get_ylim()[1])  # room for the names
        mark_threshold(axes, critical, r"$\alpha_c$", NEUTRAL, left=critical.value < linear.value)
        place = {"loc": "lower left", "bbox_to_anchor": (-0.02, 1.06)}
        legend = axes.legend(**place, ncols=2, fontsize=11, columnspacing=1, handlelength=1.6, borderpad=0.3)
        rows = -(-len(legend.get_texts()) // 2)
        axes.set_title(title, pad=21 + 17 * rows)
    mark_threshold(errors, linear, r"$\alpha_l$", BASELINE, left=linear.value < critical.value)
    errors.set_xlim(0, None)
