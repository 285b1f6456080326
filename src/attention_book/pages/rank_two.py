"""Figure 11: students of rank 2."""

import numpy as np
import pandas as pd

from attention_phases.theory.branches import OWN

from ..analysis.architectures import by_branch
from ..analysis.instances import instance_means
from ..analysis.thresholds import alpha_of
from ..render.slices import draw_theory, finish_slice
from ..render.style import BASELINE, COLOURS, NEUTRAL, draw_means, slice_panels, styled

MARKERS = {"semantic": "o", "positional": "s", "mixed": "^", "random": "x"}  # of students by start


def from_onset(lines):
    """`by_branch` of the student of rank 2, whose semantic branch leaves the positional one continuously."""
    theory = by_branch(lines)
    positional = theory["positional"].select_dtypes("number").dropna(axis=1, how="all")
    onset = alpha_of(lines, "positional limit").value
    if np.isfinite(onset):
        start = {name: np.interp(onset, positional.index, positional[name]) for name in positional}
        start |= {"theta": 0.0, "theta_error": 0.0, "gain": np.nan}
        theory["semantic"] = pd.concat([pd.DataFrame([start], [onset]), theory["semantic"]])
    return theory


@styled
def draw_rank_two(table, theory, tied, thresholds, baseline, sigma):
    """Figure 11: the rank-2 student from several kinds of start; arguments as for `draw_variant`."""
    means = instance_means(table)
    figure, axes = slice_panels(4, r"training loss $\epsilon_t$")
    losses, overlaps, errors = axes
    for panel, name, hidden in ((losses, "train_loss", ""), (errors, "test_mse", "_")):
        for branch, colour in COLOURS.items():
            draw_theory(panel, theory[branch], name, NEUTRAL, f"{hidden}theory" if branch == "semantic" else None)
            look = {"color": colour, "linewidth": 1, "label": f"{hidden}rank 1, {branch}"}
            panel.plot(tied[branch][name], "--", **look)
        for start, marker in MARKERS.items():
            look = {"fillstyle": "none", "label": f"{hidden}{start} start"}
            draw_means(panel, means.loc[start], name, COLOURS.get(start, NEUTRAL), marker, **look)
    sizes = {"semantic": r"$|\theta|/\sigma^2$, with the teacher", "positional": r"$|m|/\sigma^2$, with the positions"}
    for branch, colour in COLOURS.items():
        own, unit = OWN[branch], sigma**2
        draw_theory(overlaps, theory["semantic"], own, colour, sizes[branch], unit)
        draw_theory(overlaps, theory["positional"], own, colour, unit=unit)
        for start, marker in MARKERS.items():
            draw_means(overlaps, means.loc[start], own, colour, marker, unit, fillstyle="none")
    errors.axhline(baseline, color=BASELINE, linestyle=":", label="best linear model")
    finish_slice(axes, ("Training loss", "Overlaps, both columns together", "Test error"), thresholds)
    return figure
