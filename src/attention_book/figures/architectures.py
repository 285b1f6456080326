"""Figures 10 to 13: slices of other architectures."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

from attention_phases.measured import Measured

from ..render.style import BASELINE, COLOURS, NEUTRAL, STYLE, draw_line, draw_means, draw_points, mark_threshold

TIED = "#999999"
BRANCHES = ("semantic", "positional")
STARTS = {"semantic": "o", "positional": "s", "mixed": "^", "random": "x"}


def architecture_slice(
    means, gaps, theory, tied, thresholds, baseline, sigma, columns=1, reference="standard student, theory"
):
    """A slice of one architecture over alpha: difference of training losses, overlaps, test errors.

    Parameters
    ----------
    means : DataFrame
        `instances.instance_means`.
    gaps : DataFrame
        `instances.training_gap`.
    theory : dict of DataFrame
        "semantic", "positional" and "gap", dotted where the gain exceeds 1; empty where there is no theory.
    tied : dict of DataFrame
        "semantic" and "positional" of the standard student on independent tokens.
    thresholds : dict
        "critical" and "linear", alpha and its error; those that there are.
    baseline : float
        Test error of the linear model.
    sigma : float
    columns : int
        Of weights that share one overlap: overlaps are drawn over the root of it.
    reference : str
        What the dashed lines are.

    Returns
    -------
    matplotlib Figure
    """
    unit = sigma**2 * columns**0.5
    with mpl.rc_context(STYLE):
        figure, (top, middle, bottom) = plt.subplots(3, 1, figsize=(6.4, 12), sharex=True)
        top.axhline(0, color="#bbbbbb", linewidth=1)
        losses = [tied[branch].set_index("alpha")["train_loss"] for branch in BRANCHES]
        top.plot((losses[0] - losses[1]).dropna(), "--", color=TIED, label=reference)
        if theory:
            _theory(top, theory["gap"], "train_loss", 1, NEUTRAL, label="theory")
        draw_points(top, gaps.index, gaps.mean(axis=1), gaps.sem(axis=1), NEUTRAL, label="trained")
        top.set_ylabel(r"$\epsilon_t^{\rm semantic}-\epsilon_t^{\rm positional}$")
        for branch, name, label in (
            ("semantic", "theta", r"$\theta/\sigma^2$, with the teacher"),
            ("positional", "m", r"$m/\sigma^2$, with the positions"),
        ):
            each = means.loc[branch]
            middle.plot(tied[branch]["alpha"], tied[branch][name] / sigma**2, "--", color=TIED)
            if theory:
                _theory(middle, theory[branch], name, unit, COLOURS[branch])
            draw_means(middle, each, name, COLOURS[branch], unit, label=label)
        middle.set(ylabel="overlap", ylim=(0, None))
        bottom.axhline(baseline, color=BASELINE, linestyle=":", label="best linear model")
        for branch in BRANCHES:
            each = means.loc[branch]
            bottom.plot(tied[branch]["alpha"], tied[branch]["test_mse"], "--", color=TIED)
            if theory:
                _theory(bottom, theory[branch], "test_mse", 1, COLOURS[branch])
            draw_means(bottom, each, "test_mse", COLOURS[branch], label=f"{branch} start")
        bottom.set(ylabel=r"test error $\epsilon_g$", ylim=(0, None))
        for axes in (top, bottom):
            axes.ticklabel_format(axis="y", style="sci", scilimits=(0, 0), useMathText=True)
        titles = ("Training losses", "Overlaps of the two students", "Test errors")
        _finish(dict(zip(titles, (top, middle, bottom))), thresholds)
    return figure


def _theory(axes, curve, name, unit, colour, style="-", label=None):
    """A curve of theory with its band; dotted where it is a saddle."""
    saddle = curve["gain"] > 1 if "gain" in curve else np.zeros(len(curve), bool)
    beside = saddle | saddle.shift(1, fill_value=False) | saddle.shift(-1, fill_value=False) if saddle.any() else saddle
    for part, line, said in ((curve[~saddle], style, label), (curve[beside], ":", None)):
        draw_line(axes, part["alpha"], part[name] / unit, part[f"{name}_error"] / unit, colour, line, label=said)


def _finish(panels, thresholds):
    """Titles, legends between them and the panels, where they cover nothing, and thresholds."""
    found = {kind: Measured(*each) for kind, each in thresholds.items() if each}
    first = min(found, key=lambda kind: found[kind].value, default=None) if len(found) > 1 else None
    *_, last = panels.values()
    for title, axes in panels.items():
        if axes.get_ylim()[0] == 0:
            axes.set_ylim(top=1.12 * axes.get_ylim()[1])  # room for the names
        if "critical" in found:
            mark_threshold(axes, found["critical"], r"$\alpha_c$", NEUTRAL, left=first == "critical")
        legend = axes.legend(loc="lower left", bbox_to_anchor=(-0.02, 1.06), ncols=2, fontsize=11, columnspacing=1,
                             handlelength=1.6, borderpad=0)  # fmt: skip
        rows = -(-len(legend.get_texts()) // 2)
        axes.set_title(title, pad=21 + 17 * rows)
    if "linear" in found:
        mark_threshold(last, found["linear"], r"$\alpha_l$", BASELINE, left=first == "linear")
    last.set(xlabel=r"sample complexity $\alpha = n/d$", xlim=(0, None))


def rank_two(means, theory, tied, linear, baseline, sigma):
    """Figure 11: the rank-2 student from several kinds of start; arguments as for `architecture_slice`.

    Returns
    -------
    matplotlib Figure
    """
    with mpl.rc_context(STYLE):
        figure, (top, middle, bottom) = plt.subplots(3, 1, figsize=(6.4, 12), sharex=True)
        for axes, name in ((top, "train_loss"), (bottom, "test_mse")):
            named = "" if axes is top else "_"  # a label that begins so stays out of the legend: one panel says it
            for branch in BRANCHES:
                said = f"{named}theory" if branch == "semantic" else None
                _theory(axes, theory[branch], name, 1, NEUTRAL, label=said)
                axes.plot(
                    tied[branch]["alpha"],
                    tied[branch][name],
                    "--",
                    color=COLOURS[branch],
                    linewidth=1,
                    label=f"{named}rank 1, {branch}",
                )
            for start, marker in STARTS.items():
                each = means.loc[start]
                label = f"{named}{start} start"
                draw_means(axes, each, name, COLOURS.get(start, NEUTRAL), 1, marker, fillstyle="none", label=label)
            axes.ticklabel_format(axis="y", style="sci", scilimits=(0, 0), useMathText=True)
        for name, branch, label in (
            ("theta", "semantic", r"$|\theta|/\sigma^2$, with the teacher"),
            ("m", "positional", r"$|m|/\sigma^2$, with the positions"),
        ):
            for solution in BRANCHES:
                _theory(
                    middle,
                    theory[solution],
                    name,
                    sigma**2,
                    COLOURS[branch],
                    label=label if solution == "semantic" else None,
                )
            for start, marker in STARTS.items():
                each = means.loc[start]
                draw_means(middle, each, name, COLOURS[branch], sigma**2, marker, fillstyle="none")
        bottom.axhline(baseline, color=BASELINE, linestyle=":", label="best linear model")
        top.set_ylabel(r"training loss $\epsilon_t$")
        middle.set(ylabel="overlap", ylim=(0, None))
        bottom.set(ylabel=r"test error $\epsilon_g$", ylim=(0, None))
        titles = ("Training loss", "Overlaps, both columns together", "Test error")
        _finish(dict(zip(titles, (top, middle, bottom))), {"linear": linear} if linear else {})
    return figure
