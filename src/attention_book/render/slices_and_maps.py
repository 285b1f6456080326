"""The figures that several pages share: curves as functions of alpha, and maps over alpha and omega."""

import textwrap

import matplotlib as mpl
import numpy as np
import pandas as pd

from attention_phases.theory.branches import MINIMA, OWN_OVERLAP

from ..analysis.instances import gap_map, instance_means, training_gap
from ..analysis.thresholds import curve, losses_of
from ..experiments.grids import ALPHAS
from . import style

ADVANTAGE = r"$\epsilon_g^{\rm linear}-\epsilon_g$"
CURVES = {
    "critical": (r"$\alpha_c$", style.NEUTRAL, "-"),
    "linear": (r"$\alpha_l$", style.BASELINE, "-"),
    "semantic border": ("semantic minimum begins", style.SEMANTIC, "--"),
    "positional border": ("positional minimum ends", style.POSITIONAL, "--"),
}
TIED = "#999999"
NAME_LETTERS = 19  # largest number of letters in a line of a curve's name on a map


@style.apply_style
def draw_variant(table, theory, tied, thresholds, baseline, sigma, columns=1, reference="standard student, theory"):
    """Draw the overlaps, the test errors and the training-loss gap of one architecture against alpha.

    table: students from the semantic and the positional start.
    theory: `branch_tables`, drawn dotted where the gain exceeds 1; empty if theory does not cover the architecture.
    tied: the dashed lines by branch, of the standard student or of another theory, which `reference` names.
    thresholds: `Measured` alpha of "critical" and "linear".
    baseline: test error of the linear model.
    columns: number of columns of weights that share one overlap; overlaps are divided by its square root.
    """
    means, gaps = instance_means(table), training_gap(table)
    unit = sigma**2 * columns**0.5
    figure, axes = style.slice_panels(4)
    losses, overlaps, errors = axes
    losses.axhline(0, color="#bbbbbb", linewidth=1)
    semantic, positional = (tied[branch]["train_loss"] for branch in MINIMA)
    losses.plot((semantic - positional).dropna(), "--", color=TIED, label=reference)
    draw_theory(losses, theory.get("gap"), "train_loss", style.NEUTRAL, "theory")
    style.draw_points(losses, gaps.index, gaps.mean(axis=1), gaps.sem(axis=1), style.NEUTRAL, label="trained")
    errors.axhline(baseline, color=style.BASELINE, linestyle=":", label="best linear model")
    for branch, colour in style.COLOURS.items():
        own = OWN_OVERLAP[branch]
        overlaps.plot(tied[branch][own] / sigma**2, "--", color=TIED)
        draw_theory(overlaps, theory.get(branch), own, colour, unit=unit)
        style.draw_means(overlaps, means.loc[branch], own, colour, unit=unit, label=style.OVERLAP_LABELS[branch])
        errors.plot(tied[branch]["test_mse"], "--", color=TIED)
        draw_theory(errors, theory.get(branch), "test_mse", colour)
        style.draw_means(errors, means.loc[branch], "test_mse", colour, label=f"{branch} start")
    finish_slice(axes, ("Training losses", "Overlaps of the two students", "Test errors"), thresholds)
    return figure


def draw_theory(axes, curve, name, colour, label=None, unit=1.0):
    """Draw a theoretical curve with its error band, dotted where the solution is a saddle point.

    If the curve is None, nothing is drawn.
    """
    if curve is None:
        return
    saddle = curve["gain"] > 1 if "gain" in curve else pd.Series(False, curve.index)
    # The neighbouring points are included, so that the dotted line joins the solid line.
    dotted = saddle | saddle.shift(1, fill_value=False) | saddle.shift(-1, fill_value=False)
    style.draw_line(axes, curve[~saddle], name, colour, "-", label, unit)
    style.draw_line(axes, curve[dotted], name, colour, ":", label if saddle.all() else None, unit)


def finish_slice(panels, titles, thresholds):
    """Add titles, thresholds and legends to the three panels of a figure that shows curves against alpha.

    A legend is between a title and its panel, where it covers nothing.
    """
    _, overlaps, errors = panels
    overlaps.set_ylim(0, None)
    errors.set_ylim(0, None)
    critical, linear = thresholds["critical"], thresholds["linear"]
    for axes, title in zip(panels, titles):
        if axes.get_ylim()[0] == 0:
            axes.set_ylim(top=1.12 * axes.get_ylim()[1])  # leaves space for the names of the thresholds
        style.mark_threshold(axes, critical, r"$\alpha_c$", style.NEUTRAL, left=critical.value < linear.value)
        above = 1.06  # in heights of the panel; the title is higher by the height of the legend, in points
        place = {"loc": "lower left", "bbox_to_anchor": (-0.02, above)}
        legend = axes.legend(**place, ncols=2, columnspacing=1, handlelength=1.4, borderpad=0.3)
        rows = -(-len(legend.get_texts()) // 2)
        axes.set_title(title, y=above, pad=11 + 19 * rows)
    style.mark_threshold(errors, linear, r"$\alpha_l$", style.BASELINE, left=linear.value < critical.value)
    errors.set_xlim(0, None)


# Maps


def draw_losses(table, lines, marks=()):
    """Draw colour maps of the semantic minus the positional training loss, for trained students and for theory."""
    semantic, positional = (losses_of(lines, branch, "train_loss") for branch in MINIMA)
    maps = {"Trained students": gap_map(table, training_gap), "Theory": semantic - positional}
    curves = theory_curves(lines, "critical", "semantic border", "positional border")
    return draw_maps(maps, style.LOSS_GAP, (style.SEMANTIC, style.POSITIONAL), curves, marks)


def theory_curves(lines, *names, line=None, whose=""):
    """Return theoretical curves with their labels, colours and line styles, as `draw_maps` expects them.

    A curve that the lines of theory lack is left out.

    names: names of the curves in `CURVES`.
    line: another style of the line.
    whose: the theory that the label names.
    """
    curves = [(curve(lines, name).dropna(subset="alpha"), *CURVES[name]) for name in names]
    return [(alphas, f"{label}{whose}", colour, line or own) for alphas, label, colour, own in curves if len(alphas)]


@style.apply_style
def draw_divergences(lines, ends, crossed=None, lasting=None):
    """Draw both theoretical thresholds against omega, and the omega at which each threshold diverges.

    ends: `Measured` omega at which each threshold diverges; NaN if there is none.
    crossed: alpha_l of trained students by omega.
    lasting: `Measured` omega from or up to which a branch is a minimum with unlimited data, by branch.
    """
    figure, (axes,) = style.panels(1, 4.4)
    for kind, end in ends.items():
        label, colour, _ = CURVES[kind]
        style.draw_line(axes, curve(lines, kind), "alpha", colour, label=f"{label}, theory")
        if np.isfinite(end.value):
            axes.axvline(end.value, color=colour, linestyle=":", label=rf"{label} $=\infty$")
    for branch, place in (lasting or {}).items():
        axes.axvline(place.value, color=style.COLOURS[branch], linestyle="-.", label=f"{branch} minimum, all data")
    if crossed is not None:
        look = {"markerfacecolor": "white", "label": r"$\alpha_l$, trained students"}
        style.draw_means(axes, crossed, "alpha", style.BASELINE, **look)
    axes.axhline(ALPHAS[-1], color="#999999", linewidth=1, linestyle="--", label="edge of the map")
    style.logarithmic(axes)
    axes.set(xlabel=style.OMEGA, ylabel=style.ALPHA, xlim=(0, None))
    figure.legend(loc="outside upper center", ncols=2)
    return figure


@style.apply_style
def draw_maps(maps, label, sides, curves, marks):
    """Draw colour maps over alpha and omega as stacked panels, with one colour scale and labelled curves.

    maps: for each title the values, alpha (rows) by omega.
    label: label of the colour bar.
    sides: colours of the negative and of the positive values.
    curves: for each curve a frame of alpha and alpha_error by omega, its label, its colour and its line style.
    marks: for each group of marks a frame of alpha and alpha_error by omega, its panel, its label and its marker.
    """
    figure, rows = style.panels(len(maps), 5.2 + 0.9 / len(maps), sharex=True)
    mesh = style.draw_cells(rows, maps.values(), sides)
    for number, (axes, (title, values)) in enumerate(zip(rows, maps.items())):
        for alphas, name, colour, line in curves:
            style.draw_line(axes, alphas, "alpha", colour, line, f"_{name}")
        for alphas, panel, name, marker in marks:
            if panel == number:
                look = {"markerfacecolor": "white", "markersize": 5, "label": name}
                style.draw_means(axes, alphas, "alpha", "black", marker, **look)
        omegas, alphas = values.columns, values.index
        axes.set(xlim=(omegas.min() - 0.012, omegas.max() + 0.012), ylim=(0, alphas.max() + 0.04))
        axes.set(title=title, ylabel=style.ALPHA)
        _name_curves(axes, curves)
        beside = {"ncols": 2, "columnspacing": 1, "borderpad": 0.3, **style.OPAQUE_LEGEND}
        if axes.get_legend_handles_labels()[0]:
            axes.legend(loc="lower left", bbox_to_anchor=(-0.1, 1.06), **beside)
    rows[-1].set_xlabel(style.OMEGA)
    style.draw_colour_bar(figure, mesh, rows, label, ticks=mpl.ticker.MaxNLocator(6))
    return figure


def _name_curves(axes, curves):
    """Write the name of each curve beside it, as far as possible from other curves.

    If there is no space for a name, it goes into the legend.
    """
    to_panel = axes.transData - axes.transAxes
    drawn = [to_panel.transform(alphas["alpha"].reset_index()) for alphas, *_ in curves]
    for number, (_, name, colour, line) in enumerate(curves):
        own, others = drawn[number], np.concatenate([*drawn[:number], *drawn[number + 1 :], [[9, -9]]])
        apart = np.linalg.norm(own[:, None] - others, axis=2)
        above = own[:, 1] > others[apart.argmin(axis=1), 1]
        to_left = above == (own[-1, 1] >= own[0, 1])  # true if the curve moves away from a name on the left
        text = textwrap.fill(name, NAME_LETTERS)
        width, height = 0.018 * min(len(name), NAME_LETTERS), 0.06 * (text.count("\n") + 1)
        aside = np.stack([np.where(to_left, -width, width), np.where(above, height, -height)], axis=1)
        fits = (np.abs([own, own + aside] - np.array(0.5)) < [0.49, 0.48]).all(axis=(0, 2))
        apart = np.linalg.norm((own + aside / 2)[:, None] - others, axis=2)  # of the middle of the name
        if fits.any():
            best = np.where(fits, apart.min(axis=1), 0).argmax()
            look = {"xytext": (0, 5 if above[best] else -5), "va": "bottom" if above[best] else "top", "color": colour}
            look |= {"bbox": {"facecolor": "white", "alpha": 0.7, "linewidth": 0, "pad": 1}, "fontsize": 12.5}
            look |= {"textcoords": "offset points", "ha": "right" if to_left[best] else "left"}
            axes.annotate(text, own[best], xycoords="axes fraction", **look)
        else:
            axes.plot([], [], line, color=colour, label=name)  # adds an entry to the legend
