"""Figure 1, the free energies of the two branches, and the minima of one valley."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from ..render.style import COLOURS, NEUTRAL, POSITIONAL, SEMANTIC, STYLE, draw_line


def schematic(task):
    """Figure 1, A: teacher and student read one sentence; `task` gives the matrix A."""
    with mpl.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(6.4, 5.4))
        axes.set(xlim=(0, 10), ylim=(0, 9.4))
        axes.axis("off")
        for x, token in ((2.2, 1), (6.2, 2)):
            _box(axes, x, 7.6, 1.6, rf"$\xi_{token}$", SEMANTIC)
            axes.text(x + 0.8, 8.9, f"token {token}", ha="center")
        axes.text(0.1, 8.05, "content", color=SEMANTIC)
        _box(axes, 0.3, 4.9, 4.0, r"semantic" "\n" r"softmax$(yy^\top)$", SEMANTIC, 1.4)
        _box(axes, 5.3, 4.9, 4.0, "positional\n$A$ = " + _matrix(task.matrix), POSITIONAL, 1.4)
        _arrow(axes, (3.0, 7.5), (2.4, 6.4))
        _arrow(axes, (6.6, 7.5), (3.6, 6.4))
        axes.text(5.9, 6.75, r"$y=\xi Q_\star/\sqrt{d}$", color=SEMANTIC)
        _box(axes, 1.5, 2.9, 6.6, r"teacher: $Y=(1-\omega)\,$semantic$\,+\,\omega\,$positional", NEUTRAL)
        _arrow(axes, (2.4, 4.8), (3.4, 3.9))
        _arrow(axes, (7.3, 4.8), (6.2, 3.9))
        _box(
            axes,
            0.3,
            0.3,
            9.0,
            r"student: reads $x_a=\xi_a\pm 1_d/\sqrt{d}$, has one vector $Q$,"
            "\n"
            r"attends with softmax$(hh^\top)$, $h=xQ/\sqrt{d}$",
            NEUTRAL,
            1.5,
        )
        _arrow(axes, (4.8, 2.8), (4.8, 1.9))
        axes.text(5.0, 2.2, r"is trained to give $Y\xi$")
    return figure


def _box(axes, x, y, width, text, colour, height=0.9):
    axes.add_patch(
        FancyBboxPatch(
            (x, y),
            width,
            height,
            boxstyle="round,pad=0.05,rounding_size=0.15",
            facecolor=mpl.colors.to_rgba(colour, 0.12),
            edgecolor=colour,
            linewidth=1.5,
        )
    )
    axes.text(x + width / 2, y + height / 2, text, ha="center", va="center", fontsize=13)


def _arrow(axes, start, end):
    axes.add_patch(FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=14, color=NEUTRAL, linewidth=1.3))


def _matrix(entries):
    return "; ".join(" ".join(f"{entry:g}" for entry in row) for row in entries)


def surfaces(by_alpha, sigma):
    """Figure 1, B: the training loss on the plane through two minima and the origin, one panel for each alpha.

    Parameters
    ----------
    by_alpha : dict of landscape.Surface
    sigma : float

    Returns
    -------
    matplotlib Figure
    """
    with mpl.rc_context(STYLE):
        figure, rows = plt.subplots(len(by_alpha), 1, figsize=(6.4, 4.7 * len(by_alpha)))
        for axes, (alpha, each) in zip(np.atleast_1d(rows), by_alpha.items()):
            lowest = min(loss for *_, loss in each.minima.values())
            excess = each.loss - lowest
            # Equal steps in the square root show the valleys' floors and their walls.
            levels = np.linspace(0, np.sqrt(np.quantile(excess, 0.8)), 22) ** 2
            x, y = each.m / sigma**2, each.theta / sigma**2
            filled = axes.contourf(
                x,
                y,
                np.maximum(excess, 0),
                levels,
                cmap="Greys_r",
                extend="max",
                norm=mpl.colors.PowerNorm(0.5, 0, levels[-1]),
            )
            axes.contour(x, y, excess, levels[1::2], colors="white", linewidths=0.4)
            winner = min(each.minima, key=lambda valley: each.minima[valley][2])
            for valley, (m, theta, loss) in each.minima.items():
                label = f"{valley}: " + ("the lower one" if valley == winner else rf"higher by {loss - lowest:.1e}")
                axes.plot(
                    m / sigma**2,
                    theta / sigma**2,
                    "*" if valley == winner else "o",
                    color=COLOURS[valley],
                    markersize=17 if valley == winner else 10,
                    markeredgecolor="white",
                    label=label,
                )
            axes.set(
                title=rf"$\alpha = {alpha:g}$",
                xlabel=r"overlap with the positions $m/\sigma^2$",
                ylabel=r"with the teacher $\theta/\sigma^2$",
            )
            axes.xaxis.set_major_locator(mpl.ticker.MaxNLocator(5))
            axes.legend(loc="upper right", frameon=True, framealpha=0.9)
            bar = figure.colorbar(filled, ax=axes, label=r"$\epsilon_t$ above the lower minimum")
            bar.set_ticks(levels[::7])
            bar.formatter = mpl.ticker.FormatStrFormatter("%.1e")
            bar.update_ticks()
    return figure


def transition(lines, sigma):
    """Figure 1, C: overlaps of the solution with the lower loss, from theory.

    Parameters
    ----------
    lines : DataFrame
        Rows of `theory.theory_line` at one omega.
    sigma : float

    Returns
    -------
    matplotlib Figure
    """
    critical = lines[lines["what"] == "critical"].iloc[0]
    with mpl.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(6.4, 3.8))
        for branch, name, label in (
            ("semantic", "theta", r"$\theta/\sigma^2$, with the teacher"),
            ("positional", "m", r"$m/\sigma^2$, with the positions"),
        ):
            each = lines[lines["what"] == branch].sort_values("alpha")
            wins = each["alpha"] > critical["alpha"] if branch == "semantic" else each["alpha"] < critical["alpha"]
            scaled = each[name] / sigma**2
            axes.plot(each["alpha"], scaled, ":", color=COLOURS[branch], linewidth=1)
            edge = np.interp(critical["alpha"], each["alpha"], scaled)
            x, y = each["alpha"][wins].to_numpy(), scaled[wins].to_numpy()
            x, y = (
                (np.r_[critical["alpha"], x], np.r_[edge, y])
                if branch == "semantic"
                else (np.r_[x, critical["alpha"]], np.r_[y, edge])
            )
            axes.plot(x, y, color=COLOURS[branch], label=label)
        axes.axvline(critical["alpha"], color=NEUTRAL, linewidth=1, linestyle="-.")
        axes.annotate(
            r"$\alpha_c$",
            (critical["alpha"], 0.02),
            xycoords=("data", "axes fraction"),
            color=NEUTRAL,
            xytext=(4, 0),
            textcoords="offset points",
        )
        axes.set(xlabel=r"sample complexity $\alpha = n/d$", ylabel="overlap", xlim=(0, None), ylim=(0, None))
        axes.legend(loc="lower left")
    return figure


def free_energies(by_omega):
    """Training loss per sentence of both branches over alpha, one panel for each omega.

    Parameters
    ----------
    by_omega : dict of (DataFrame, dict, dict)
        omega to the rows of `theory.theory_line`, and the alphas between which each branch is a minimum with the
        errors of these borders.

    Returns
    -------
    matplotlib Figure
    """
    with mpl.rc_context(STYLE):
        figure, rows = plt.subplots(len(by_omega), 1, figsize=(6.4, 3.6 * len(by_omega)), sharex=True)
        for axes, (omega, (lines, ranges, _)) in zip(np.atleast_1d(rows), by_omega.items()):
            critical = lines[lines["what"] == "critical"].iloc[0]
            for branch, colour in COLOURS.items():
                each = lines[lines["what"] == branch].sort_values("alpha")
                from_alpha, to_alpha = ranges[branch]
                inside = each["alpha"].between(from_alpha, to_alpha)
                for some, style, label in ((each, ":", None), (each[inside], "-", f"{branch} minimum")):
                    draw_line(
                        axes,
                        some["alpha"],
                        some["train_loss"] / some["alpha"],
                        some["train_loss_error"] / some["alpha"],
                        colour,
                        style,
                        label,
                    )
                beyond = (from_alpha, critical["alpha"]) if branch == "semantic" else (critical["alpha"], to_alpha)
                axes.axvspan(
                    *np.clip(beyond, 0, each["alpha"].max()),
                    color=colour,
                    alpha=0.13,
                    linewidth=0,
                    label=f"{branch} metastable",
                )
            axes.axvline(critical["alpha"], color=NEUTRAL, linewidth=1, linestyle="-.")
            axes.annotate(
                r"$\alpha_c$",
                (critical["alpha"], 0.05),
                xycoords=("data", "axes fraction"),
                xytext=(3, 0),
                textcoords="offset points",
                color=NEUTRAL,
            )
            axes.set(title=rf"$\omega = {omega:g}$", ylabel=r"$\epsilon_t/\alpha$", xlim=(0.2, None))
            shown = lines[lines["what"].isin(list(COLOURS)) & (lines["alpha"] > 0.25)]
            loss = shown["train_loss"] / shown["alpha"]
            axes.set_ylim(loss.min() * 0.995, loss.max() * 1.005)
            axes.ticklabel_format(axis="y", style="sci", scilimits=(0, 0), useMathText=True)
        np.atleast_1d(rows)[0].legend(loc="lower left", bbox_to_anchor=(0, 1.14), ncols=2, fontsize=11)
        np.atleast_1d(rows)[-1].set_xlabel(r"sample complexity $\alpha = n/d$")
    return figure


def minima(ends):
    """Losses and mutual overlaps of the minima that many starts in one valley lead to.

    Parameters
    ----------
    ends : dict of DataFrame
        Label to rows of `landscape.descend` of several data sets.

    Returns
    -------
    matplotlib Figure
    """
    with mpl.rc_context(STYLE):
        figure, (top, bottom) = plt.subplots(2, 1, figsize=(6.4, 7.4))
        for number, (label, each) in enumerate(ends.items()):
            colour = COLOURS[each["valley"].iloc[0]]
            excess = 100 * (each["train_loss"] / each.groupby("seed")["train_loss"].transform("min") - 1)
            fractions = (np.arange(len(each)) + 1) / len(each)
            style = ("-", "--", ":", "-.")[number % 4]
            top.plot(np.sort(excess), fractions, style, color=colour, label=label, drawstyle="steps-post")
            bottom.plot(np.sort(each["aligned"]), fractions, style, color=colour, label=label, drawstyle="steps-post")
        top.set(xlabel="loss above the lowest on the same data, in %", ylabel="share of the starts")
        bottom.set(xlabel="overlap (cosine) of the ends of two starts", ylabel="share of the pairs", xlim=(0, 1.02))
        bottom.legend(loc="upper left", fontsize=11)
    return figure
