"""All differences from the paper, in errors."""

import matplotlib as mpl
import matplotlib.pyplot as plt

from .style import COLOURS, NEUTRAL, STYLE

SMALL = {"font.size": 12, "legend.fontsize": 11}  # narrow, to be read on a phone
MARKS = {"theory": "D", "students": "o", "transformers": "s"}
LABELS = {
    "critical": r"$\alpha_c$", "linear": r"$\alpha_l$", "q": "$q$", "m": "$m$", "theta": r"$\theta$", "V": "$V$",
    "m/sigma^2": r"$m/\sigma^2$", "theta/sigma^2": r"$\theta/\sigma^2$", "train_loss": r"$\epsilon_t$",
    "test_mse": r"$\epsilon_g$", "linear_mse": r"$\epsilon_g$, linear fit", "accuracy": "accuracy",
    "start to trained": "distance, Adam", "trained to final": "distance, SGD", "of_zeros": "former zeros",
}  # fmt: skip


def forest(strips, limit):
    """Every published number's difference from ours in errors, a line for each figure, quantity and kind of evidence.

    Parameters
    ----------
    strips : list of dict
        From `scorecard.strips`.
    limit : float
        Up to so many errors two numbers agree; shaded.

    Returns
    -------
    matplotlib Figure
    """
    with mpl.rc_context(STYLE | SMALL):
        figure, axes = plt.subplots(figsize=(4.8, 1.4 + 0.29 * (len(strips) + len(_titles(strips)))))
        place, ticks, names = 0.0, [], []
        for at, each in enumerate(strips):
            if at == 0 or each["figure"] != strips[at - 1]["figure"]:
                axes.text(
                    -0.02,
                    place,
                    each["figure"],
                    transform=axes.get_yaxis_transform(),
                    weight="bold",
                    ha="right",
                    va="center",
                )
                place += 1
            _strip(axes, place, each)
            ticks.append(place)
            names.append(_name(each))
            place += 1
        axes.axvspan(-limit, limit, color="#e4e4e4", linewidth=0)
        axes.axvline(0, color="#999999", linewidth=1)
        axes.set_xscale("symlog", linthresh=limit, linscale=0.8)
        axes.set_yticks(ticks, names)
        axes.set(ylim=(max(place, 1) - 0.4, -0.6), xlabel="ours less published, in errors")
        axes.tick_params(axis="y", length=0)
        shown = [-30, -3, 0, 3, 30]
        axes.set_xticks(shown, [f"{each:+d}".replace("-", "−") if each else "0" for each in shown])
        axes.xaxis.set_minor_locator(mpl.ticker.NullLocator())
        axes.set_xlim(*_range(strips, limit))
        used = {each["evidence"] for each in strips}
        marks = [axes.plot([], [], mark, color=NEUTRAL, label=name)[0] for name, mark in MARKS.items() if name in used]
        axes.legend(
            handles=marks, loc="lower right", bbox_to_anchor=(1, 1), ncols=3, handletextpad=0.2, columnspacing=1
        )
    return figure


def _titles(strips):
    return list(dict.fromkeys(each["figure"] for each in strips))


def _range(strips, limit):
    values = [0.0, *(sigma for each in strips for sigma in each["sigma"])]
    return min(1.4 * min(values), -1.5 * limit), max(1.4 * max(values), 1.5 * limit)


def _strip(axes, place, each):
    """Filled marks, open ones where the two numbers are not the same quantity."""
    axes.axhline(place, color="#d0d0d0", linewidth=0.6, zorder=0.5)
    for sigma, verdict, branch in zip(each["sigma"], each["verdict"], each["branch"]):
        colour = COLOURS.get(branch, NEUTRAL)
        face = "none" if verdict == "not comparable" else colour
        axes.plot(sigma, place, MARKS[each["evidence"]], color=colour, markerfacecolor=face, alpha=0.8)


def _name(each):
    spread = ", spread" if each["statistic"].startswith("standard") else ""
    return LABELS[each["quantity"]] + spread
