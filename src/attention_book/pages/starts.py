"""Where many starts lead: from random weights (Figure 15), by basin, and around one valley, to how many minima."""

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt

from attention_phases.model.two_tokens import sample
from attention_phases.theory.small_weights import DIRECTIONS, growth_rates, hessian

from ..analysis.basins import cosines
from ..analysis.instances import as_frame, root_mean_squares, with_errors
from ..render.markup import symbol
from ..render.style import ALPHA, COLOURS, NEUTRAL, draw_line, draw_means, draw_points, panels, styled

LEADING = 12  # eigenvectors of the Hessian among which that of a mechanism is looked for


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


def by_step(table, sigma):
    """Root mean square `cosines` of the experiment "first_steps" after each step; errors over data sets."""
    squares = cosines(table, sigma) ** 2
    return root_mean_squares(squares.groupby([table["step"], table["seed"]]).mean().groupby("step"))


@styled
def draw_growth(theory, measured, course, linear):
    """How overlaps grow from small weights: rates over alpha, and cosines over the steps of descent.

    theory, measured, course: from `growth`, `growth_on_data` and `by_step`.
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
