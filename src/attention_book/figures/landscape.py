"""The free energies of the two branches, and the minima of one valley."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

from ..render.style import COLOURS, NEUTRAL, STYLE, draw_line


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
