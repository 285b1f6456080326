"""Other architectures: slices over alpha (Figures 10 to 13), maps (14), and theory beside students of infinite d."""

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

from attention_phases.measured import UNKNOWN, Measured
from attention_phases.task import Task
from attention_phases.theory import solve
from attention_phases.theory.branches import MINIMA, OWN
from attention_phases.theory.stability import gains_of_columns, settling_distance

from ..analysis.controlled import intercept
from ..analysis.instances import GAPS, advantage, as_columns, gap_map, in_errors, instance_means, test_gap, training_gap
from ..analysis.thresholds import against_theory, crossing, crossings, curve, last_fall, mark, side_by_side
from ..experiments.cells import ArchitectureCell
from ..experiments.simulation import teacher_length
from ..experiments.student_grids import COMPARED, MAPPED
from ..quantities import mathtext
from ..render.panels import (
    bar_below,
    draw_cells,
    draw_line,
    draw_means,
    draw_points,
    list_panel,
    mark_threshold,
    slice_panels,
    styled,
)
from ..render.style import ALPHA, ATTENTION, BASELINE, COLOURS, LINEAR, NEUTRAL, ON_MAP, OVERLAP_LABELS
from ..store.identity import restore
from .landscape import theory_lines
from .phase_diagram import ADVANTAGE, CURVES, draw_maps

TITLES = {
    "correlated": "correlated tokens",
    "untied": "untied queries and keys",
    "rank2": "rank 2",
    "three tokens": "three tokens",
    "four tokens": "four tokens",
}
SETTLED = (  # near alpha_c; of rank 2, which has none, on both sides of its onset
    ("correlated", 2.7, "semantic"),
    ("correlated", 2.7, "positional"),
    ("untied", 2.3, "semantic"),
    ("untied", 2.3, "positional"),
    ("rank2", 2.0, "semantic"),
    ("rank2", 0.5, "positional"),
)
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
    off = in_errors(rows["trained"] - rows["theory"], rows["trained_error"], rows["theory_error"])
    return rows.assign(sigma_off=off).rename_axis("threshold").reset_index()


def compared(table, lines):
    """Theory beside students, for every architecture that theory covers.

    `architecture`, `alpha`, `quantity`; `theory` and `limit` (students at infinite d) with their errors; `sigma_off`:
    students minus theory at infinite d, over both errors in quadrature.

    table, lines: the experiments "variants_size" and "variants_theory".
    """
    cells = table["cell"].astype(str)
    lengths = {text: teacher_length(restore(ArchitectureCell, text)) for text in cells.unique()}
    table = table.assign(length=cells.map(lengths))
    rows = []
    for name, architecture in COMPARED.items():
        students, theory = select(table, architecture), select(lines, architecture)
        theory = theory[theory["what"] == "semantic"].iloc[0]
        for quantity in TWO if architecture.rank == 2 else ONE:
            value, error = theory[[quantity, f"{quantity}_error"]]
            if error > 0:  # the branch holds the others at zero
                # a student and its mirror image are one
                value = abs(value) if quantity.startswith("m") else value
                row = (TITLES[name], theory["alpha"], quantity, value, error, *extrapolate(students, quantity))
                rows.append(row)
    columns = ["architecture", "alpha", "quantity", "theory", "theory_error", "limit", "limit_error"]
    rows = pd.DataFrame(rows, columns=columns)
    return rows.assign(sigma_off=in_errors(rows["limit"] - rows["theory"], rows["limit_error"], rows["theory_error"]))


def extrapolate(table, quantity):
    """`Measured` value at infinite d of a quantity that falls or grows as 1/d, for a teacher of length 1.

    Most of the spread between data sets comes from the teacher's length. It is known, and 1 in the limit. Fitted to
    all data sets is ``value + slope/d + response (length - 1)``, with variances in proportion to 1/d.

    table: students in several dimensions d, with the teacher's `length`.
    """
    weight = np.sqrt(table["d"].to_numpy())
    design = np.stack([np.ones(len(table)), 1 / table["d"], table["length"] - 1], axis=1)
    return intercept(design * weight[:, None], table[quantity].to_numpy() * weight)


def thresholds_by_title(lines):
    """`theory_thresholds` of each architecture on the experiment "fig10_theory", by its title."""
    return {TITLES[name]: theory_thresholds(select(lines, architecture)) for name, architecture in MAPPED.items()}


def against_students(maps, lines, rng):
    """Where the students of the maps cross, beside theory: `thresholds.against_theory` by `student` and `threshold`.

    Below every crossing of theory the two starts may end alike, and their losses cross by chance: compared are the
    omega at which theory's line lies in the map.

    maps, lines: students over alpha and omega by architecture, and the experiment "fig14_theory".
    """
    parts = {}
    for name, table in maps.items():
        for kind, gap in GAPS.items():
            theory = curve(select(lines, MAPPED[name]), kind)
            inside = theory.index[theory["alpha"] < table["alpha"].max()]
            parts[TITLES[name], kind] = against_theory(crossings(table, gap, rng), theory, inside)
    names = ["student", "threshold"]
    return pd.concat(parts, names=names).reset_index(names).reset_index(drop=True)


def random_crossings(table):
    """Where the mean over students from random starts, by gradient descent, overtakes the linear model; alpha by omega.

    Without errors: these students are of two kinds, and a few of the later ones decide it.
    """
    gaps = gap_map(table[table["optimizer"] == "gd"], _random_gap)
    crossed = {omega: Measured(last_fall(gap.index.to_numpy(), gap.to_numpy()), 0.0) for omega, gap in gaps.items()}
    return as_columns(crossed, "omega").dropna()


def _random_gap(table):
    return test_gap(table, "random")


def unfinished(table, above=0.05):
    """How many students from random starts each optimiser leaves well above the lowest loss known on their data.

    table: gradient descent from random starts over alpha and omega, and L-BFGS from these and others.
    above: by which share of the lowest loss, which L-BFGS reaches from any of its starts, theirs has to be higher.
    """
    where = ["alpha", "omega", "seed"]
    lowest = table[table["optimizer"] == "lbfgs"].groupby(where)["train_loss"].min()
    random = table[table["start"] == "random"].set_index(where)
    stopped = random["train_loss"] > (1 + above) * lowest.loc[random.index]
    return stopped.groupby(random["optimizer"], observed=True).sum()


def threshold_curves(lines, style="-", whose=""):
    """Both thresholds of theory for `draw_maps`, those that there are."""
    curves = [(curve(lines, kind), *CURVES[kind]) for kind in GAPS]
    return [(alphas, f"{label}{whose}", colour, style) for alphas, label, colour, _ in curves if len(alphas)]


def copies(points=2**10, scrambles=8):
    """How far apart two copies of message passing settle in theory, at each of `SETTLED`.

    `student`, `alpha`, `branch`; `distance` over the size of the weights, with its error: NaN where it is smaller than
    all that were tried.
    """
    rows = []
    for name, alpha, branch in SETTLED:
        solution = solve(Task(), alpha, branch, points, scrambles, architecture=MAPPED[name])
        distance = settling_distance(
            *gains_of_columns(Task(), MAPPED[name], alpha, solution.overlaps, points, scrambles)
        )
        found = {"distance": distance.value or np.nan, "distance_error": distance.error}
        rows.append({"student": TITLES[name], "alpha": alpha, "branch": branch} | found)
    return pd.DataFrame(rows)


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
        legend = axes.legend(**place, ncols=2, fontsize=11, columnspacing=1, handlelength=1.6, borderpad=0)
        rows = -(-len(legend.get_texts()) // 2)
        axes.set_title(title, pad=21 + 17 * rows)
    mark_threshold(errors, linear, r"$\alpha_l$", BASELINE, left=linear.value < critical.value)
    errors.set_xlim(0, None)


@styled
def draw_variant_maps(maps, curves):
    """Maps of the linear fit's test error minus that of the student with the lower training loss, two by two.

    maps, curves: students over alpha and omega by title, and `threshold_curves` of each.
    """
    figure, axes = plt.subplots(2, 2, figsize=(7.2, 8.2), sharex=True)
    values = {title: gap_map(table, advantage) for title, table in maps.items()}
    mesh = draw_cells(axes.flat, values.values(), (LINEAR, ATTENTION))
    for panel, (title, cells), lines in zip(axes.flat, values.items(), curves):
        for alphas, label, colour, style in lines:
            draw_line(panel, alphas, "alpha", colour, style, label)
        panel.set(title=title, xlabel=r"$\omega$", ylim=(0, cells.index.max() + 0.04))
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=2, fontsize=11, **ON_MAP)
    figure.supylabel(ALPHA, fontsize=14)
    bar_below(figure, mesh, axes, ADVANTAGE)
    return figure


def draw_random_map(table, curves):
    """The same map of the experiment "fig14_random", by gradient descent, with the alphas at which the means cross."""
    marks = [(random_crossings(table), 0, "trained students cross", "o")]
    values = {"Rank 2, from random starts": -gap_map(table[table["optimizer"] == "gd"], _random_gap)}
    return draw_maps(values, ADVANTAGE, (LINEAR, ATTENTION), curves, marks)
