"""Figures 2, 3, 7, 8 and 9: trained students and theory of the solvable model."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

from .style import BASELINE, COLOURS, NEUTRAL, POSITIONAL, SEMANTIC, STYLE, draw_line, mark_threshold


def fig02(theory, stable, means, gaps, critical, linear, baseline, sigma):
    """Figure 2: a slice of the phase diagram, the paper's three panels above one another on one axis.

    Parameters
    ----------
    theory : dict of DataFrame
        `theory.branch_along` for "semantic", "positional" and "symmetric".
    stable : float
        From this alpha on the semantic solution is a minimum.
    means : dict of DataFrame
        `instances.instance_means` for each optimiser.
    gaps : dict of DataFrame
        `instances.training_gap` for each optimiser.
    critical, linear : theory.Threshold
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


OPTIMIZER_MARKS = {"lbfgs": ("o", "full", "L-BFGS"), "gd": ("s", "none", "gradient descent")}


def _losses(axes, theory, stable, gaps):
    axes.axhline(0, color="#bbbbbb", linewidth=1)
    semantic = theory["semantic"]
    for of, style, label in (
        (theory["symmetric"][theory["symmetric"]["alpha"] <= semantic["alpha"].min()], "--", r"$m=\theta=0$, a saddle"),
        (semantic[semantic["alpha"] <= stable], ":", r"$m=0$, a saddle"),
        (semantic[semantic["alpha"] >= stable], "-", "theory"),
    ):
        both = of.merge(theory["positional"], on="alpha", suffixes=("", "_positional"))
        gap = both["train_loss"] - both["train_loss_positional"]
        error = (both["train_loss_error"] ** 2 + both["train_loss_error_positional"] ** 2) ** 0.5
        draw_line(axes, both["alpha"], gap, error, NEUTRAL, style, label=label)
    for optimizer, each in gaps.items():
        _points(axes, each.index, each.mean(axis=1), each.sem(axis=1), NEUTRAL, optimizer, named=True)
    axes.set(ylabel=r"$\epsilon_t^{\rm semantic}-\epsilon_t^{\rm positional}$", title="Difference of training losses")
    axes.ticklabel_format(axis="y", style="sci", scilimits=(0, 0), useMathText=True)
    axes.text(0.98, 0.93, "positional wins", color=POSITIONAL, transform=axes.transAxes, ha="right")
    axes.text(0.98, 0.68, "semantic wins", color=SEMANTIC, transform=axes.transAxes, ha="right")
    axes.legend(loc="lower left")


def _overlaps(axes, theory, means, gaps, alpha_c, variance):
    for name, branch, label in (
        ("theta", "semantic", r"$\theta/\sigma^2$, with the teacher"),
        ("m", "positional", r"$m/\sigma^2$, with the positions"),
    ):
        winner = _where_lower(theory[branch], branch, alpha_c)
        draw_line(
            axes,
            winner["alpha"],
            winner[name] / variance,
            winner[f"{name}_error"] / variance,
            COLOURS[branch],
            label=label,
        )
        beyond = (0, alpha_c) if branch == "semantic" else (alpha_c, max(theory[branch]["alpha"]))
        axes.plot(beyond, (0, 0), color=COLOURS[branch])
        for optimizer, each in means.items():
            lower = _lower(each, gaps[optimizer])
            _points(
                axes, lower.index, lower[name] / variance, lower[f"{name}_error"] / variance, COLOURS[branch], optimizer
            )
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
            part = lower[lower["start"] == branch]
            _points(axes, part.index, part["test_mse"], part["test_mse_error"], COLOURS[branch], optimizer)
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


def _points(axes, x, y, error, colour, optimizer, named=False):
    marker, fill, name = OPTIMIZER_MARKS[optimizer]
    axes.errorbar(
        x,
        y,
        error,
        fmt=marker,
        color=colour,
        fillstyle=fill,
        elinewidth=1,
        markeredgewidth=1,
        label=name if named else None,
    )


def overlap_plane(means, limits, sigma):
    """Figure 3, left: both minima in the plane of their overlaps, for growing d.

    Parameters
    ----------
    means : DataFrame
        `instances.instance_means` along d.
    limits : dict of theory.Solution
        "semantic" and "positional": the limit of infinite d.
    sigma : float

    Returns
    -------
    matplotlib Figure
    """
    variance = sigma**2
    with mpl.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(6.4, 5.2))
        for branch, found in limits.items():
            each = means.loc[branch]
            axes.plot(each["m"] / variance, each["theta"] / variance, color=COLOURS[branch], linewidth=0.8)
            axes.errorbar(
                each["m"] / variance,
                each["theta"] / variance,
                each["theta_error"] / variance,
                each["m_error"] / variance,
                fmt="none",
                ecolor=COLOURS[branch],
                elinewidth=1,
            )
            axes.scatter(
                each["m"] / variance,
                each["theta"] / variance,
                12 * np.log(each.index),
                COLOURS[branch],
                edgecolors="white",
                linewidths=0.5,
                zorder=3,
                label=f"{branch} start",
            )
            axes.plot(
                found.overlaps.m / variance,
                found.overlaps.theta / variance,
                "*",
                color=COLOURS[branch],
                markeredgecolor="black",
                markersize=17,
                zorder=2,
                label=r"theory, $d=\infty$",
            )
            for d in (each.index.min(), each.index.max()):
                at = each.loc[d, ["m", "theta"]] / variance
                axes.annotate(f"$d={d}$", at, xytext=(14, -20), textcoords="offset points", color=COLOURS[branch])
        axes.set_xlabel(r"overlap with the positions $m/\sigma^2$")
        axes.set_ylabel(r"overlap with the teacher $\theta/\sigma^2$")
        axes.legend(loc="upper right")
    return figure


def phase_map(maps, label, sides, lines, points):
    """Maps over alpha and omega above one another, on one colour scale.

    Parameters
    ----------
    maps : dict of DataFrame
        Title to values, alpha (rows) by omega (columns).
    label : str
        Of the colour bar.
    sides : (str, str)
        Colours of the negative and of the positive values.
    lines : list of (DataFrame, str, str, str)
        omega as index, alpha and alpha_error; label, colour, line style.
    points : list of (DataFrame, int, str, str)
        omega as index, alpha and alpha_error; panel, label, marker.

    Returns
    -------
    matplotlib Figure
    """
    colours = mpl.colors.LinearSegmentedColormap.from_list("sides", [sides[0], "white", sides[1]])
    # The largest values stand in a corner; beyond this share of them all cells have the full colour.
    largest = max(np.nanquantile(np.abs(each), 0.95) for each in maps.values())
    with mpl.rc_context(STYLE):
        height = (5.2 if len(maps) < 3 else 4.6) * len(maps) + 0.9
        figure, panels = plt.subplots(len(maps), 1, figsize=(6.4, height), sharex=True, squeeze=False)
        for number, (axes, (title, values)) in enumerate(zip(panels[:, 0], maps.items())):
            mesh = axes.pcolormesh(
                values.columns,
                values.index,
                values.to_numpy(),
                cmap=colours,
                vmin=-largest,
                vmax=largest,
                shading="nearest",
                edgecolors="face",
                linewidth=0.2,
            )
            for curve, name, colour, style in lines:
                draw_line(axes, curve.index, curve["alpha"], curve["alpha_error"], colour, style, label=name)
            for each, panel, name, marker in points:
                if panel == number:
                    axes.errorbar(
                        each.index,
                        each["alpha"],
                        each["alpha_error"],
                        fmt=marker,
                        color="black",
                        markerfacecolor="white",
                        elinewidth=1,
                        markersize=5,
                        label=name,
                    )
            axes.set(
                title=title,
                ylabel=r"sample complexity $\alpha = n/d$",
                ylim=(0, values.index.max() + 0.04),
                xlim=(values.columns.min() - 0.012, values.columns.max() + 0.012),
            )
            beside = {"ncols": 2, "fontsize": 11, "columnspacing": 1, "borderpad": 0}
            axes.legend(loc="lower left", bbox_to_anchor=(-0.1, 1.06), **beside)
        panels[-1, 0].set_xlabel(r"positional share of the teacher $\omega$")
        bar = figure.colorbar(
            mesh,
            ax=panels[:, 0],
            orientation="horizontal",
            label=label,
            extend="both",
            aspect=35,
            ticks=mpl.ticker.MaxNLocator(6),
        )
        bar.formatter.set_powerlimits((0, 0))
        bar.formatter.set_useMathText(True)
    return figure


def fig07(means, limits, baselines, baseline):
    """Figure 7: test error of both minima and of the linear models against the dimension.

    Parameters
    ----------
    means, limits
        As for `overlap_plane`.
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
            axes.errorbar(
                each.index,
                each["test_mse"],
                each["test_mse_error"],
                fmt="o",
                color=COLOURS[branch],
                elinewidth=1,
                label=f"trained, {branch} start",
            )
        axes.axhline(baseline, color=BASELINE, linestyle="--", label=r"theory, $d=\infty$, linear")
        for read, marker in (("tokens", "s"), ("tokens and positions", "x")):
            axes.errorbar(
                baselines.index,
                baselines[read],
                baselines[f"{read}_error"],
                fmt=marker,
                color=BASELINE,
                markerfacecolor="none",
                markersize=6,
                elinewidth=1,
                label=f"linear model reading {read}",
            )
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
    shades, markers, styles = (0.4, 0.65, 1.0), "os^", ("-", "--", ":")
    with mpl.rc_context(STYLE):
        figure, rows = plt.subplots(len(panels), 1, figsize=(6.4, 4.4 * len(panels)), sharex=True)
        for axes, (name, values) in zip(rows, panels.items()):
            label = {"omega": r"$\omega$", "sigma": r"$\sigma$", "lam": r"$\lambda$"}[name]
            for (value, means, lines, baseline), shade, marker, style in zip(values, shades, markers, styles):
                for branch, colour in COLOURS.items():
                    faded = mpl.colors.to_rgb(colour)
                    faded = tuple(shade * part + (1 - shade) for part in faded)
                    each = means.loc[branch]
                    axes.errorbar(
                        each.index, each["test_mse"], each["test_mse_error"], fmt=marker, color=faded, elinewidth=1
                    )
                    curve = lines[branch]
                    draw_line(axes, curve["alpha"], curve["test_mse"], curve["test_mse_error"], faded, style)
                axes.axhline(baseline, color=BASELINE, linestyle=style, linewidth=1)
                axes.plot([], [], marker + style, color=str(1 - shade), label=f"{label} = {value:g}")
            axes.set(yscale="log", ylabel=r"test error $\epsilon_g$")
            axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3)
        rows[-1].set_xlabel(r"sample complexity $\alpha = n/d$")
    return figure
