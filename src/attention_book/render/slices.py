"""A slice over alpha of an architecture other than the standard one: theory, students, thresholds."""

import pandas as pd

from attention_phases.theory.branches import MINIMA, OWN

from ..analysis.instances import instance_means, training_gap
from . import style

TIED = "#999999"


@style.styled
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
    figure, axes = style.slice_panels(4)
    losses, overlaps, errors = axes
    losses.axhline(0, color="#bbbbbb", linewidth=1)
    semantic, positional = (tied[branch]["train_loss"] for branch in MINIMA)
    losses.plot((semantic - positional).dropna(), "--", color=TIED, label=reference)
    draw_theory(losses, theory.get("gap"), "train_loss", style.NEUTRAL, "theory")
    style.draw_points(losses, gaps.index, gaps.mean(axis=1), gaps.sem(axis=1), style.NEUTRAL, label="trained")
    errors.axhline(baseline, color=style.BASELINE, linestyle=":", label="best linear model")
    for branch, colour in style.COLOURS.items():
        own = OWN[branch]
        overlaps.plot(tied[branch][own] / sigma**2, "--", color=TIED)
        draw_theory(overlaps, theory.get(branch), own, colour, unit=unit)
        style.draw_means(overlaps, means.loc[branch], own, colour, unit=unit, label=style.OVERLAP_LABELS[branch])
        errors.plot(tied[branch]["test_mse"], "--", color=TIED)
        draw_theory(errors, theory.get(branch), "test_mse", colour)
        style.draw_means(errors, means.loc[branch], "test_mse", colour, label=f"{branch} start")
    finish_slice(axes, ("Training losses", "Overlaps of the two students", "Test errors"), thresholds)
    return figure


def draw_theory(axes, curve, name, colour, label=None, unit=1.0):
    """A curve of theory, if there is one, with its band; dotted where it is a saddle."""
    if curve is None:
        return
    saddle = curve["gain"] > 1 if "gain" in curve else pd.Series(False, curve.index)
    dotted = saddle | saddle.shift(1, fill_value=False) | saddle.shift(-1, fill_value=False)  # joins the line
    style.draw_line(axes, curve[~saddle], name, colour, "-", label, unit)
    style.draw_line(axes, curve[dotted], name, colour, ":", label if saddle.all() else None, unit)


def finish_slice(panels, titles, thresholds):
    """Titles, legends between them and the panels, where they cover nothing, and thresholds."""
    _, overlaps, errors = panels
    overlaps.set_ylim(0, None)
    errors.set_ylim(0, None)
    critical, linear = thresholds["critical"], thresholds["linear"]
    for axes, title in zip(panels, titles):
        if axes.get_ylim()[0] == 0:
            axes.set_ylim(top=1.12 * axes.get_ylim()[1])  # room for the names
        style.mark_threshold(axes, critical, r"$\alpha_c$", style.NEUTRAL, left=critical.value < linear.value)
        place = {"loc": "lower left", "bbox_to_anchor": (-0.02, 1.06)}
        legend = axes.legend(**place, ncols=2, fontsize=11, columnspacing=1, handlelength=1.6, borderpad=0.3)
        rows = -(-len(legend.get_texts()) // 2)
        axes.set_title(title, pad=21 + 17 * rows)
    style.mark_threshold(errors, linear, r"$\alpha_l$", style.BASELINE, left=linear.value < critical.value)
    errors.set_xlim(0, None)
