"""Figures 4, 5 and 6, and the curves beside Table 1: the transformer that counts."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

from ..render.style import COLOURS, NEUTRAL, STYLE

EQUAL = "#d1001f"  # frames of equal tokens


def attention_matrices(columns, sequences, colours):
    """Attention matrices beside one another, a row for each sequence.

    Parameters
    ----------
    columns : dict of (n, 10, 10) arrays
        By their heading.
    sequences : n str
        Ten letters each.
    colours : sequence of str
        Of the headings.

    Returns
    -------
    matplotlib Figure
        Cells hold per cent; those of equal tokens are framed.
    """
    count = len(sequences)
    with mpl.rc_context(STYLE):
        figure, axes = plt.subplots(count, len(columns), figsize=(6.4, 3.25 * count + 0.3), squeeze=False)
        for line, sequence in enumerate(sequences):
            for panel, (heading, matrices), colour in zip(axes[line], columns.items(), colours):
                _matrix(panel, matrices[line], sequence)
                if line == 0:
                    panel.set_title(heading, color=colour, loc="center", pad=22)
        axes[0, 0].set_ylabel("token that looks", fontsize=11)
    return figure


def _matrix(axes, matrix, sequence):
    axes.imshow(matrix, cmap="Greys", vmin=0, vmax=1)
    for (i, j), value in np.ndenumerate(matrix):
        shown = f"{100 * value:.0f}"
        axes.text(j, i, shown, ha="center", va="center", fontsize=7.5, color="white" if value > 0.5 else "#222222")
        if sequence[i] == sequence[j]:
            axes.add_patch(mpl.patches.Rectangle((j - 0.46, i - 0.46), 0.92, 0.92, fill=False, color=EQUAL, lw=1.1))
    ticks = range(len(sequence))
    axes.set_xticks(ticks, sequence, fontsize=10)
    axes.set_yticks(ticks, sequence, fontsize=10)
    axes.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False, pad=2)
    axes.spines[:].set_visible(True)


def counting_curves(curves):
    """Share of wrong positions, and loss, against the epoch, all runs.

    Parameters
    ----------
    curves : pandas.DataFrame
        As from `histogram.summary.curves`.
    """
    with mpl.rc_context(STYLE):
        figure, (top, bottom) = plt.subplots(2, 1, figsize=(6.4, 8), sharex=True)
        for (variant, seed), each in curves.groupby(["variant", "seed"]):
            later = each[each["epoch"] > 0]
            style = {"color": COLOURS[variant], "linewidth": 0.9, "alpha": 0.7}
            name = variant if seed == curves["seed"].min() else None
            top.plot(later["epoch"], 1 - later["accuracy"], **style, label=name)
            bottom.plot(later["epoch"], later["test_loss"], **style, label=name and f"{variant}, test")
            style = {**style, "linewidth": 0.6, "alpha": 0.35}
            bottom.plot(later["epoch"], later["train_loss"], **style, label=name and f"{variant}, training")
        for axes in (top, bottom):
            axes.axvline(curves["adam_epochs"].iloc[0] + 0.5, color=NEUTRAL, linewidth=1, linestyle="-.")
            axes.set_yscale("log")
        for text, side, x in (("Adam", "right", -4), ("SGD", "left", 4)):
            top.annotate(
                text,
                (curves["adam_epochs"].iloc[0] + 0.5, 0.97),
                color=NEUTRAL,
                ha=side,
                va="top",
                xycoords=("data", "axes fraction"),
                xytext=(x, 0),
                textcoords="offset points",
            )
        top.set(title="Test positions told wrong", ylabel="share")
        bottom.set(title="Loss", xlabel="epoch", ylabel="cross-entropy of a position")
        _legend(top, "lower left")
        _legend(bottom, "lower left")
    return figure


def _legend(axes, place):
    for line in axes.legend(loc=place).get_lines():
        line.set(linewidth=1.8, alpha=0.5 if "training" in line.get_label() else 1)


def worst_letters(errors, lost):
    """Share of the places of the worst letter told wrong, against the epoch, a line for each start.

    Parameters
    ----------
    errors : pandas.DataFrame
        As from `histogram.summary.lasting_errors`.
    lost : pandas.Series of bool
        Which columns have lost a letter: these lines are thick.
    """
    with mpl.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(6.4, 4.2))
        for gone, width, name in ((False, 0.7, "the others"), (True, 1.8, "runs that lose a letter")):
            for number, (_, each) in enumerate(errors.loc[:, lost == gone].items()):
                style = {"color": COLOURS["semantic"], "linewidth": width, "alpha": 0.7}
                axes.plot(each.index, each, **style, label=None if number else name)
        axes.set(yscale="log", xlabel="epoch of Adam", ylabel="share wrong at the worst letter")
        axes.legend(loc="upper left", bbox_to_anchor=(0, 0.84))
    return figure


def errors_by_count(shares):
    """Share of the positions told wrong, by how often their token occurs.

    Parameters
    ----------
    shares : pandas.DataFrame
        As from `histogram.summary.by_count`.
    """
    with mpl.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(6.4, 4.2))
        for shift, (variant, marker) in zip((-0.08, 0.08), {"positional": "o", "semantic": "s"}.items()):
            each = shares.loc[variant]
            axes.errorbar(
                each.index + shift,
                each["wrong"],
                each["error"],
                color=COLOURS[variant],
                marker=marker,
                linestyle="none",
                label=variant,
            )
        smallest = shares["wrong"][shares["wrong"] > 0].min()
        axes.set_yscale("symlog", linthresh=10 ** np.floor(np.log10(smallest)))
        axes.set(xlabel="count to be told", ylabel="share told wrong", ylim=(0, 1.5))
        axes.set_xticks(sorted(shares.index.unique("count")))
        axes.legend(loc="upper left")
    return figure


def loss_on_line(lines):
    """Loss along straight lines between the two solutions.

    Parameters
    ----------
    lines : dict of DataFrame
        By their name, as from `histogram.summary.lines`.
    """
    with mpl.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(6.4, 4.2))
        for (name, each), style in zip(lines.items(), ("-", "--")):
            axes.plot(each.index, each, style, color=NEUTRAL, linewidth=0.8, alpha=0.35)
            axes.plot(each.index, each.mean(axis=1), style, color=NEUTRAL, linewidth=2.2, label=name)
        axes.set(yscale="log", xlabel="place on the line", ylabel="test loss")
        axes.set_xticks((0, 0.25, 0.5, 0.75, 1), ("positional", "¼", "½", "¾", "semantic"))
        for label, colour in zip(axes.get_xticklabels()[::4], (COLOURS["positional"], COLOURS["semantic"])):
            label.set_color(colour)
        axes.legend()
    return figure
