"""The picture of the landing page: two training losses, their slopes, and where they cross."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

from ..render.style import COLOURS, STYLE

LABEL_AT, LIFT = {"semantic": 0.3, "positional": 0.62}, {"semantic": 0.16, "positional": -0.42}  # of a tangent


def prices(curves, prices, alpha_c, alpha_l):
    """Training losses of both students over alpha, with the tangents at the transition.

    Parameters
    ----------
    curves : dict of (array, array)
        By branch: alphas at which it is a minimum, and its training loss there.
    prices : dict of analysis.prices.Price
        At `alpha_c`.
    alpha_c, alpha_l : float

    Returns
    -------
    matplotlib Figure
    """
    with mpl.rc_context(STYLE):
        figure, axes = plt.subplots(figsize=(7.2, 4.6))
        for branch, (alphas, losses) in curves.items():
            axes.plot(alphas, 1e3 * losses, color=COLOURS[branch], linewidth=2.4)
            _tangent(axes, branch, prices[branch])
        _explain(axes, prices, alpha_c, alpha_l)
        axes.set(xlim=(0, 2.02), ylim=(-0.25, 4.9), xlabel=r"sentences per dimension $\alpha$")
        axes.set_ylabel(r"training loss $\epsilon_t$, in $10^{-3}$")
    return figure


def _tangent(axes, branch, price):
    colour = COLOURS[branch]
    slope, entry = (1e3 * each[0] for each in (price.slope, price.entry))
    axes.plot((0, 2), (entry, entry + 2 * slope), "--", color=colour, linewidth=1.1)
    axes.plot(0, entry, "o", color=colour, clip_on=False, markersize=7)
    at = LABEL_AT[branch]
    axes.annotate(
        f"{branch}: {slope:.2f} a sentence",
        (at, entry + at * slope + LIFT[branch]),
        color=colour,
        rotation=np.degrees(np.arctan(slope)),
        transform_rotates_text=True,
        rotation_mode="anchor",
    )


def _explain(axes, prices, alpha_c, alpha_l):
    connector = {"arrowstyle": "-", "color": "black"}
    low, high = (1e3 * prices[branch].entry[0] for branch in ("positional", "semantic"))
    axes.annotate("", (0.03, high), (0.03, low), arrowprops=connector | {"arrowstyle": "<->"})
    axes.annotate(f"entry price {high - low:.2f}", (0.04, 0.3), (0.3, -0.05), arrowprops=connector)
    loss = 1e3 * sum(each.loss[0] for each in prices.values()) / 2
    axes.plot(alpha_c, loss, "o", color="black", markersize=8)
    text = rf"$\alpha_c$ = {alpha_c:.2f}: the valleys" "\nare equally deep"
    axes.annotate(text, (alpha_c, loss), (alpha_c - 0.05, loss + 1.05), ha="right", arrowprops=connector)
    axes.axvline(alpha_l, color="black", linewidth=1, linestyle=":")
    text = rf"$\alpha_l$ = {alpha_l:.2f}: semantic" "\npredicts as well as\nthe linear model"
    axes.text(alpha_l + 0.02, 0.05, text, fontsize=11)
