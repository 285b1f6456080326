"""Figures 2, 3 (left) and 7: both students along alpha or the dimension, beside theory and the paper."""

import numpy as np
import pandas as pd

from attention_phases.measured import Measured
from attention_phases.task import Task
from attention_phases.theory.branches import OWN
from attention_phases.theory.quadrature import SCRAMBLES

from .. import published
from ..analysis.instances import absolute_means, with_errors
from ..published import Comparison, compare
from ..render.style import (
    BASELINE,
    COLOURS,
    NEUTRAL,
    OPAQUE,
    OVERLAP_LABELS,
    POSITIONAL,
    SEMANTIC,
    TEST_ERROR,
    draw_line,
    draw_means,
    draw_points,
    mark_threshold,
    panels,
    scientific,
    slice_panels,
    styled,
)
from .phase_diagram import theory_comparison

READ = {"tokens": "s", "tokens and positions": "x"}  # by a linear model; its marker


def solutions_beside_published(task, solutions, thresholds):
    """Published thresholds, and order parameters at alpha = 2, beside ours, as from `published.compare`.

    Empty where the paper gives nothing for this task.

    solutions: the `theory.Solution` of each branch at alpha = 2.
    thresholds: `Measured` alpha of "critical" and "linear".
    """
    comparisons = []
    if task == Task(omega=task.omega):
        comparisons += [
            theory_comparison(kind, task.omega, alpha, SCRAMBLES)
            for kind, alpha in thresholds.items()
            if task.omega in published.THRESHOLDS[kind]
        ]
    if task == Task():
        for branch, solution in solutions.items():
            values = solution.overlaps._asdict() | vars(solution)
            for name, known in published.THEORY[branch].items():
                ours, where = Measured(values[name], solution.stderr[name]), {"alpha": 2.0, "branch": branch}
                comparisons.append(Comparison(name, where, known, ours, "theory", SCRAMBLES, "quadrature"))
    return compare(comparisons)


def means_beside_published(task, table):
    """The published positional student beside ours, by gradient descent where there is one.

    As from `published.compare`; empty where the paper gives nothing for this task.
    """
    if task != Task():
        return compare([])
    optimizer = "gd" if "gd" in set(table["optimizer"]) else table["optimizer"].iloc[0]
    rows = table[(table["optimizer"] == optimizer) & (table["start"] == "positional")]
    means, count = absolute_means(rows, task.sigma).loc["positional"], int(rows["seed"].nunique())
    means.index = means.index.to_numpy().round(4)
    comparisons = []
    for alpha in sorted(published.EXPERIMENT.keys() & set(means.index)):
        where = {"alpha": alpha, "branch": "positional", "optimizer": optimizer}
        for name, known in published.EXPERIMENT[alpha].items():
            ours = Measured(*means.loc[alpha, [name, f"{name}_error"]])
            same = name != "linear_mse"
            reason = "instances" if same else "definition"
            comparisons.append(Comparison(name, where, known, ours, "students", count, reason, same))
    return compare(comparisons)


def baseline_means(cells):
    """Means over data sets of both linear baselines, and of what lies between them, with errors.

    By d: "tokens", "tokens and positions" (`simulation.linear_baselines`), and "difference" (the second minus the
    first, on the same data). Each of the `cells` names a data set.
    """
    from ..experiments.simulation import linear_baselines  # with torch, slow to load

    errors = pd.DataFrame([{"d": cell.d, **linear_baselines(cell)} for cell in cells])
    errors["difference"] = errors["tokens and positions"] - errors["tokens"]
    return with_errors(errors.groupby("d"))


def sizes_beside_published(table, task, names):
    """Published students of Figures 3, left, and 7 in growing dimension beside ours, as from `published.compare`.

    table: the experiment "fig07", of gradient descent; `names` are keys of `published.SCALING`.
    """
    means, seeds = absolute_means(table, task.sigma, along="d"), int(table["seed"].nunique())
    comparisons = []
    for name in names:
        start = "positional" if name == "m/sigma^2" else "semantic"
        ours = means.loc[start, [name, f"{name}_error"]]
        for d in sorted(published.SCALING[name].keys() & set(ours.index)):
            known, where = published.SCALING[name][d], {"d": d, "branch": start}
            comparisons.append(Comparison(name, where, known, Measured(*ours.loc[d]), "students", seeds, "instances"))
    return compare(comparisons)


@styled
def draw_slice(theory, stable, means, gap, thresholds, baseline, sigma):
    """Figure 2, the paper's three panels above one another on one axis.

    theory: from `thresholds.branches`; the semantic solution is a minimum from alpha = `stable` on.
    means, gap: `instance_means` and `training_gap` of the students.
    thresholds: `Measured` alpha of "critical" and "linear".
    baseline: test error of the linear model.
    """
    critical, linear = thresholds["critical"], thresholds["linear"]
    figure, rows = slice_panels(3.4)
    losses, overlaps, errors = rows
    lower = _lower_start(means, gap)
    _draw_losses(losses, theory, stable, gap)
    _draw_overlaps(overlaps, theory, lower, critical.value, sigma**2)
    _draw_test_errors(errors, theory, lower, critical.value, baseline)
    for axes in rows:
        mark_threshold(axes, critical, r"$\alpha_c$", NEUTRAL, left=axes is losses)
    mark_threshold(errors, linear, r"$\alpha_l$", BASELINE)
    errors.set_xlim(0, None)
    return figure


def _lower_start(means, gap):
    """At each alpha the means of the start whose mean training loss is lower."""
    start = (gap.mean(axis=1) < 0).map({True: "semantic", False: "positional"})
    return means.loc[list(zip(start, start.index))].reset_index("start")


def _draw_losses(axes, theory, stable, students):
    axes.axhline(0, color="#bbbbbb", linewidth=1)
    semantic, symmetric = theory["gap"], theory["symmetric gap"]
    before = symmetric[symmetric.index <= semantic.index.min()]
    draw_line(axes, before, "train_loss", NEUTRAL, "--", r"$m=\theta=0$, a saddle")
    draw_line(axes, semantic[semantic.index <= stable], "train_loss", NEUTRAL, ":", r"$m=0$, a saddle")
    draw_line(axes, semantic[semantic.index >= stable], "train_loss", NEUTRAL, "-", "theory")
    draw_points(axes, students.index, students.mean(axis=1), students.sem(axis=1), NEUTRAL, label="trained students")
    axes.set_title("Difference of training losses")
    low, high = axes.get_ylim()
    axes.set_ylim(low, high + 0.15 * (high - low))
    axes.text(0.02, 0.93, "positional wins", color=POSITIONAL, transform=axes.transAxes, fontsize=12)
    below = {"xycoords": axes.get_yaxis_transform(), "xytext": (0, -9), "textcoords": "offset points", "va": "top"}
    axes.annotate("semantic wins", (0.02, 0), color=SEMANTIC, fontsize=12, **below)
    axes.legend(loc="lower left", **OPAQUE)


def _draw_overlaps(axes, theory, lower, alpha_c, variance):
    for branch, colour in COLOURS.items():
        name, winner = OWN[branch], _where_lower(theory[branch], branch, alpha_c)
        draw_line(axes, winner, name, colour, label=OVERLAP_LABELS[branch], unit=variance)
        beyond = (0, alpha_c) if branch == "semantic" else (alpha_c, theory[branch].index.max())
        axes.plot(beyond, (0, 0), color=colour)
        for own, rows in lower.groupby(lower["start"] == branch):
            which = name if own else f"{name}_rms"
            draw_means(axes, rows, which, colour, unit=variance, label="_trained students")
    axes.set_title("Overlaps of the solution with the lower loss")
    axes.legend(loc="center right", bbox_to_anchor=(1, 0.25), **OPAQUE)


def _draw_test_errors(axes, theory, lower, alpha_c, baseline):
    axes.axhline(baseline, color=BASELINE, linestyle=":", label="best linear model")
    for branch, colour in COLOURS.items():
        draw_line(axes, _where_lower(theory[branch], branch, alpha_c), "test_mse", colour, label=branch)
        draw_means(axes, lower[lower["start"] == branch], "test_mse", colour, label="_trained students")
    axes.set(title="Test error of the solution with the lower loss", ylim=(0, None))
    axes.legend(loc="lower left", **OPAQUE)


def _where_lower(curve, branch, alpha_c):
    """The part of a branch on which its training loss is the lower one."""
    return curve[curve.index >= alpha_c] if branch == "semantic" else curve[curve.index <= alpha_c]


@styled
def draw_dimensions(means, limits, baselines, baseline):
    """Figure 7: test error of both minima and of the linear models against the dimension.

    means, baselines: `instance_means` along d, and `baseline_means`.
    limits, baseline: at infinite d: the `theory.Solution` of both branches, and the linear model's test error.
    """
    figure, (axes,) = panels(1, 6.8)
    for branch, limit in limits.items():
        value, error, colour = limit.test_mse, limit.stderr["test_mse"], COLOURS[branch]
        axes.axhline(value, color=colour, label=rf"theory, $d=\infty$, {branch}")
        axes.axhspan(value - error, value + error, color=colour, alpha=0.3, linewidth=0)
        draw_means(axes, means.loc[branch], "test_mse", colour, label=f"trained, {branch} start")
    axes.axhline(baseline, color=BASELINE, linestyle="--", label=r"theory, $d=\infty$, linear")
    for read, marker in READ.items():
        look = {"markerfacecolor": "none", "markersize": 6, "label": f"linear model reading {read}"}
        draw_means(axes, baselines, read, BASELINE, marker, **look)
    axes.set(xscale="log", xlabel="embedding dimension $d$", ylabel=TEST_ERROR, ylim=(0, None))
    scientific(axes)
    figure.legend(loc="outside lower center", ncols=1)
    return figure


@styled
def draw_overlaps(means, limits, sigma):
    """Figure 3, left: both minima in the plane of their overlaps, for growing d.

    Of the overlap that a start is not named after, whose sign is random, the root mean square is drawn.

    means, limits: `instance_means` along d, and the `theory.Solution` of both branches at infinite d.
    """
    variance = sigma**2
    figure, (axes,) = panels(1, 5.2)
    star = {"markeredgecolor": "black", "markersize": 17, "zorder": 2, "clip_on": False}
    for branch, limit in limits.items():
        rows, colour = means.loc[branch] / variance, COLOURS[branch]
        x, y = (rows[name if name == OWN[branch] else f"{name}_rms"] for name in ("m", "theta"))
        axes.plot(x, y, color=colour, linewidth=0.8)
        errors = {"yerr": rows[f"{y.name}_error"], "xerr": rows[f"{x.name}_error"]}
        axes.errorbar(x, y, **errors, fmt=" ", color=colour, elinewidth=1, label=f"_{branch} start")
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
