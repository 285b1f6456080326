"""Message passing: its convergence, its collective mode, and where it cannot settle."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

from ..render.dark import VALUES
from ..render.style import COLOURS, NEUTRAL, SEMANTIC, STYLE, draw_line

SYMBOLS = {"q": r"$q/\sigma^2$", "theta": r"$\theta/\sigma^2$", "m": r"$m/\sigma^2$", "V": r"$V/10\sigma^2$"}
UNITS = {"q": 1, "theta": 1, "m": 1, "V": 10}


def tracking(runs, theory, sigma):
    """Overlaps by iteration: message passing on several data sets, and the state evolution from the same start.

    Parameters
    ----------
    runs : list of DataFrame
        `message_passing.Run.history`.
    theory : DataFrame
        As `theory.stability.trajectory` gives it.
    sigma : float

    Returns
    -------
    matplotlib Figure
    """
    with mpl.rc_context(STYLE):
        figure, rows = plt.subplots(len(SYMBOLS), 1, figsize=(6.4, 2.1 * len(SYMBOLS) + 0.6), sharex=True)
        for axes, (name, label) in zip(rows, SYMBOLS.items()):
            unit = UNITS[name] * sigma**2
            for number, each in enumerate(runs):
                axes.plot(
                    each.index,
                    each[name] / unit,
                    "-",
                    color=SEMANTIC,
                    linewidth=0.8,
                    alpha=0.7,
                    label="message passing, one data set" if not number else None,
                )
            axes.errorbar(
                theory.index,
                theory[name] / unit,
                theory[f"{name}_error"] / unit,
                fmt="o",
                color="black",
                markersize=4,
                label="state evolution",
            )
            low, high = theory[name].min() / unit, theory[name].max() / unit
            room = max(0.25 * (high - low), 0.1)  # what runs away leaves the frame
            axes.set(ylabel=label, ylim=(low - room, high + room))
        rows[0].legend(loc="upper right", frameon=True, framealpha=0.9, edgecolor="none")
        rows[-1].set_xlabel("iteration")
    return figure


def mode(undamped, damped, factor, sigma):
    """The overlap with the positions near the semantic solution, and the growth that the map's derivative predicts.

    Parameters
    ----------
    undamped, damped : list of DataFrame
        `message_passing.Run.history` of several data sets.
    factor : float
        The gain of m, `theory.Solution.gain`.
    sigma : float

    Returns
    -------
    matplotlib Figure
    """
    with mpl.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(6.4, 4.4))
        for runs, colour, label in ((undamped, COLOURS["positional"], "undamped"), (damped, NEUTRAL, "damped")):
            for number, each in enumerate(runs):
                axes.plot(
                    each.index,
                    abs(each["m"]) / sigma**2,
                    "-",
                    color=colour,
                    linewidth=0.8,
                    alpha=0.8,
                    label=label if not number else None,
                )
        steps = np.arange(3, 9)
        axes.plot(
            steps,
            0.03 * abs(factor) ** (steps - 3.0),
            "o--",
            color="black",
            markersize=4,
            label=rf"slope of theory: ${factor:.2f}$ a step",
        )
        axes.set(
            yscale="log",
            xlabel="iteration",
            ylabel=r"$|m|/\sigma^2$",
            ylim=(1e-4, 30),
            xlim=(0, max(each.index.max() for each in undamped)),
        )
        axes.legend(loc="lower right")
    return figure


def contraction(curves, rates):
    """A perturbation of the fixed point: its size by iteration, and its rate against theory.

    Parameters
    ----------
    curves : dict of (DataFrame, array)
        Label to measured sizes (iteration by data set) and the predicted ones.
    rates : DataFrame
        Columns predicted, predicted_error, measured, measured_error, label, jumps; rows without a prediction are left
        out.

    Returns
    -------
    matplotlib Figure
    """
    rates = rates.dropna(subset="predicted")
    with mpl.rc_context(STYLE):
        figure, (top, bottom) = plt.subplots(2, 1, figsize=(6.4, 8.6), height_ratios=(1, 1.15))
        shades = plt.get_cmap("copper")(np.linspace(0, 0.8, len(curves)))
        for (label, (sizes, predicted)), shade in zip(curves.items(), shades):
            top.plot(sizes.index, sizes, "-", color=shade, linewidth=0.7, alpha=0.6)
            top.plot(np.arange(len(predicted)), predicted, "o", color=shade, markersize=3.5, label=label)
        top.set(yscale="log", xlabel="iteration after the perturbation", ylabel="its size, over that at first")
        top.legend(title="lines: data sets; dots: theory", title_fontsize=11, fontsize=11)
        values = rates[["predicted", "measured"]].to_numpy()
        ends = (values.min() - 0.01, values.max() + 0.01) if len(rates) else (0, 1)
        bottom.plot(ends, ends, color="#bbbbbb", linewidth=1)
        for jumps, marker, fill, label in (
            (False, "o", "full", "variance of the replicon finite"),
            (True, "s", "none", "infinite: the proximal point jumps"),
        ):
            each = rates[rates["jumps"] == jumps]
            bottom.errorbar(
                each["predicted"],
                each["measured"],
                each["measured_error"],
                each["predicted_error"],
                fmt=marker,
                color=SEMANTIC,
                fillstyle=fill,
                elinewidth=1,
                label=label,
            )
        for row, before in zip(rates.sort_values("predicted").itertuples(), [None, *rates["predicted"].sort_values()]):
            close = before is not None and row.predicted - before < 0.03 * (ends[1] - ends[0])
            bottom.annotate(
                row.label,
                (row.predicted, row.measured),
                xytext=(-12, 14) if close else (5, -11),
                textcoords="offset points",
                fontsize=9,
            )
        bottom.set(
            xlabel=r"predicted from $\Lambda$",
            ylabel="measured",
            xlim=ends,
            ylim=ends,
            title="Factor per iteration, between the 10th and the 20th",
        )
        bottom.legend(loc="upper left")
    return figure


def gains(curves):
    """Gain of the distance of two copies in one iteration, against that distance.

    Parameters
    ----------
    curves : dict of (str, array, array)
        Label to branch, distances and gains (scrambles by distance).

    Returns
    -------
    matplotlib Figure
    """
    with mpl.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(6.4, 5))
        axes.axhline(1, color="#888888", linewidth=1)
        for number, (label, (branch, distances, gain)) in enumerate(curves.items()):
            error = gain.std(axis=0, ddof=1) / len(gain) ** 0.5
            axes.errorbar(
                distances,
                gain.mean(axis=0),
                error,
                fmt="os^Dvx"[number % 6] + "-",
                color=COLOURS[branch],
                linewidth=1,
                elinewidth=1,
                label=label,
            )
        axes.set(
            xscale="log",
            yscale="log",
            xlabel="distance of the copies, over the size of $Q$",
            ylabel="gain of the squared distance in one iteration",
        )
        axes.legend(fontsize=11)
    return figure


DRAWN = {
    "critical": {"label": r"$\alpha_c$", "colour": NEUTRAL},
    "semantic start": {"label": "semantic branch begins", "colour": SEMANTIC, "style": "--"},
}


def square_maps(maps, lines, label, most, unsure=None):
    """A quantity over alpha and omega in squares, one panel for each branch.

    Parameters
    ----------
    maps : dict of DataFrame
        Title to values, alpha (rows) by omega; NaN where the branch is not.
    lines : dict of DataFrame
        "critical" and "semantic start", or neither: omega as index, alpha and alpha_error.
    label : str
        Of the colours.
    most : float
        What the darkest colour means.
    unsure : (DataFrame, str), optional
        Where to draw a cross, as booleans over alpha and omega, and what it says.

    Returns
    -------
    matplotlib Figure
    """
    with mpl.rc_context(STYLE):
        figure, rows = plt.subplots(len(maps), 1, figsize=(6.4, 4.2 * len(maps) + 0.9), sharex=True)
        for number, (axes, (title, values)) in enumerate(zip(np.atleast_1d(rows), maps.items())):
            omegas, alphas = np.meshgrid(values.columns, values.index)
            found = values.to_numpy()
            there = np.isfinite(found)
            wide = 200 * 9 / max(9, len(values.columns)) ** 1.15  # squares that touch neither neighbour
            shown = axes.scatter(
                omegas[there],
                alphas[there],
                s=wide,
                c=found[there],
                marker="s",
                cmap="magma_r",
                vmin=0,
                vmax=most,
                edgecolors="#999999",
                linewidths=0.6,
                gid=f"{VALUES}_{number}",
            )
            if unsure:
                crossed = unsure[0].to_numpy() & there
                axes.scatter(
                    omegas[crossed],
                    alphas[crossed],
                    s=wide / 4,
                    color="#888888",
                    marker="x",
                    label=unsure[1],
                    linewidths=1,
                )
            for what, curve in lines.items():
                draw_line(axes, curve.index, curve["alpha"], curve["alpha_error"], **DRAWN[what])
            axes.set(title=title, ylabel=r"sample complexity $\alpha = n/d$", ylim=(0.4, values.index.max() + 0.1))
        if lines:
            np.atleast_1d(rows)[0].legend(
                loc="lower left", bbox_to_anchor=(0, 1.09), ncols=3, fontsize=11, columnspacing=1, handletextpad=0.4
            )
        np.atleast_1d(rows)[-1].set_xlabel(r"positional share of the teacher $\omega$")
        figure.colorbar(
            shown,
            ax=rows,
            orientation="horizontal",
            aspect=35,
            label=label,
            extend="max" if found[there].max() > most else "neither",
        )
    return figure
