"""Figures 3 and 9: maps over alpha and omega, of trained students and of theory."""

import matplotlib as mpl
import numpy as np
import pandas as pd

from attention_phases.theory.branches import MINIMA, OWN

from .. import published
from ..analysis.instances import advantage, as_columns, crossed_over, gap_map, optimizer_map, training_gap
from ..analysis.thresholds import curve
from ..experiments.grids import ALPHAS
from ..render.panels import bar_below, draw_cells, draw_line, draw_means, largest_shown, logarithmic, panels, styled
from ..render.style import ALPHA, ATTENTION, BASELINE, COLOURS, LINEAR, LOSS_GAP, NEUTRAL, OMEGA, POSITIONAL, SEMANTIC

STUDENTS = "Trained students"
ADVANTAGE = r"$\epsilon_g^{\rm linear}-\epsilon_g$"
CURVES = {
    "critical": (r"$\alpha_c$", NEUTRAL, "-"),
    "linear": (r"$\alpha_l$", BASELINE, "-"),
    "semantic border": ("semantic minimum begins", SEMANTIC, "--"),
    "positional border": ("positional minimum ends", POSITIONAL, "--"),
}


def theory_map(lines, gap):
    """A gap of theory: alpha (rows) by omega (columns).

    Where a minimum is missing, the student with m = theta = 0 that takes its place stands for it.

    gap: `loss_gap` or `theory_advantage`; takes tables of both minima by alpha and the test error of the linear model.
    """
    columns = {}
    for omega, line in lines.groupby("omega"):
        tables = {what: rows.set_index("alpha") for what, rows in line.groupby("what", observed=True)}
        if "symmetric" in tables or "semantic" in tables:
            semantic, positional = (_filled(tables, branch) for branch in MINIMA)
            columns[omega] = gap(semantic, positional, tables["baseline"]["test_mse"].iloc[0])
    return pd.DataFrame(columns).sort_index()


def _filled(tables, branch):
    """The losses of a minimum, and where it is missing those of the student with m = theta = 0."""
    losses = [tables[what][["train_loss", "test_mse"]] for what in (branch, "symmetric") if what in tables]
    return losses[0] if len(losses) == 1 else losses[0].combine_first(losses[1])


def loss_gap(semantic, positional, baseline):
    """Semantic minus positional training loss."""
    return semantic["train_loss"] - positional["train_loss"]


def theory_advantage(semantic, positional, baseline):
    """Test error of the linear model minus that of the minimum with the lower training loss."""
    lower = semantic["train_loss"] <= positional["train_loss"]
    return baseline - semantic["test_mse"].where(lower, positional["test_mse"])


@styled
def draw_overlaps(means, limits, sigma):
    """Figure 3, left: both minima in the plane of their overlaps, for growing d.

    Of the overlap that a start is not named after, whose sign is random, the root mean square is drawn.

    means: `instances.instance_means` along d.
    limits: the `theory.Solution` of both branches, of infinite d.
    """
    variance = sigma**2
    figure, (axes,) = panels(1, 5.2)
    star = {"markeredgecolor": "black", "markersize": 17, "zorder": 2, "clip_on": False}
    for branch, limit in limits.items():
        rows, colour = means.loc[branch] / variance, COLOURS[branch]
        x, y = (rows[name if name == OWN[branch] else f"{name}_rms"] for name in ("m", "theta"))
        axes.plot(x, y, color=colour, linewidth=0.8)
        errors = {"yerr": rows[f"{y.name}_error"], "xerr": rows[f"{x.name}_error"]}
        axes.errorbar(x, y, **errors, fmt="none", ecolor=colour, elinewidth=1)
        dots = {"edgecolors": "white", "linewidths": 0.5, "zorder": 3, "label": f"{branch} start"}
        axes.scatter(x, y, 12 * np.log(rows.index), colour, **dots)
        m, theta = limit.overlaps.m / variance, limit.overlaps.theta / variance
        axes.plot(m, theta, "*", color=colour, label=r"theory, $d=\infty$", **star)
        for d in (rows.index.min(), rows.index.max()):
            axes.annotate(f"$d={d}$", (x[d], y[d]), xytext=(12, 8), textcoords="offset points", color=colour)
    axes.set(xlim=(0, None), ylim=(0, None))
    axes.set_xlabel(r"overlap with the positions $m/\sigma^2$")
    axes.set_ylabel(r"overlap with the teacher $\theta/\sigma^2$")
    axes.legend(loc="upper right")
    return figure


def draw_losses(table, lines, marks=()):
    """Maps of semantic minus positional training loss: trained students, and theory."""
    maps = {STUDENTS: gap_map(table, training_gap), "Theory": theory_map(lines, loss_gap)}
    curves = theory_curves(lines, "critical", "semantic border", "positional border")
    return draw_maps(maps, LOSS_GAP, (SEMANTIC, POSITIONAL), curves, marks)


def draw_advantages(table, lines, marks):
    """Maps of the linear model's test error minus that of the better solution: trained students, and theory."""
    maps = {STUDENTS: gap_map(table, advantage), "Theory": theory_map(lines, theory_advantage)}
    return draw_maps(maps, ADVANTAGE, (LINEAR, ATTENTION), theory_curves(lines, "critical", "linear"), marks)


def theory_curves(lines, *names):
    """Curves for `draw_maps`, of `CURVES` by name."""
    return [(curve(lines, name), *CURVES[name]) for name in names]


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
    end more than a twentieth above L-BFGS; `gone`, share of these whose L-BFGS ends in the other start's minimum.

    tables: students over alpha and omega by both optimisers, by title.
    """
    rows = []
    for title, table in tables.items():
        for start in MINIMA:
            alike = (optimizer_map(table, start).abs() < 1).to_numpy().mean()
            left, gone = crossed_over(table, start)
            rows.append({"map": title, "start": start, "alike": alike, "left": left, "gone": gone})
    return pd.DataFrame(rows)


@styled
def draw_ends(lines, ends, crossed=None):
    """Both thresholds of theory over omega on a logarithmic axis, and where each goes to infinity.

    ends: omega as `Measured` by threshold; NaN if there is none.
    crossed: alpha_l of trained students, alpha and alpha_error by omega.
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
def draw_maps(maps, label, sides, curves, marks=()):
    """Maps over alpha and omega above one another, on one colour scale.

    maps: title to values, alpha (rows) by omega (columns).
    label: of the colour bar.
    sides: colours of the negative and of the positive values.
    curves: of each alpha and alpha_error by omega; its label, colour and line style.
    marks: of each alpha and alpha_error by omega; its panel, label and marker.
    """
    largest = largest_shown(maps.values())
    figure, rows = panels(len(maps), 5.2 + 0.9 / len(maps), sharex=True)
    for number, (axes, (title, values)) in enumerate(zip(rows, maps.items())):
        mesh = draw_cells(axes, values, sides, largest)
        for alphas, name, colour, style in curves:
            draw_line(axes, alphas, "alpha", colour, style, name)
        for alphas, panel, name, marker in marks:
            if panel == number:
                look = {"markerfacecolor": "white", "markersize": 5, "label": name}
                draw_means(axes, alphas, "alpha", "black", marker, **look)
        omegas, alphas = values.columns, values.index
        axes.set(xlim=(omegas.min() - 0.012, omegas.max() + 0.012), ylim=(0, alphas.max() + 0.04))
        axes.set(title=title, ylabel=ALPHA)
        beside = {"ncols": 2, "fontsize": 11, "columnspacing": 1, "borderpad": 0}
        axes.legend(loc="lower left", bbox_to_anchor=(-0.1, 1.06), **beside)
    rows[-1].set_xlabel(OMEGA)
    bar_below(figure, mesh, rows, label, ticks=mpl.ticker.MaxNLocator(6))
    return figure
