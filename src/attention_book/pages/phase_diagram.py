"""Maps over alpha and omega: of trained students and of theory (Figures 3 and 9), and of other architectures (14)."""

import itertools

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

from attention_phases.measured import Measured
from attention_phases.task import Task
from attention_phases.theory.branches import MINIMA

from .. import published
from ..analysis.instances import GAPS, advantage, as_columns, gap_map, test_gap, training_gap
from ..analysis.thresholds import against_theory, crossings, curve, last_fall
from ..experiments.grids import ALPHAS
from ..experiments.variant_grids import MAPPED
from ..published import OF_THRESHOLD, Comparison, compare
from ..render.style import (
    ALPHA,
    ATTENTION,
    BASELINE,
    LINEAR,
    LOSS_GAP,
    NEUTRAL,
    OMEGA,
    OPAQUE,
    POSITIONAL,
    SEMANTIC,
    bar_below,
    draw_cells,
    draw_line,
    draw_means,
    draw_points,
    logarithmic,
    panels,
    styled,
)
from .variants import TITLES, select

LEFT = 0.05  # share by which a training loss is above that of L-BFGS where descent has not come to an end
MANY_MINIMA = 0.2  # below this omega both valleys hold many minima near the transition
ADVANTAGE = r"$\epsilon_g^{\rm linear}-\epsilon_g$"
CURVES = {
    "critical": (r"$\alpha_c$", NEUTRAL, "-"),
    "linear": (r"$\alpha_l$", BASELINE, "-"),
    "semantic border": ("semantic minimum begins", SEMANTIC, "--"),
    "positional border": ("positional minimum ends", POSITIONAL, "--"),
}


def theory_comparison(kind, omega, ours, nets):
    """A published threshold of the standard task beside that of theory, from so many quadratures."""
    known = published.THRESHOLDS[kind][omega]
    return Comparison(kind, {"omega": omega}, known, ours, "theory", nets, OF_THRESHOLD[kind])


def theory_thresholds_beside_published(lines):
    """All published thresholds beside those of theory of the standard task, as from `published.compare`."""
    nets = lines.groupby("omega")["scrambles"].first()
    comparisons = []
    for kind, known in published.THRESHOLDS.items():
        ours = curve(lines, kind)
        for omega in ours.index.intersection(list(known)):
            comparisons.append(theory_comparison(kind, omega, Measured(*ours.loc[omega]), int(nets[omega])))
    return compare(comparisons)


def trained_thresholds_beside_published(table, rng):
    """Published thresholds, which are theory, beside those of trained students, as from `published.compare`.

    A coarse grid may not show a crossing, which is then left out.

    table: students over alpha and omega of the standard task, by one optimiser or by several that have all cells.
    """
    comparisons = []
    for kind, known in published.THRESHOLDS.items():
        for optimizer, rows in table.groupby("optimizer"):
            seeds = int(rows["seed"].nunique())
            alphas = crossings(rows[rows["omega"].isin(list(known))], GAPS[kind], rng).dropna()
            for omega, ours in alphas[alphas["alpha_error"] > 0].iterrows():
                where = {"omega": omega, "optimizer": optimizer}
                reason = "many minima" if omega < MANY_MINIMA else OF_THRESHOLD[kind]
                comparisons.append(Comparison(kind, where, known[omega], Measured(*ours), "students", seeds, reason))
    return compare(comparisons)


def minus_theory(kind, table, lines):
    """How far published thresholds, and those by the published rules, are from theory: by omega.

    `published`; `rule`, all by the published rules; `exact`, the overlaps by these and their losses exact. NaN
    where the rule has no crossing near theory's.

    table, lines: the experiment "published_rule", and theory: its thresholds are the better known ones.
    """
    rows = table[table["what"] == kind].set_index("omega").sort_index()
    known = pd.Series({omega: number.value for omega, number in published.THRESHOLDS[kind].items()})
    theory = curve(lines, kind)["alpha"].combine_first(rows["alpha"])
    columns = rows[["rule", "exact"]].assign(published=known).dropna(subset="published")
    return columns.sub(theory, axis=0).loc[columns.index]


def theory_gap(lines):
    """Semantic minus positional training loss of theory: alpha (rows) by omega."""
    return _losses(lines, "semantic", "train_loss") - _losses(lines, "positional", "train_loss")


def theory_advantage(lines):
    """Test error of the linear model minus that of the minimum with the lower training loss: alpha (rows) by omega."""
    semantic, positional = (_losses(lines, branch, "test_mse") for branch in MINIMA)
    baseline = lines[lines["what"] == "baseline"].set_index("omega")["test_mse"]
    better = semantic.where(theory_gap(lines) <= 0, positional)
    return baseline[better.columns] - better  # baselines are known at more omega


def _losses(lines, branch, name):
    """A loss of a minimum; where it is missing, that of the student with m = theta = 0 that takes its place."""
    minimum, symmetric = (
        lines[lines["what"] == what].pivot(index="alpha", columns="omega", values=name)
        for what in (branch, "symmetric")
    )
    return minimum.combine_first(symmetric)


def draw_losses(table, lines, marks=()):
    """Maps of semantic minus positional training loss: trained students, and theory."""
    maps = {"Trained students": gap_map(table, training_gap), "Theory": theory_gap(lines)}
    curves = theory_curves(lines, "critical", "semantic border", "positional border")
    return draw_maps(maps, LOSS_GAP, (SEMANTIC, POSITIONAL), curves, marks)


def draw_advantages(table, lines, marks):
    """Maps of the linear model's test error minus that of the better solution: trained students, and theory."""
    maps = {"Trained students": gap_map(table, advantage), "Theory": theory_advantage(lines)}
    return draw_maps(maps, ADVANTAGE, (LINEAR, ATTENTION), theory_curves(lines, "critical", "linear"), marks)


def theory_curves(lines, *names, style=None, whose=""):
    """Curves for `draw_maps`, of `CURVES` by name, those that there are; in another `style`, of `whose` theory."""
    curves = [(curve(lines, name), *CURVES[name]) for name in names]
    return [(alphas, f"{label}{whose}", colour, style or own) for alphas, label, colour, own in curves if len(alphas)]


def threshold_marks(kind, crossed):
    """Marks for `draw_maps`: where students cross, alpha and alpha_error by omega, and the published thresholds."""
    known = {omega: (number.value, number.stderr) for omega, number in published.THRESHOLDS[kind].items()}
    return [
        (crossed, 0, "trained students cross", "o"),
        (as_columns(known, "omega"), 1, f"published {CURVES[kind][0]}", "s"),
    ]


def left_by_descent(tables):
    """What 5,000 steps of gradient descent leave of the way that L-BFGS goes on the same data.

    By `map` and `start`: `alike`, share of the cells whose mean training losses are within 1 %; `left`, students that
    end by the share `LEFT` over L-BFGS; `gone`, share of these whose L-BFGS ends in the other start's minimum.

    tables: students over alpha and omega by both optimisers, by title.
    """
    rows = []
    for (title, table), start in itertools.product(tables.items(), MINIMA):
        students = table[table["start"] == start].pivot(
            index=["alpha", "omega", "seed"], columns="optimizer", values=["train_loss", "m", "theta"]
        )
        students = students.dropna()
        higher = students["train_loss", "gd"] / students["train_loss", "lbfgs"] - 1
        alike = (higher.groupby(["alpha", "omega"]).mean().abs() < 0.01).mean()
        is_positional = students["m", "lbfgs"].abs() > students["theta", "lbfgs"].abs() / Task().sigma ** 2
        gone = (is_positional == (start == "semantic"))[higher > LEFT].mean()
        rows.append((title, start, alike, int((higher > LEFT).sum()), gone))
    return pd.DataFrame(rows, columns=["map", "start", "alike", "left", "gone"])


@styled
def draw_ends(lines, ends, crossed=None):
    """Both thresholds of theory over omega on a logarithmic axis, and where each goes to infinity.

    ends: omega as `Measured` by threshold; NaN if there is none.
    crossed: alpha_l of trained students by omega.
    """
    figure, (axes,) = panels(1, 4.4)
    for kind, end in ends.items():
        label, colour, _ = CURVES[kind]
        draw_line(axes, curve(lines, kind), "alpha", colour, label=f"{label}, theory")
        if np.isfinite(end.value):
            axes.axvline(end.value, color=colour, linestyle=":", label=rf"{label} $=\infty$")
    if crossed is not None:
        look = {"markerfacecolor": "white", "label": r"$\alpha_l$, trained students"}
        draw_means(axes, crossed, "alpha", BASELINE, **look)
    axes.axhline(ALPHAS[-1], color="#999999", linewidth=1, linestyle="--", label="edge of the map")
    logarithmic(axes)
    axes.set(xlabel=OMEGA, ylabel=ALPHA, xlim=(0, None))
    figure.legend(loc="outside upper center", ncols=2)
    return figure


@styled
def draw_maps(maps, label, sides, curves, marks):
    """Maps over alpha and omega above one another, on one colour scale.

    maps: title to values, alpha (rows) by omega; the `label` is that of their colour bar.
    sides: colours of the negative and of the positive values.
    curves: of each alpha and alpha_error by omega; its label, colour and line style.
    marks: of each alpha and alpha_error by omega; its panel, label and marker.
    """
    figure, rows = panels(len(maps), 5.2 + 0.9 / len(maps), sharex=True)
    mesh = draw_cells(rows, maps.values(), sides)
    for number, (axes, (title, values)) in enumerate(zip(rows, maps.items())):
        for alphas, name, colour, style in curves:
            draw_line(axes, alphas, "alpha", colour, style, name)
        for alphas, panel, name, marker in marks:
            if panel == number:
                look = {"markerfacecolor": "white", "markersize": 5, "label": name}
                draw_means(axes, alphas, "alpha", "black", marker, **look)
        omegas, alphas = values.columns, values.index
        axes.set(xlim=(omegas.min() - 0.012, omegas.max() + 0.012), ylim=(0, alphas.max() + 0.04))
        axes.set(title=title, ylabel=ALPHA)
        beside = {"ncols": 2, "fontsize": 11, "columnspacing": 1, "borderpad": 0.3, **OPAQUE}
        axes.legend(loc="lower left", bbox_to_anchor=(-0.1, 1.06), **beside)
    rows[-1].set_xlabel(OMEGA)
    bar_below(figure, mesh, rows, label, ticks=mpl.ticker.MaxNLocator(6))
    return figure


@styled
def draw_differences(trained, others):
    """Thresholds of students, published ones, and those by the published rules, minus theory: a panel for each.

    trained: `against_theory` by threshold.
    others: `minus_theory` by threshold.
    """
    figure, rows = panels(len(trained), 3.6, sharex=True)
    for axes, (kind, students) in zip(rows, trained.items()):
        label, colour, _ = CURVES[kind]
        axes.axhline(0, color=colour, linewidth=1)
        away = students["trained"] - students["theory"]
        error = np.hypot(students["trained_error"], students["theory_error"])
        draw_points(axes, students["omega"], away, error, colour, label="trained students")
        rules = others[kind]
        steps = [published.THRESHOLDS[kind][omega].rounding for omega in rules.index]
        look = {"markerfacecolor": "white", "label": "published theory"}
        draw_points(axes, rules.index, rules["published"], steps, colour, "s", **look)
        axes.plot(rules.index, rules["rule"], ":", color=colour, label="the published rules")
        axes.plot(rules.index, rules["exact"], "--", color=colour, label="their solutions, exact losses")
        axes.set_ylabel(f"{label} minus theory")
    rows[-1].set_xlabel(OMEGA)
    rows[0].legend(loc="lower center", bbox_to_anchor=(0.45, 1), ncols=2)
    return figure


# Other architectures


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


def unfinished(table):
    """How many students from random starts each optimiser leaves well above the lowest loss known on their data.

    table: gradient descent from random starts over alpha and omega, and L-BFGS from these and others.
    """
    where = ["alpha", "omega", "seed"]
    lowest = table[table["optimizer"] == "lbfgs"].groupby(where)["train_loss"].min()
    random = table[table["start"] == "random"].set_index(where)
    stopped = random["train_loss"] > (1 + LEFT) * lowest.loc[random.index]
    return stopped.groupby(random["optimizer"]).sum()


@styled
def draw_variant_maps(maps, curves):
    """Maps of the linear fit's test error minus that of the student with the lower training loss, two by two.

    maps, curves: students over alpha and omega by title, and `theory_curves` of each.
    """
    figure, axes = plt.subplots(2, 2, figsize=(7.2, 8.2), sharex=True)
    values = {title: gap_map(table, advantage) for title, table in maps.items()}
    mesh = draw_cells(axes.flat, values.values(), (LINEAR, ATTENTION))
    for panel, (title, cells), lines in zip(axes.flat, values.items(), curves):
        for alphas, label, colour, style in lines:
            draw_line(panel, alphas, "alpha", colour, style, label)
        panel.set(title=title, xlabel=r"$\omega$", ylim=(0, cells.index.max() + 0.04))
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=2, fontsize=11, **OPAQUE)
    figure.supylabel(ALPHA, fontsize=14)
    bar_below(figure, mesh, axes, ADVANTAGE)
    return figure


def draw_random_map(table, curves):
    """The same map of the experiment "fig14_random", by gradient descent, with the alphas at which the means cross."""
    marks = [(random_crossings(table), 0, "trained students cross", "o")]
    values = {"Rank 2, from random starts": -gap_map(table[table["optimizer"] == "gd"], _random_gap)}
    return draw_maps(values, ADVANTAGE, (LINEAR, ATTENTION), curves, marks)
