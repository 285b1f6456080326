"""The picture of the README: the phase diagram (Figure 3) and one slice of it (Figure 2), small and wide."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

from ..render.style import COLOURS, STYLE, draw_line

INK = {"light": "#222222", "dark": "#e6e6e6"}
BRIGHT = {"light": COLOURS, "dark": {"semantic": "#f0917d", "positional": "#7fb4e8"}}
GROUND = {"light": "#ffffff", "dark": "#0d1117"}  # of the map where nobody wins
LINEAR = {"light": "#4f7942", "dark": "#8fc47f"}


def cover(gaps, lines, winners, curves, baseline, theme):
    """Draw the map of the lower valley, and the test error along its slice.

    Parameters
    ----------
    gaps : DataFrame
        Semantic less positional training loss of trained students, alpha (rows) by omega (columns).
    lines : dict of DataFrame
        "critical" and "linear" of theory: omega as index, alpha and alpha_error.
    winners : dict of DataFrame
        By start: alpha, test_mse and test_mse_error of trained students where their training loss is the lower one.
    curves : dict of DataFrame
        The same of theory, by branch.
    baseline : (float, float)
        omega of the slice, and the test error of the linear model there.
    theme : {"light", "dark"}

    Returns
    -------
    matplotlib Figure
        On a transparent ground.
    """
    ink = INK[theme]
    inks = dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), ink)
    with mpl.rc_context(STYLE | inks | {"font.size": 12, "axes.titlesize": 12, "legend.fontsize": 11}):
        figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4))
        for each in (figure, left, right):
            each.patch.set_alpha(0)
        _map(left, gaps, lines, baseline[0], theme)
        _slice(right, lines, winners, curves, baseline, theme)
    return figure


def _map(axes, gaps, lines, omega, theme):
    ink = INK[theme]
    ramp = [COLOURS["semantic"], GROUND[theme], COLOURS["positional"]]
    most = np.nanquantile(np.abs(gaps.to_numpy()), 0.7)  # beyond it all cells have the full colour
    axes.pcolormesh(
        *(gaps.columns, gaps.index, gaps.to_numpy()),
        cmap=mpl.colors.LinearSegmentedColormap.from_list("winner", ramp),
        vmin=-most,
        vmax=most,
        shading="nearest",
        rasterized=True,
    )
    for kind, style, name in (("critical", "-", r"$\alpha_c$"), ("linear", "--", r"$\alpha_l$")):
        line = lines[kind]
        line = line[(line.index >= gaps.columns.min()) & (line["alpha"] <= gaps.index.max())]
        draw_line(axes, line.index, line["alpha"], line["alpha_error"], ink, style, label=name)
    axes.axvline(omega, color=ink, linewidth=0.8, linestyle=":")
    axes.text(0.41, 0.6, "positional wins", ha="center")
    axes.text(0.15, 1.72, "semantic wins", ha="center")
    axes.set(title="Lower loss (colours: trained students)", xlabel=r"positional share of the teacher $\omega$")
    axes.set(ylabel=r"sentences per dimension $\alpha$", ylim=(0, gaps.index.max()))
    axes.legend(loc="lower left", ncols=2, title="theory", title_fontsize=11, alignment="left")


def _slice(axes, lines, winners, curves, baseline, theme):
    colours, (omega, error) = BRIGHT[theme], baseline
    for branch, colour in colours.items():
        curve, trained = curves[branch], winners[branch]
        draw_line(axes, curve["alpha"], 1e3 * curve["test_mse"], 1e3 * curve["test_mse_error"], colour)
        values = 1e3 * trained["test_mse"], 1e3 * trained["test_mse_error"]
        axes.errorbar(
            trained["alpha"], *values, fmt="o", color=colour, elinewidth=1, label=f"{branch}: theory, students"
        )
    axes.axhline(1e3 * error, color=LINEAR[theme], linestyle=":", label="best linear model")
    for kind, name in (("critical", r"$\alpha_c$"), ("linear", r"$\alpha_l$")):
        alpha = lines[kind]["alpha"].loc[omega]
        axes.axvline(alpha, ymin=0.32, color=INK[theme], linewidth=0.8, linestyle=":")
        axes.annotate(name, (alpha, 1), (3, -10), xycoords=("data", "axes fraction"), textcoords="offset points")
    axes.set(title=rf"Its test error at $\omega = {omega:g}$")
    axes.set(xlabel=r"sentences per dimension $\alpha$", ylabel=r"test error, in $10^{-3}$", xlim=(0, 2.02))
    axes.set_ylim(0, None)
    axes.legend(loc="lower left")
