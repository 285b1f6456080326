"""Figure 7: test errors of both minima and of the linear models against the dimension."""

import pandas as pd

from ..analysis.instances import with_errors
from ..render.style import BASELINE, COLOURS, TEST_ERROR, draw_means, panels, scientific, styled

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
