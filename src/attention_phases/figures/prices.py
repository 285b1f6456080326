"""The picture of the landing page: two training losses, their slopes, and where they cross."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

from .style import COLOURS, STYLE

INK = {"light": "#222222", "dark": "#e6e6e6"}
BRIGHT = {"light": COLOURS, "dark": {"semantic": "#f0917d", "positional": "#7fb4e8"}}
LIFT = {"semantic": 0.16, "positional": -0.42}  # of a label over its tangent, in 1e-3


def prices(curves, prices, alpha_c, alpha_l, theme):
    """Training losses of both students over alpha, with the tangents at the transition.

    Parameters
    ----------
    curves : dict of (array, array)
        By branch: alphas at which it is a minimum, and its training loss there.
    prices : dict of analysis.prices.Price
        At `alpha_c`.
    alpha_c, alpha_l : float
    theme : {"light", "dark"}

    Returns
    -------
    matplotlib Figure
        On a transparent ground.
    """
    ink, colours = INK[theme], BRIGHT[theme]
    inks = dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), ink)
    with mpl.rc_context(STYLE | inks | {"svg.fonttype": "path"}):
        figure, axes = plt.subplots(figsize=(7.2, 4.6))
        figure.patch.set_alpha(0)
        axes.patch.set_alpha(0)
        for branch, (alphas, losses) in curves.items():
            price, colour = prices[branch], colours[branch]
            (slope, _), (entry, _) = price.slope, price.entry
            axes.plot(alphas, 1e3 * losses, color=colour, linewidth=2.4)
            axes.plot((0, 2), (1e3 * entry, 1e3 * (entry + 2 * slope)), "--", color=colour, linewidth=1.1)
            axes.plot(0, 1e3 * entry, "o", color=colour, clip_on=False, markersize=7)
            at = 0.3 if branch == "semantic" else 0.62
            axes.annotate(
                f"{branch}: {1e3 * slope:.2f} a sentence",
                (at, 1e3 * (entry + at * slope) + LIFT[branch]),
                color=colour,
                rotation=np.degrees(np.arctan(1e3 * slope)),
                transform_rotates_text=True,
                rotation_mode="anchor",
            )
        gap = [1e3 * prices[branch].entry[0] for branch in ("positional", "semantic")]
        axes.annotate("", (0.03, gap[1]), (0.03, gap[0]), arrowprops={"arrowstyle": "<->", "color": ink})
        axes.annotate(
            f"entry price {gap[1] - gap[0]:.2f}", (0.04, 0.3), (0.3, -0.05), arrowprops={"arrowstyle": "-", "color": ink}
        )
        loss = 1e3 * sum(each.loss[0] for each in prices.values()) / 2
        axes.plot(alpha_c, loss, "o", color=ink, markersize=8)
        axes.annotate(
            rf"$\alpha_c$ = {alpha_c:.2f}: the valleys" "\nare equally deep",
            (alpha_c, loss),
            (alpha_c - 0.05, loss + 1.05),
            ha="right",
            arrowprops={"arrowstyle": "-", "color": ink},
        )
        axes.axvline(alpha_l, color=ink, linewidth=1, linestyle=":")
        axes.text(alpha_l + 0.02, 0.05, rf"$\alpha_l$ = {alpha_l:.2f}: semantic" "\npredicts as well as\nthe linear model", fontsize=11)
        axes.set(xlim=(0, 2.02), ylim=(-0.25, 4.9), xlabel=r"sentences per dimension $\alpha$")
        axes.set_ylabel(r"training loss $\epsilon_t$, in $10^{-3}$")
    return figure
