"""The README's picture, from the stored results."""

from hashlib import sha256

import matplotlib.pyplot as plt

from attention_phases.task import Task

from ..analysis import instances
from ..analysis.lines import branches, mark
from ..paths import DATA
from ..render.drawn import drawn
from ..render.style import STYLE
from ..store.database import load
from .cover import cover

PICTURE, THEMES = ".github/phases-{theme}.svg", ("light", "dark")


def draw(theme):
    """The picture, as `figures.cover.cover` draws it."""
    omega = Task().omega
    table, slice_ = (load(DATA / f"{name}.parquet").query("optimizer == 'lbfgs'") for name in ("fig03", "fig02"))
    theory, here = (load(DATA / f"{name}.parquet") for name in ("fig03_theory", "fig02_theory"))
    lines = {kind: instances.curve(theory, kind) for kind in ("critical", "linear")}
    alpha_c = mark(here, "critical").alpha
    means, gap = instances.instance_means(slice_), instances.training_gap(slice_).mean(axis=1)
    curves, winners = {}, {}
    for branch, sign in (("semantic", -1), ("positional", 1)):
        curve = branches(here)[branch]
        curves[branch] = curve[sign * (alpha_c - curve["alpha"]) >= 0]
        winners[branch] = means.loc[branch][sign * gap > 0].reset_index()
    baseline = omega, here.loc[here["what"] == "baseline", "test_mse"].iloc[0]
    return cover(instances.gap_map(table, instances.training_gap), lines, winners, curves, baseline, theme)


def picture(theme, path):
    """Write the picture, with the `digest` of what it draws as its identifier."""
    figure = draw(theme)
    with plt.rc_context({"svg.hashsalt": STYLE["svg.hashsalt"]}):  # the same bytes for the same picture
        figure.savefig(path, dpi=100, metadata={"Date": None, "Identifier": digest(figure)})
    plt.close(figure)


def digest(figure):
    """Hash of the numbers that a figure draws, to four digits: the same on every machine, whatever the colours."""
    numbers = drawn(figure).drop(columns="colour").to_csv(index=False, float_format="%.4g")
    return sha256(numbers.encode()).hexdigest()
