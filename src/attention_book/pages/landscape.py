"""Figure 1 and the free energies: the task, the training loss over the weights and over alpha, the transition."""

import matplotlib as mpl
import numpy as np
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from attention_phases.theory.branches import MINIMA, OWN

from ..analysis.thresholds import borders_of, is_minimum
from ..render.style import (
    ALPHA,
    COLOURS,
    NEUTRAL,
    OPAQUE,
    OVERLAP_LABELS,
    POSITIONAL,
    SEMANTIC,
    panels,
    styled,
    write_beside,
)


@styled
def draw_task(task):
    """Figure 1, A: teacher and student read one sentence; `task` gives the matrix A."""
    figure, (axes,) = panels(1, 5.4)
    axes.set(xlim=(0, 10), ylim=(0, 9.4))
    axes.axis("off")
    for x, token in ((2.2, 1), (6.2, 2)):
        _draw_box(axes, x, 7.6, 1.6, rf"$\xi_{token}$", SEMANTIC)
        axes.text(x + 0.8, 8.9, f"token {token}", ha="center")
    axes.text(0.1, 8.05, "content", color=SEMANTIC)
    matrix = "; ".join(" ".join(f"{entry:g}" for entry in row) for row in task.matrix)
    _draw_box(axes, 0.3, 4.9, 4.0, "semantic\nsoftmax$(yy^\\top)$", SEMANTIC, 1.4)
    _draw_box(axes, 5.3, 4.9, 4.0, f"positional\n$A$ = {matrix}", POSITIONAL, 1.4)
    axes.text(5.9, 6.75, r"$y=\xi Q_\star/\sqrt{d}$", color=SEMANTIC)
    teacher = r"teacher: $Y=(1-\omega)\,$semantic$\,+\,\omega\,$positional"
    _draw_box(axes, 1.5, 2.9, 6.6, teacher, NEUTRAL)
    reads = r"student: reads $x_a=\xi_a\pm 1_d/\sqrt{d}$, has one vector $Q$,"
    attends = r"attends with softmax$(hh^\top)$, $h=xQ/\sqrt{d}$"
    _draw_box(axes, 0.3, 0.3, 9.0, f"{reads}\n{attends}", NEUTRAL, 1.5)
    axes.text(5.0, 2.2, r"is trained to give $Y\xi$")
    for start, end in (
        ((3.0, 7.5), (2.4, 6.4)),
        ((6.6, 7.5), (3.6, 6.4)),
        ((2.4, 4.8), (3.4, 3.9)),
        ((7.3, 4.8), (6.2, 3.9)),
        ((4.8, 2.8), (4.8, 1.9)),
    ):
        arrow = FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=14, color=NEUTRAL, linewidth=1.3)
        axes.add_patch(arrow)
    return figure


def _draw_box(axes, x, y, width, text, colour, height=0.9):
    style = {"facecolor": mpl.colors.to_rgba(colour, 0.12), "edgecolor": colour, "linewidth": 1.5}
    axes.add_patch(FancyBboxPatch((x, y), width, height, boxstyle="round,pad=0.05,rounding_size=0.15", **style))
    axes.text(x + width / 2, y + height / 2, text, ha="center", va="center", fontsize=13)


@styled
def draw_surfaces(surfaces, sigma):
    """Figure 1, B: the training loss on the plane through two minima and the origin, one panel for each alpha.

    surfaces: the experiment "plane".
    """
    by_alpha = {alpha: rows.set_index("what") for alpha, rows in surfaces.groupby("alpha")}
    minima = {alpha: rows.drop("plane") for alpha, rows in by_alpha.items()}
    lowest_of = {alpha: rows["train_loss"].min() for alpha, rows in minima.items()}
    top = max(np.quantile(rows.loc["plane", "train_loss"] - lowest_of[alpha], 0.8) for alpha, rows in by_alpha.items())
    figure, rows = panels(len(by_alpha), 4.7, sharex=True, sharey=True)
    for axes, (alpha, surface) in zip(rows, by_alpha.items()):
        lowest, plane, across = lowest_of[alpha], surface.loc["plane"], surface["across"].iloc[0]
        m, theta, loss = (plane[name].to_numpy().reshape(across, across) for name in ("m", "theta", "train_loss"))
        filled = _draw_loss(axes, m / sigma**2, theta / sigma**2, loss - lowest, top)
        for valley, minimum in minima[alpha].iterrows():
            higher = minimum["train_loss"] - lowest
            if higher == 0:
                marker, size, label = "*", 17, f"{valley}: the lower one"
            else:
                marker, size, label = "o", 10, rf"{valley}: higher by {1e3 * higher:.2g}$\cdot10^{{-3}}$"
            style = {"color": COLOURS[valley], "markersize": size, "markeredgecolor": "white"}
            axes.plot(minimum["m"] / sigma**2, minimum["theta"] / sigma**2, marker, **style, label=label)
        axes.set_title(rf"$\alpha = {alpha:g}$")
        axes.set_ylabel(r"with the teacher $\theta/\sigma^2$")
        axes.xaxis.set_major_locator(mpl.ticker.MaxNLocator(5))
        axes.legend(loc="upper right", **OPAQUE)
    rows[-1].set_xlabel(r"overlap with the positions $m/\sigma^2$")
    label = r"$\epsilon_t$ above the lower minimum, in $10^{-3}$"
    look = {"orientation": "horizontal", "aspect": 35, "format": lambda loss, _: f"{1e3 * loss:g}"}
    figure.colorbar(filled, ax=rows, label=label, ticks=np.arange(0, top, 5e-4), **look)
    return figure


def _draw_loss(axes, x, y, excess, top):
    """Contours of a loss above its lower minimum, equal steps in the root up to `top`: they show floors and walls."""
    levels = np.linspace(0, np.sqrt(top), 22) ** 2
    shades = {"cmap": "Greys_r", "norm": mpl.colors.PowerNorm(0.5, 0, levels[-1])}
    filled = axes.contourf(x, y, np.maximum(excess, 0), levels, extend="max", **shades)
    axes.contour(x, y, excess, levels[1::2], colors="white", linewidths=0.4)
    return filled


@styled
def draw_transition(lines, sigma):
    """Figure 1, C: overlaps of the minimum with the lower loss, from theory; dotted: of the other one.

    lines: rows of `theory_lines.standard_line` at one omega.
    """
    critical, borders = lines.loc[lines["what"] == "critical", "alpha"].iloc[0], borders_of(lines)
    figure, (axes,) = panels(1, 3.8)
    for branch in MINIMA:
        rows = lines[(lines["what"] == branch) & is_minimum(borders, branch, lines["omega"].iloc[0], lines["alpha"])]
        overlap = rows.set_index("alpha")[OWN[branch]].sort_index() / sigma**2
        axes.plot(overlap.index, overlap, ":", color=COLOURS[branch], linewidth=1)
        overlap[critical] = np.interp(critical, overlap.index, overlap)
        overlap = overlap.sort_index()
        winner = overlap[critical:] if branch == "semantic" else overlap[:critical]
        axes.plot(winner.index, winner, color=COLOURS[branch], label=OVERLAP_LABELS[branch])
    axes.axvline(critical, color=NEUTRAL, linewidth=1, linestyle="-.")
    write_beside(axes, critical, 0.02, r"$\alpha_c$", NEUTRAL)
    axes.set(xlabel=ALPHA, ylabel="overlap", xlim=(0, None), ylim=(0, None))
    axes.legend(loc="lower left")
    return figure
