"""Figures 3, 9 and 14: minima in the plane of their overlaps, and maps over alpha and omega."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

from attention_phases.theory.branches import OWN

from ..render.style import COLOURS, STYLE, draw_line, draw_means


def overlap_plane(means, limits, sigma):
    """Figure 3, left: both minima in the plane of their overlaps, for growing d.

    Of the overlap that a start is not named after, whose sign is random, the root mean square is drawn.

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
            each = means.loc[branch] / variance
            x, y = (each[name if name == OWN[branch] else f"{name}_rms"] for name in ("m", "theta"))
            x_error, y_error = (each[f"{column.name}_error"] for column in (x, y))
            colour = COLOURS[branch]
            axes.plot(x, y, color=colour, linewidth=0.8)
            axes.errorbar(x, y, y_error, x_error, fmt="none", ecolor=colour, elinewidth=1)
            sizes = 12 * np.log(each.index)
            axes.scatter(x, y, sizes, colour, edgecolors="white", linewidths=0.5, zorder=3, label=f"{branch} start")
            axes.plot(
                found.overlaps.m / variance,
                found.overlaps.theta / variance,
                "*",
                color=colour,
                markeredgecolor="black",
                markersize=17,
                zorder=2,
                clip_on=False,
                label=r"theory, $d=\infty$",
            )
            for d in (each.index.min(), each.index.max()):
                axes.annotate(f"$d={d}$", (x[d], y[d]), xytext=(12, 8), textcoords="offset points", color=colour)
        axes.set(xlim=(0, None), ylim=(0, None))
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
                    draw_means(
                        axes, each, "alpha", "black", 1, marker, markerfacecolor="white", markersize=5, label=name
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
        bar.formatter.set_powerlimits((-2, 3))
        bar.formatter.set_useMathText(True)
    return figure
