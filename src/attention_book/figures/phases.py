"""Figures 2, 7 and 8: slices of the solvable model, trained students and theory."""

import matplotlib as mpl
import matplotlib.pyplot as plt

from attention_phases.theory.branches import OWN

from ..render.style import (
    BASELINE,
    COLOURS,
    NEUTRAL,
    POSITIONAL,
    SEMANTIC,
    STYLE,
    draw_line,
    draw_means,
    draw_points,
    mark_threshold,
)


def fig02(theory, stable, means, gaps, critical, linear, baseline, sigma):
    """Figure 2: a slice of the phase diagram, the paper's three panels above one another on one axis.

    Parameters
    ----------
    theory : dict of DataFrame
        From `lines.branches`.
    stable : float
        From this alpha on the semantic solution is a minimum.
    means : dict of DataFrame
        `instances.instance_means` for each optimiser.
    gaps : dict of DataFrame
        `instances.training_gap` for each optimiser.
    critical, linear : lines.Mark
    baseline : float
        Test error of the linear model.
    sigma : float

    Returns
    -------
    matplotlib Figure
    """
    with mpl.rc_context(STYLE):
        figure, (top, middle, bottom) = plt.subplots(3, 1, figsize=(6.4, 10.2), sharex=True)
        _losses(top, theory, stable, gaps)
        _overlaps(middle, theory, means, gaps, critical.alpha, sigma**2)
        _test_errors(bottom, theory, means, gaps, critical.alpha, baseline)
        for axes in (top, middle, bottom):
            mark_threshold(axes, critical, r"$\alpha_c$", NEUTRAL)
        mark_threshold(bottom, linear, r"$\alpha_l$", BASELINE)
        bottom.set(xlabel=r"sample complexity $\alpha = n/d$", xlim=(0, None))
    return figure


OPTIMIZER_MARKS = {
    "lbfgs": {"marker": "o", "label": "L-BFGS"},
    "gd": {"marker": "s", "fillstyle": "none", "label": "gradient descent"},
}


def _losses(axes, theory, stable, gaps):
    axes.axhline(0, color="#bbbbbb", linewidth=1)
    semantic, symmetric = theory["gap"], theory["symmetric gap"]
    for gap, style, label in (
        (symmetric[symmetric["alpha"] <= semantic["alpha"].min()], "--", r"$m=\theta=0$, a saddle"),
        (semantic[semantic["alpha"] <= stable], ":", r"$m=0$, a saddle"),
        (semantic[semantic["alpha"] >= stable], "-", "theory"),
    ):
        draw_line(axes, gap["alpha"], gap["train_loss"], gap["train_loss_error"], NEUTRAL, style, label=label)
    for optimizer, each in gaps.items():
        draw_points(axes, each.index, each.mean(axis=1), each.sem(axis=1), NEUTRAL, **OPTIMIZER_MARKS[optimizer])
    axes.set(ylabel=r"$\epsilon_t^{\rm semantic}-\epsilon_t^{\rm positional}$", title="Difference of training losses")
    axes.ticklabel_format(axis="y", style="sci", scilimits=(0, 0), useMathText=True)
    axes.text(0.98, 0.93, "positional wins", color=POSITIONAL, transform=axes.transAxes, ha="right")
    axes.text(0.98, 0.68, "semantic wins", color=SEMANTIC, transform=axes.transAxes, ha="right")
    axes.legend(loc="lower left")


def _overlaps(axes, theory, means, gaps, alpha_c, variance):
    for branch, label in (
        ("semantic", r"$\theta/\sigma^2$, with the teacher"),
        ("positional", r"$m/\sigma^2$, with the positions"),
    ):
        name, colour = OWN[branch], COLOURS[branch]
        won = _where_lower(theory[branch], branch, alpha_c)
        draw_line(axes, won["alpha"], won[name] / variance, won[f"{name}_error"] / variance, colour, label=label)
        beyond = (0, alpha_c) if branch == "semantic" else (alpha_c, max(theory[branch]["alpha"]))
        axes.plot(beyond, (0, 0), color=colour)
        for optimizer, each in means.items():
            lower, marks = _lower(each, gaps[optimizer]), OPTIMIZER_MARKS[optimizer] | {"label": None}
            for own, part in lower.groupby(lower["start"] == branch):
                draw_means(axes, part, name if own else f"{name}_rms", colour, variance, **marks)
    axes.set(ylabel="overlap", title="Overlaps of the solution with the lower loss")
    axes.legend(loc="center right", bbox_to_anchor=(1, 0.78))


def _test_errors(axes, theory, means, gaps, alpha_c, baseline):
    axes.axhline(baseline, color=BASELINE, linestyle=":", label="best linear model")
    for branch in ("semantic", "positional"):
        curve = theory[branch]
        winner = _where_lower(curve, branch, alpha_c)
        draw_line(axes, winner["alpha"], winner["test_mse"], winner["test_mse_error"], COLOURS[branch], label=branch)
    for optimizer, each in means.items():
        lower = _lower(each, gaps[optimizer])
        for branch in ("semantic", "positional"):
            marks = OPTIMIZER_MARKS[optimizer] | {"label": None}
            draw_means(axes, lower[lower["start"] == branch], "test_mse", COLOURS[branch], **marks)
    axes.set(ylabel=r"test error $\epsilon_g$", title="Test error of the solution with the lower loss", ylim=(0, None))
    axes.ticklabel_format(axis="y", style="sci", scilimits=(0, 0), useMathText=True)
    axes.legend(loc="lower left")


def _where_lower(curve, branch, alpha_c):
    """The part of a branch on which its training loss is the lower one."""
    return curve[curve["alpha"] >= alpha_c] if branch == "semantic" else curve[curve["alpha"] <= alpha_c]


def _lower(means, gaps):
    """At each alpha the means of the start whose mean training loss is lower."""
    start = (gaps.mean(axis=1) < 0).map({True: "semantic", False: "positional"})
    chosen = means.loc[list(zip(start, start.index))]
    return chosen.reset_index("start")


def fig07(means, limits, baselines, baseline):
    """Figure 7: test error of both minima and of the linear models against the dimension.

    Parameters
    ----------
    means, limits
        As for `maps.overlap_plane`.
    baselines : DataFrame
        From `instances.baseline_means`.
    baseline : float
        Test error of the linear model at infinite dimension.

    Returns
    -------
    matplotlib Figure
    """
    with mpl.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(6.4, 6.8))
        for branch, found in limits.items():
            each = means.loc[branch]
            axes.axhline(found.test_mse, color=COLOURS[branch], label=rf"theory, $d=\infty$, {branch}")
            error = found.stderr["test_mse"]
            axes.axhspan(found.test_mse - error, found.test_mse + error, color=COLOURS[branch], alpha=0.3, linewidth=0)
            draw_means(axes, each, "test_mse", COLOURS[branch], label=f"trained, {branch} start")
        axes.axhline(baseline, color=BASELINE, linestyle="--", label=r"theory, $d=\infty$, linear")
        for read, marker in (("tokens", "s"), ("tokens and positions", "x")):
            label = f"linear model reading {read}"
            draw_means(axes, baselines, read, BASELINE, 1, marker, markerfacecolor="none", markersize=6, label=label)
        axes.set(xscale="log", xlabel="embedding dimension $d$", ylabel=r"test error $\epsilon_g$", ylim=(0, None))
        axes.ticklabel_format(axis="y", style="sci", scilimits=(0, 0), useMathText=True)
        figure.legend(loc="outside lower center", ncols=1)
    return figure


def fig08(panels):
    """Figure 8: test error of both minima over alpha, for three values each of three parameters.

    Parameters
    ----------
    panels : dict
        From `instances.changed`.

    Returns
    -------
    matplotlib Figure
    """
    shades, markers, styles = (0.5, 0.75, 1.0), "os^", ("-", "--", ":")
    with mpl.rc_context(STYLE):
        figure, rows = plt.subplots(len(panels), 1, figsize=(6.4, 4.4 * len(panels)), sharex=True)
        for axes, (name, values) in zip(rows, panels.items()):
            label = {"omega": r"$\omega$", "sigma": r"$\sigma$", "lam": r"$\lambda$"}[name]
            lowest = min(means["test_mse"].min() for _, means, _, _ in values)
            for (value, means, lines, baseline), shade, marker, style in zip(values, shades, markers, styles):
                for branch, colour in COLOURS.items():
                    faded = mpl.colors.to_rgb(colour)
                    faded = tuple(shade * part + (1 - shade) for part in faded)
                    each = means.loc[branch]
                    draw_means(axes, each, "test_mse", faded, 1, marker)
                    curve = lines[branch]
                    draw_line(axes, curve["alpha"], curve["test_mse"], curve["test_mse_error"], faded, style)
                if baseline > lowest / 2:
                    axes.axhline(baseline, color=BASELINE, linestyle=style, linewidth=1)
                else:  # far below: its line would leave half of the panel empty
                    below = f"linear model at {label} = {value:g}, below: {1e3 * baseline:.2f}" + r"$\cdot10^{-3}$"
                    axes.text(0.02, 0.03, below, color=BASELINE, transform=axes.transAxes, fontsize=12)
                axes.plot([], [], marker + style, color=str(1 - shade), label=f"{label} = {value:g}")
            axes.set(yscale="log", ylabel=r"test error $\epsilon_g$")
            axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3)
        rows[-1].set_xlabel(r"sample complexity $\alpha = n/d$")
    return figure
