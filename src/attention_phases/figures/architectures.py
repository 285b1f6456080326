"""Figures 10 to 15: other architectures, and where training from nothing ends."""

from collections import namedtuple

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

from .style import BASELINE, COLOURS, NEUTRAL, STYLE, draw_line, mark_threshold

TIED = "#999999"
BRANCHES = ("semantic", "positional")
Mark = namedtuple("Mark", "alpha stderr")
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
        "semantic" and "positional", dotted where the gain exceeds 1; empty where there is no theory.
    tied : dict of DataFrame
        The same of the standard student on independent tokens.
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
        _theory(top, _gap(tied), "train_loss", 1, TIED, "--", reference)
        if theory:
            _theory(top, _gap(theory), "train_loss", 1, NEUTRAL, label="theory")
        top.errorbar(
            gaps.index, gaps.mean(axis=1), gaps.sem(axis=1), fmt="o", color=NEUTRAL, elinewidth=1, label="trained"
        )
        top.set_ylabel(r"$\epsilon_t^{\rm semantic}-\epsilon_t^{\rm positional}$")
        for branch, name, label in (
            ("semantic", "theta", r"$\theta/\sigma^2$, with the teacher"),
            ("positional", "m", r"$m/\sigma^2$, with the positions"),
        ):
            each = means.loc[branch]
            middle.plot(tied[branch]["alpha"], tied[branch][name] / sigma**2, "--", color=TIED)
            if theory:
                _theory(middle, theory[branch], name, unit, COLOURS[branch])
            middle.errorbar(
                each.index,
                each[name] / unit,
                each[f"{name}_error"] / unit,
                fmt="o",
                color=COLOURS[branch],
                elinewidth=1,
                label=label,
            )
        middle.set(ylabel="overlap", ylim=(0, None))
        bottom.axhline(baseline, color=BASELINE, linestyle=":", label="best linear model")
        for branch in BRANCHES:
            each = means.loc[branch]
            bottom.plot(tied[branch]["alpha"], tied[branch]["test_mse"], "--", color=TIED)
            if theory:
                _theory(bottom, theory[branch], "test_mse", 1, COLOURS[branch])
            bottom.errorbar(
                each.index,
                each["test_mse"],
                each["test_mse_error"],
                fmt="o",
                color=COLOURS[branch],
                elinewidth=1,
                label=f"{branch} start",
            )
        bottom.set(ylabel=r"test error $\epsilon_g$", ylim=(0, None))
        for axes in (top, bottom):
            axes.ticklabel_format(axis="y", style="sci", scilimits=(0, 0), useMathText=True)
        titles = ("Training losses", "Overlaps of the two students", "Test errors")
        _finish(dict(zip(titles, (top, middle, bottom))), thresholds)
    return figure


def _gap(theory):
    """Training loss of the semantic branch less that of the positional one, a saddle where the semantic one is."""
    both = theory["semantic"].merge(theory["positional"], on="alpha", suffixes=("", "_positional"))
    error = (both["train_loss_error"] ** 2 + both["train_loss_error_positional"] ** 2) ** 0.5
    return both.assign(train_loss=both["train_loss"] - both["train_loss_positional"], train_loss_error=error)


def _theory(axes, curve, name, unit, colour, style="-", label=None):
    """A curve of theory with its band; dotted where it is a saddle."""
    saddle = curve["gain"] > 1 if "gain" in curve else np.zeros(len(curve), bool)
    beside = saddle | saddle.shift(1, fill_value=False) | saddle.shift(-1, fill_value=False) if saddle.any() else saddle
    for part, line, said in ((curve[~saddle], style, label), (curve[beside], ":", None)):
        draw_line(axes, part["alpha"], part[name] / unit, part[f"{name}_error"] / unit, colour, line, label=said)


def _finish(panels, thresholds):
    """Titles, legends between them and the panels, where they cover nothing, and thresholds."""
    found = {kind: Mark(*each) for kind, each in thresholds.items() if each}
    first = min(found, key=lambda kind: found[kind].alpha, default=None) if len(found) > 1 else None
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
                axes.errorbar(
                    each.index,
                    each[name],
                    each[f"{name}_error"],
                    fmt=marker,
                    fillstyle="none",
                    color=COLOURS.get(start, NEUTRAL),
                    elinewidth=1,
                    label=f"{named}{start} start",
                )
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
                middle.errorbar(
                    each.index,
                    each[name] / sigma**2,
                    each[f"{name}_error"] / sigma**2,
                    fmt=marker,
                    fillstyle="none",
                    color=COLOURS[branch],
                    elinewidth=1,
                )
        bottom.axhline(baseline, color=BASELINE, linestyle=":", label="best linear model")
        top.set_ylabel(r"training loss $\epsilon_t$")
        middle.set(ylabel="overlap", ylim=(0, None))
        bottom.set(ylabel=r"test error $\epsilon_g$", ylim=(0, None))
        titles = ("Training loss", "Overlaps, both columns together", "Test error")
        _finish(dict(zip(titles, (top, middle, bottom))), {"linear": linear} if linear else {})
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
            axes.scatter(
                each["m"].abs() / variance,
                each["theta"].abs() / variance,
                14 if same else 40,
                facecolors="none",
                edgecolors=COLOURS[branch],
                linewidths=0.8,
                marker="o" if same else "D",
                label=f"{branch} start, L-BFGS, $d={d}$",
            )
        for basin, colour in {**COLOURS, "neither": NEUTRAL}.items():
            each = runs[runs["basin"] == basin]
            axes.scatter(
                each["m"].abs() / variance,
                each["theta"].abs() / variance,
                22,
                color=colour,
                marker="x",
                label=f"random start, {basin}",
            )
        axes.set_xlabel(r"overlap with the positions $|m|/\sigma^2$")
        axes.set_ylabel(r"overlap with the teacher $|\theta|/\sigma^2$")
        axes.legend(loc="best")
    return figure


def fractions(table):
    """How often each basin is found, over alpha, one panel an optimiser; dimensions stand beside each other.

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
        figure, panels = plt.subplots(
            len(optimizers), 1, figsize=(6.4, 4.2 * len(optimizers)), sharex=True, squeeze=False
        )
        for axes, optimizer in zip(panels[:, 0], optimizers):
            for shade, d in enumerate(dimensions):
                strength = 0.3 + 0.7 * (shade + 1) / len(dimensions)
                for basin, colour in COLOURS.items():
                    same = (table["optimizer"] == optimizer) & (table["d"] == d) & (table["basin"] == basin)
                    each = table[same]
                    errors = (each["fraction"] - each["low"], each["high"] - each["fraction"])
                    aside = 0.04 * (shade - (len(dimensions) - 1) / 2)
                    axes.errorbar(
                        each["alpha"] + aside,
                        each["fraction"],
                        errors,
                        fmt="o-",
                        color=colour,
                        alpha=strength,
                        elinewidth=1,
                        linewidth=1,
                        markersize=4,
                        label=f"{basin}, $d={d}$",
                    )
            axes.set(
                ylabel="fraction of runs",
                title={"adam": "Adam", "gd": "Gradient descent"}[optimizer],
                ylim=(-0.03, 1.03),
            )
        panels[-1, 0].legend(loc="upper center", bbox_to_anchor=(0.5, -0.18), fontsize=11, ncols=2)
        panels[-1, 0].set_xlabel(r"sample complexity $\alpha = n/d$")
    return figure
