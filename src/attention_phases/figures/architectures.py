"""Figures 10 to 15: other architectures, and where training from nothing ends."""

from collections import namedtuple

import matplotlib as mpl
import matplotlib.pyplot as plt

from .style import BASELINE, COLOURS, NEUTRAL, STYLE, draw_line, mark_threshold

TIED = "#999999"
BRANCHES = ("semantic", "positional")
Mark = namedtuple("Mark", "alpha stderr")
STARTS = {"semantic": "o", "positional": "s", "mixed": "^"}


def architecture_slice(means, gaps, theory, tied, thresholds, baseline, sigma, columns=1):
    """A slice of one architecture over alpha: difference of training losses, overlaps, test errors.

    Parameters
    ----------
    means : DataFrame
        `statistics.instance_means`.
    gaps : DataFrame
        `statistics.training_gap`.
    theory : dict of DataFrame
        "semantic" and "positional"; empty where there is no theory.
    tied : dict of DataFrame
        The same of the standard student on independent tokens.
    thresholds : dict
        "critical" and "linear", alpha and its error; those that there are.
    baseline : float
        Test error of the linear model.
    sigma : float
    columns : int
        Of weights that share one overlap: overlaps are drawn over the root of it.

    Returns
    -------
    matplotlib Figure
    """
    unit = sigma**2 * columns**0.5
    with mpl.rc_context(STYLE):
        figure, (top, middle, bottom) = plt.subplots(3, 1, figsize=(6.4, 10.2), sharex=True)
        top.axhline(0, color="#bbbbbb", linewidth=1)
        _gap(top, tied, TIED, "--", "standard student, theory")
        if theory:
            _gap(top, theory, NEUTRAL, "-", "theory")
        top.errorbar(gaps.index, gaps.mean(axis=1), gaps.sem(axis=1), fmt="o", color=NEUTRAL, elinewidth=1,
                     label="trained")
        top.set(ylabel=r"$\epsilon_t^{\rm semantic}-\epsilon_t^{\rm positional}$", title="Training losses")
        for branch, name, label in (("semantic", "theta", r"$\theta/\sigma^2$, with the teacher"),
                                    ("positional", "m", r"$m/\sigma^2$, with the positions")):
            each, curve = means.loc[branch], tied[branch]
            middle.plot(curve["alpha"], curve[name] / sigma**2, "--", color=TIED)
            if theory:
                curve = theory[branch]
                draw_line(middle, curve["alpha"], curve[name] / unit, curve[f"{name}_error"] / unit, COLOURS[branch])
            middle.errorbar(each.index, each[name] / unit, each[f"{name}_error"] / unit, fmt="o", color=COLOURS[branch],
                            elinewidth=1, label=label)
        middle.set(ylabel="overlap", title="Overlaps of the two students", ylim=(0, None))
        bottom.axhline(baseline, color=BASELINE, linestyle=":", label="best linear model")
        for branch in BRANCHES:
            each, curve = means.loc[branch], tied[branch]
            bottom.plot(curve["alpha"], curve["test_mse"], "--", color=TIED)
            if theory:
                curve = theory[branch]
                draw_line(bottom, curve["alpha"], curve["test_mse"], curve["test_mse_error"], COLOURS[branch])
            bottom.errorbar(each.index, each["test_mse"], each["test_mse_error"], fmt="o", color=COLOURS[branch],
                            elinewidth=1, label=f"{branch} start")
        bottom.set(ylabel=r"test error $\epsilon_g$", title="Test errors", ylim=(0, None))
        for axes in (top, bottom):
            axes.ticklabel_format(axis="y", style="sci", scilimits=(0, 0), useMathText=True)
        _finish((top, middle, bottom), thresholds)
    return figure


def _gap(axes, theory, colour, style, label):
    both = theory["semantic"].merge(theory["positional"], on="alpha", suffixes=("", "_positional"))
    gap = both["train_loss"] - both["train_loss_positional"]
    error = (both["train_loss_error"] ** 2 + both["train_loss_error_positional"] ** 2) ** 0.5
    draw_line(axes, both["alpha"], gap, error, colour, style, label=label)


def _finish(panels, thresholds):
    found = {kind: Mark(*each) for kind, each in thresholds.items() if each}
    first = min(found, key=lambda kind: found[kind].alpha, default=None) if len(found) > 1 else None
    for axes in panels:
        if axes is not panels[0]:
            axes.set_ylim(top=1.12 * axes.get_ylim()[1])  # room for the names
        if "critical" in found:
            mark_threshold(axes, found["critical"], r"$\alpha_c$", NEUTRAL, left=first == "critical")
        axes.legend(loc="best", frameon=True, framealpha=0.8, edgecolor="none")
    if "linear" in found:
        mark_threshold(panels[-1], found["linear"], r"$\alpha_l$", BASELINE, left=first == "linear")
    panels[-1].set(xlabel=r"sample complexity $\alpha = n/d$", xlim=(0, None))


def rank_two(means, theory, tied, linear, baseline, sigma):
    """Figure 11: the rank-2 student from three kinds of start; arguments as for `architecture_slice`.

    Returns
    -------
    matplotlib Figure
    """
    with mpl.rc_context(STYLE):
        figure, (top, middle, bottom) = plt.subplots(3, 1, figsize=(6.4, 10.2), sharex=True)
        curve = theory["semantic"]
        for axes, name in ((top, "train_loss"), (bottom, "test_mse")):
            named = "" if axes is top else "_"  # a label that begins so stays out of the legend: one panel says it
            draw_line(axes, curve["alpha"], curve[name], curve[f"{name}_error"], NEUTRAL, label=f"{named}theory")
            for branch in BRANCHES:
                axes.plot(tied[branch]["alpha"], tied[branch][name], "--", color=COLOURS[branch], linewidth=1,
                          label=f"{named}rank 1, {branch}")
            for start, marker in STARTS.items():
                each = means.loc[start]
                axes.errorbar(each.index, each[name], each[f"{name}_error"], fmt=marker, fillstyle="none",
                              color=NEUTRAL, elinewidth=1, label=f"{named}{start} start")
            axes.ticklabel_format(axis="y", style="sci", scilimits=(0, 0), useMathText=True)
        for name, branch, label in (("theta", "semantic", r"$|\theta|/\sigma^2$, with the teacher"),
                                    ("m", "positional", r"$|m|/\sigma^2$, with the positions")):
            draw_line(middle, curve["alpha"], curve[name] / sigma**2, curve[f"{name}_error"] / sigma**2,
                      COLOURS[branch], label=label)
            for start, marker in STARTS.items():
                each = means.loc[start]
                middle.errorbar(each.index, each[name] / sigma**2, each[f"{name}_error"] / sigma**2, fmt=marker,
                                fillstyle="none", color=COLOURS[branch], elinewidth=1)
        bottom.axhline(baseline, color=BASELINE, linestyle=":", label="best linear model")
        top.set(ylabel=r"training loss $\epsilon_t$", title="Training loss")
        middle.set(ylabel="overlap", title="Overlaps, both columns together", ylim=(0, None))
        bottom.set(ylabel=r"test error $\epsilon_g$", title="Test error", ylim=(0, None))
        _finish((top, middle, bottom), {"linear": linear} if linear else {})
    return figure


def found_minima(informed, runs, sigma):
    """Figure 15: where runs from random starts end, beside the minima that informed starts lead to.

    Parameters
    ----------
    informed, runs : DataFrame
        Results with start, d, m and theta; `runs` with `basin` from `basins.classify`. Informed ones in the dimension
        of the runs and in a larger one.
    sigma : float

    Returns
    -------
    matplotlib Figure
    """
    variance = sigma**2
    with mpl.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(6.4, 5.2))
        for (branch, d), each in informed.groupby(["start", "d"], observed=True):
            same = d == runs["d"].iloc[0]
            axes.scatter(each["m"].abs() / variance, each["theta"].abs() / variance, 14 if same else 40,
                         facecolors="none", edgecolors=COLOURS[branch], linewidths=0.8, marker="o" if same else "D",
                         label=f"{branch} start, L-BFGS, $d={d}$")
        for basin, colour in {**COLOURS, "neither": NEUTRAL}.items():
            each = runs[runs["basin"] == basin]
            axes.scatter(each["m"].abs() / variance, each["theta"].abs() / variance, 22, color=colour, marker="x",
                         label=f"random start, {basin}")
        axes.set_xlabel(r"overlap with the positions $|m|/\sigma^2$")
        axes.set_ylabel(r"overlap with the teacher $|\theta|/\sigma^2$")
        axes.legend(loc="best")
    return figure


def fractions(table):
    """How often each basin is found, over alpha, one panel a dimension and optimiser.

    Parameters
    ----------
    table : DataFrame
        From `basins.fractions`.

    Returns
    -------
    matplotlib Figure
    """
    optimizers, dimensions = sorted(table["optimizer"].unique()), sorted(table["d"].unique())
    with mpl.rc_context(STYLE):
        figure, panels = plt.subplots(len(optimizers), 1, figsize=(6.4, 4.2 * len(optimizers)), sharex=True,
                                      squeeze=False)
        for axes, optimizer in zip(panels[:, 0], optimizers):
            for shade, d in enumerate(dimensions):
                strength = 0.3 + 0.7 * (shade + 1) / len(dimensions)
                for basin, colour in COLOURS.items():
                    same = (table["optimizer"] == optimizer) & (table["d"] == d) & (table["basin"] == basin)
                    each = table[same]
                    errors = (each["fraction"] - each["low"], each["high"] - each["fraction"])
                    axes.errorbar(each["alpha"], each["fraction"], errors, fmt="o-", color=colour, alpha=strength,
                                  elinewidth=1, linewidth=1, label=f"{basin}, $d={d}$")
            axes.set(ylabel="fraction of runs", title={"adam": "Adam", "gd": "Gradient descent"}[optimizer],
                     ylim=(-0.03, 1.03))
            axes.legend(fontsize=8.5, ncols=2)
        panels[-1, 0].set_xlabel(r"sample complexity $\alpha = n/d$")
    return figure
