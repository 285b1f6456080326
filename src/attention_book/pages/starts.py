"""Where many starts lead: from random weights (Figure 15), by basin, and around one valley, to how many minima."""

import numpy as np
import pandas as pd
import torch
from matplotlib import pyplot as plt

from attention_phases.model.two_tokens import overlaps, sample
from attention_phases.theory.small_weights import DIRECTIONS, growth_rates, hessian
from attention_phases.training.optimizers import gradient_descent, start_weights

from ..analysis.basins import cosines
from ..analysis.instances import as_frame, root_mean_squares, with_errors
from ..render.markup import symbol
from ..render.style import ALPHA, COLOURS, NEUTRAL, draw_line, draw_means, draw_points, panels, styled

LEADING = 12  # eigenvectors of the Hessian among which that of a mechanism is looked for
WHERE = ["omega", "alpha", "valley", "noise"]
SAME_LOSS = 1e-8  # L-BFGS leaves less than this above a minimum
SHOWN_STARTS = ((0.3, 0.1), (0.3, 0.3), (0.1, 0.1), (0.1, 1.0))  # omega and noise of the starts


def scatter(table):
    """How many minima the starts around one valley lead to, told apart by their losses.

    By `omega`, `alpha` and `valley`: `starts`; `minima`, their mean number over data sets, the `fewest` and the `most`;
    `scatter`, standard deviation of the training loss between the starts, root mean square over data sets, with its
    error, NaN where all starts end at the same loss.

    table: starts "semantic", "near_semantic" (several) and so on, from the same data.
    """
    where = ["omega", "alpha", "valley"]
    valley = table["start"].astype(str).str.removeprefix("near_")
    losses = table.assign(valley=valley).groupby([*where, "seed"])["train_loss"]
    minima = losses.agg(lambda ends: 1 + (np.diff(np.sort(ends)) > SAME_LOSS).sum()).groupby(where)
    spread = root_mean_squares(losses.var().to_frame("scatter").groupby(where))
    spread = spread.set_axis(["scatter", "scatter_error"], axis=1)
    counts = {
        "starts": losses.size().groupby(where).max(),
        "minima": minima.mean(),
        "fewest": minima.min().astype(int),
        "most": minima.max().astype(int),
    }
    return pd.DataFrame(counts).join(spread.where(spread["scatter"] > SAME_LOSS)).reset_index()


def valleys(table):
    """How many minima the starts in one valley lead to, and how they differ.

    By `omega`, `alpha`, `valley` and `noise` of the experiment "landscape": `starts` on a data set; `minima`, their
    mean number over data sets, and the least and the greatest as a range; `relative_scatter` of the training loss,
    standard deviation over the lowest, mean over data sets (NaN: below 1e-6); `aligned`, cosine of two ends, with its
    standard deviation.
    """
    groups = table.groupby(WHERE)
    per_set = table.groupby([*WHERE, "seed"])
    minima = per_set["minimum"].nunique().groupby(WHERE)
    losses = per_set["train_loss"]
    relative = (losses.std() / losses.min()).groupby(WHERE).mean()
    columns = {
        "starts": groups.size() // groups["seed"].nunique(),
        "minima": minima.mean(),
        "minima_low": minima.min(),
        "minima_high": minima.max(),
        "relative_scatter": relative.where(relative > 1e-6),
        "aligned": groups["aligned"].mean(),
        "aligned_std": groups["aligned"].std(),
    }
    return pd.DataFrame(columns).reset_index()


def growth(task, alphas):
    """`small_weights.growth_rates` by alpha: `bulk`, `positional` and `semantic`, with errors."""
    return as_frame({alpha: growth_rates(task, alpha) for alpha in alphas}, "alpha")


def growth_on_data(task, alphas, d, seeds):
    """Minus the eigenvalues of the Hessian at Q = 0 whose vectors lean most to Q* and to 1_d, by alpha, with errors."""
    rows = []
    for alpha in alphas:
        for seed in range(seeds):
            data = sample(task, alpha, d, np.random.default_rng(seed))
            values, vectors = np.linalg.eigh(hessian(data, task.lam))
            toward = {"semantic": data.teacher.double().numpy(), "positional": np.ones(d)}
            leading = {name: np.argmax((vectors[:, :LEADING].T @ toward[name]) ** 2) for name in DIRECTIONS}
            rows.append({"alpha": alpha} | {name: -values[place] for name, place in leading.items()})
    return with_errors(pd.DataFrame(rows).groupby("alpha"))


def beginning(task, alpha, d, seeds, starts, steps):
    """Root mean square `cosines` of students from random starts after `steps` of descent; errors over data sets."""
    rows = []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        data = sample(task, alpha, d, rng)
        weights = torch.stack([start_weights("random", data.teacher, rng) for _ in range(starts)])
        for before, step in zip((0, *steps), steps):
            weights, _ = gradient_descent(data, task.lam, weights, steps=step - before)
            rows += [{"step": step, "seed": seed, **overlaps(task, student, data.teacher)} for student in weights]
    table = pd.DataFrame(rows)
    squares = cosines(table, task.sigma) ** 2
    return root_mean_squares(squares.groupby([table["step"], table["seed"]]).mean().groupby("step"))


@styled
def draw_growth(theory, measured, course, linear):
    """How overlaps grow from small weights: rates over alpha, and cosines over the steps of descent.

    theory, measured, course: from `growth`, `growth_on_data` and `beginning`.
    linear: `small_weights.growing_cosines` at the first of these steps.
    """
    figure, (rates, growing) = panels(2, 3.7)
    draw_line(rates, theory, "bulk", NEUTRAL, ":", "others, at most")
    for name, own in (("positional", "positions"), ("semantic", "teacher")):
        colour = COLOURS[name]
        draw_line(rates, theory, name, colour, label=f"{own}, theory")
        draw_means(rates, measured, name, colour, label=f"{own}, on data")
        growing.plot(course.index[: len(linear[name])], linear[name], color=colour)
        draw_means(growing, course, f"{name}_rms", colour)
    rates.set(xlabel=ALPHA, ylabel="growth rate", xlim=(0, None), ylim=(0, None))
    growing.set(xlabel="steps of gradient descent", ylabel="cosine, root mean square", yscale="log", ylim=(0.015, 1.1))
    rates.legend(loc="upper left", fontsize=11)
    return figure


@styled
def draw_basins(informed, runs, sigma):
    """Figure 15: where runs of `classify` end, beside the minima that informed starts lead to, in two dimensions."""
    figure, (axes,) = panels(1, 5.2)
    axes.axline((0, 0), slope=1, color="#bbbbbb", linewidth=1)
    for (branch, d), minima in informed.groupby(["start", "d"]):
        marker, size = ("o", 14) if d == runs["d"].iloc[0] else ("D", 40)
        style = {"facecolors": "none", "edgecolors": COLOURS[branch], "linewidths": 0.8, "marker": marker}
        ends = cosines(minima, sigma)
        axes.scatter(ends["positional"], ends["semantic"], size, **style, label=f"{branch} start, L-BFGS, $d={d}$")
    for basin, colour in {**COLOURS, "neither": NEUTRAL}.items():
        ends = runs[runs["basin"] == basin]
        axes.scatter(ends["positional"], ends["semantic"], 22, color=colour, marker="x", label=f"random start, {basin}")
    axes.set(xlabel="cosine with the positions", ylabel="cosine with the teacher")
    axes.legend(loc="lower left", bbox_to_anchor=(-0.1, 1), ncols=2, fontsize=11, columnspacing=1)
    return figure


@styled
def draw_fractions(shares):
    """`fractions` over alpha: one panel for each dimension (rows) and optimiser (columns)."""
    optimizers, dimensions = sorted(shares["optimizer"].unique()), sorted(shares["d"].unique())
    grid, size = (len(dimensions), len(optimizers)), (6.4, 1.9 * len(dimensions) + 1)
    figure, axes = plt.subplots(*grid, figsize=size, sharex=True, sharey=True, squeeze=False)
    by_panel = dict(list(shares.groupby(["d", "optimizer"])))
    for d, row in zip(dimensions, axes):
        for optimizer, panel in zip(optimizers, row):
            _draw_shares(panel, by_panel[d, optimizer])
            panel.set(title=f"{symbol(optimizer).capitalize()}, $d={d}$", ylim=(-0.03, 1.03), yticks=(0, 0.5, 1))
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    figure.supxlabel(ALPHA, fontsize=14)
    figure.supylabel("fraction of runs", fontsize=14)
    return figure


def _draw_shares(axes, shares):
    for (basin, colour), marker in zip(COLOURS.items(), "os"):
        rows = shares[shares["basin"] == basin]
        fraction = rows["fraction"]
        errors = (fraction - rows["low"], rows["high"] - fraction)
        draw_points(axes, rows["alpha"], fraction, errors, colour, f"{marker}-", label=basin)


@styled
def draw_minima(table):
    """Cumulative distributions over starts and data sets of the experiment "landscape", at `SHOWN_STARTS`."""
    figure, (top, bottom) = panels(2, 3.3)
    groups = table.groupby(["omega", "valley", "noise"])
    shown = [(where, ends) for where, ends in groups if (where[0], where[2]) in SHOWN_STARTS]
    for number, ((omega, valley, noise), ends) in enumerate(shown):
        excess = 100 * (ends["train_loss"] / ends.groupby("seed")["train_loss"].transform("min") - 1)
        fractions = (np.arange(len(ends)) + 1) / len(ends)
        look = {
            "color": COLOURS[valley],
            "linestyle": ("-", "--", ":", "-.")[number % 4],
            "drawstyle": "steps-post",
            "label": rf"$\omega={omega:g}$, {valley}, noise {noise:g}",
        }
        top.plot(np.sort(excess), fractions, **look)
        bottom.plot(np.sort(ends["aligned"]), fractions, **look)
    top.set(xlabel="training loss above the lowest on the same data, in %", ylabel="share of the starts")
    bottom.set(xlabel="cosine of the ends of two starts", ylabel="share of the pairs", xlim=(0, 1.02))
    bottom.legend(loc="upper left", fontsize=11)
    return figure
