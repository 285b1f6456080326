"""Figures 3 (left) and 7: both students along the dimension, beside theory."""

import numpy as np
import pandas as pd

from attention_phases.theory.branches import OWN

from ..analysis.instances import with_errors
from ..render.style import (
    BASELINE,
    COLOURS,
    TEST_ERROR,
    draw_means,
    panels,
    scientific,
    styled,
)

READ = {"tokens": "s", "tokens and positions": "x"}  # by a linear model; its marker


def baseline_means(cells):
    """Means over data sets of both linear baselines, and of what lies between them, with errors.

    By d: "tokens", "tokens and positions" (`simulation.linear_baselines`), and "difference" (the second minus the
    first, on the same data). Each of the `cells` names a data set.
    """
    from ..experiments.simulation import linear_baselines  # with torch, slow to load

    errors = pd.DataFrame([{"d": cell.d, **linear_baselines(cell)} for cell in cells])
    errors["difference"] = errors["tokens and positions"] - errors["tokens"]
    return with_errors(errors.groupby("d"))


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
