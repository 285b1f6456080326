"""Free energies: the training loss per sentence of both branches, and where each is a minimum."""

import numpy as np
import pandas as pd

from attention_phases.theory.branches import MINIMA

from ..analysis.one_step import breaking_shift
from ..analysis.thresholds import alpha_of, borders_of, curve, side_by_side
from ..render.style import ALPHA, COLOURS, NEUTRAL, draw_line, panels, scientific, styled, write_beside


def ranges(lines):
    """Where the semantic minimum begins, where the losses cross, and where the positional minimum ends.

    By `omega`: `semantic_start`, `critical`, `critical_broken` (what one step of replica symmetry breaking adds) and
    `positional_stop`, with errors. NaN where a border is not within the alphas, or the shift is not known.
    """
    borders, critical = borders_of(lines), curve(lines, "critical")
    shifts = [breaking_shift("critical", omega) for omega in critical.index]
    columns = {
        "semantic_start": borders["semantic"],
        "critical": critical,
        "critical_broken": pd.DataFrame(shifts, critical.index),
        "positional_stop": borders["positional"],
    }
    return side_by_side(columns, critical.index).reset_index()


@styled
def draw_free_energies(lines):
    """Training loss per sentence of both branches over alpha, one panel for each omega of `theory_lines`."""
    borders = borders_of(lines)
    groups = lines.groupby("omega")
    figure, rows = panels(len(groups), 3, sharex=True)
    for axes, (omega, line) in zip(rows, groups):
        critical = alpha_of(line, "critical").value
        for branch in MINIMA:
            border = borders[branch]["alpha"].get(omega, 0.0 if branch == "semantic" else np.inf)
            _draw_branch(axes, line[line["what"] == branch], branch, border, critical)
        axes.axvline(critical, color=NEUTRAL, linewidth=1, linestyle="-.")
        write_beside(axes, critical, 0.05, r"$\alpha_c$", NEUTRAL)
        axes.set(title=rf"$\omega = {omega:g}$", ylabel=r"$\varepsilon_t/\alpha$", xlim=(0.2, None))
        shown = line[line["what"].isin(MINIMA) & (line["alpha"] > 0.25)]
        loss = shown["train_loss"] / shown["alpha"]
        axes.set_ylim(loss.min() * 0.995, loss.max() * 1.005)
        scientific(axes)
    figure.legend(*rows[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    rows[-1].set_xlabel(ALPHA)
    return figure


def _draw_branch(axes, rows, branch, border, critical):
    """Its loss, dotted where it is a saddle, and a shade where it is a minimum but not the lower one."""
    colour, rows = COLOURS[branch], rows.set_index("alpha").sort_index()
    loss = rows[["train_loss", "train_loss_error"]].div(rows.index, axis=0)
    if loss.index.min() < border < loss.index.max():
        loss = loss.reindex(loss.index.union([border])).interpolate("index")
    draw_line(axes, loss, "train_loss", colour, ":")
    is_minimum = loss.index >= border if branch == "semantic" else loss.index <= border
    draw_line(axes, loss[is_minimum], "train_loss", colour, label=f"{branch} minimum")
    metastable = np.clip(sorted((border, critical)), 0, loss.index.max())
    axes.axvspan(*metastable, color=colour, alpha=0.13, linewidth=0, label=f"{branch} metastable")
