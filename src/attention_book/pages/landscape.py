"""Figure 1: the task, the training loss on the plane of two minima, and the transition between them."""

import matplotlib as mpl
import numpy as np
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from attention_phases.theory.branches import MINIMA, OWN

from ..render.panels import panels, styled, write_beside
from ..render.style import ALPHA, COLOURS, NEUTRAL, OVERLAPS, POSITIONAL, SEMANTIC


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
def draw_surfaces(by_alpha, sigma):
    """Figure 1, B: the training loss on the plane through two minima and the origin, one panel for each alpha.

    by_alpha: `experiments.landscape.Surface` by alpha.
    """
    figure, rows = panels(len(by_alpha), 4.7)
    for axes, (alpha, surface) in zip(rows, by_alpha.items()):
        winner = min(surface.minima, key=lambda valley: surface.minima[valley][2])
        lowest = surface.minima[winner][2]
        _draw_loss(figure, axes, surface.m / sigma**2, surface.theta / sigma**2, surface.loss - lowest)
        for valley, (m, theta, loss) in surface.minima.items():
            if valley == winner:
                marker, size, label = "*", 17, f"{valley}: the lower one"
            else:
                marker, size, label = "o", 10, f"{valley}: higher by {loss - lowest:.1e}"
            style = {"color": COLOURS[valley], "markersize": size, "markeredgecolor": "white"}
            axes.plot(m / sigma**2, theta / sigma**2, marker, **style, label=label)
        axes.set_title(rf"$\alpha = {alpha:g}$")
        axes.set_xlabel(r"overlap with the positions $m/\sigma^2$")
        axes.set_ylabel(r"with the teacher $\theta/\sigma^2$")
        axes.xaxis.set_major_locator(mpl.ticker.MaxNLocator(5))
        axes.legend(loc="upper right", frameon=True, framealpha=0.9)
    return figure


def _draw_loss(figure, axes, x, y, excess):
    """Contours of a loss above its lower minimum: equal steps in the root show the valleys' floors and their walls."""
    levels = np.linspace(0, np.sqrt(np.quantile(excess, 0.8)), 22) ** 2
    shades = {"cmap": "Greys_r", "norm": mpl.colors.PowerNorm(0.5, 0, levels[-1])}
    filled = axes.contourf(x, y, np.maximum(excess, 0), levels, extend="max", **shades)
    axes.contour(x, y, excess, levels[1::2], colors="white", linewidths=0.4)
    bar = figure.colorbar(filled, ax=axes, label=r"$\epsilon_t$ above the lower minimum")
    bar.set_ticks(levels[::7])
    bar.formatter = mpl.ticker.FormatStrFormatter("%.1e")
    bar.update_ticks()


@styled
def draw_transition(lines, sigma):
    """Figure 1, C: overlaps of the solution with the lower loss, from theory; dotted: of the other one.

    lines: rows of `theory_lines.standard_line` at one omega.
    """
    critical = lines.loc[lines["what"] == "critical", "alpha"].iloc[0]
    figure, (axes,) = panels(1, 3.8)
    for branch in MINIMA:
        overlap = lines[lines["what"] == branch].set_index("alpha")[OWN[branch]].sort_index() / sigma**2
        axes.plot(overlap.index, overlap, ":", color=COLOURS[branch], linewidth=1)
        overlap[critical] = np.interp(critical, overlap.index, overlap)
        overlap = overlap.sort_index()
        winner = overlap[critical:] if branch == "semantic" else overlap[:critical]
        axes.plot(winner.index, winner, color=COLOURS[branch], label=OVERLAPS[branch])
    axes.axvline(critical, color=NEUTRAL, linewidth=1, linestyle="-.")
    write_beside(axes, critical, 0.02, r"$\alpha_c$", NEUTRAL)
    axes.set(xlabel=ALPHA, ylabel="overlap", xlim=(0, None), ylim=(0, None))
    axes.legend(loc="lower left")
    return figure
