"""Draw the README's picture from the stored results, in both themes: the phase diagram and one slice of it.

`make metadata` runs this script; a test says when the picture is older than the results.
"""

from hashlib import sha256
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

from attention_book.analysis import instances
from attention_book.analysis.thresholds import alpha_of, branches, curve
from attention_book.paths import stored_table
from attention_book.render.drawn import drawn
from attention_book.render.style import COLOURS, STYLE, draw_line, draw_means
from attention_book.store.parquet import load
from attention_phases import Task

FOLDER = Path(__file__).parent
SHARED = FOLDER.parent / "book" / "_static" / "share.png"
THEMES = ("light", "dark")
INK = {"light": "#222222", "dark": "#e6e6e6"}
BRIGHT = {"light": COLOURS, "dark": {"semantic": "#f0917d", "positional": "#7fb4e8"}}
GROUND = {"light": "#ffffff", "dark": "#0d1117"}  # of the map where nobody wins
LINEAR = {"light": "#4f7942", "dark": "#8fc47f"}


def draw(theme):
    """The map of the lower valley, and the test error along its slice, on a transparent ground."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4))
    for part in (figure, left, right):
        part.patch.set_alpha(0)
    theory = load(stored_table("fig03_theory"))
    thresholds = {kind: curve(theory, kind) for kind in ("critical", "linear")}
    draw_map(left, thresholds, theme)
    draw_slice(right, thresholds, theme)
    return figure


def draw_map(axes, thresholds, theme):
    """Which student has the lower loss, and both thresholds of theory."""
    gaps = instances.gap_map(load(stored_table("fig03")).query("optimizer == 'lbfgs'"), instances.training_gap)
    ramp = [COLOURS["semantic"], GROUND[theme], COLOURS["positional"]]
    most = np.nanquantile(np.abs(gaps.to_numpy()), 0.7)  # beyond it all cells have the full colour
    axes.pcolormesh(
        gaps.columns,
        gaps.index,
        gaps.to_numpy(),
        cmap=mpl.colors.LinearSegmentedColormap.from_list("winner", ramp),
        vmin=-most,
        vmax=most,
        shading="nearest",
        rasterized=True,
    )
    for kind, style, name in (("critical", "-", r"$\alpha_c$"), ("linear", "--", r"$\alpha_l$")):
        line = thresholds[kind]
        line = line[(line.index >= gaps.columns.min()) & (line["alpha"] <= gaps.index.max())]
        draw_line(axes, line, "alpha", INK[theme], style, name)
    axes.axvline(Task().omega, color=INK[theme], linewidth=0.8, linestyle=":")
    axes.text(0.41, 0.6, "positional wins", ha="center")
    axes.text(0.15, 1.72, "semantic wins", ha="center")
    axes.set(title="Lower loss (colours: trained students)", xlabel=r"positional share of the teacher $\omega$")
    axes.set(ylabel=r"sentences per dimension $\alpha$", ylim=(0, gaps.index.max()))
    axes.legend(loc="lower left", ncols=2, title="theory", title_fontsize=11, alignment="left")


def draw_slice(axes, thresholds, theme):
    """Test error of the student whose training loss is the lower one, by theory and trained; the linear model."""
    trained = load(stored_table("fig02")).query("optimizer == 'lbfgs'")
    line = load(stored_table("fig02_theory"))
    means, gap = instances.instance_means(trained), instances.training_gap(trained).mean(axis=1)
    critical = alpha_of(line, "critical").value
    for branch, sign in (("semantic", -1), ("positional", 1)):
        colour = BRIGHT[theme][branch]
        theory, students = branches(line)[branch], means.loc[branch][sign * gap > 0]
        draw_line(axes, theory[sign * (critical - theory.index) >= 0], "test_mse", colour, unit=1e-3)
        draw_means(axes, students, "test_mse", colour, unit=1e-3, label=f"{branch}: theory, students")
    baseline = line.loc[line["what"] == "baseline", "test_mse"].iloc[0]
    axes.axhline(1e3 * baseline, color=LINEAR[theme], linestyle=":", label="best linear model")
    omega = Task().omega
    for kind, name in (("critical", r"$\alpha_c$"), ("linear", r"$\alpha_l$")):
        alpha = thresholds[kind]["alpha"].loc[omega]
        axes.axvline(alpha, ymin=0.32, color=INK[theme], linewidth=0.8, linestyle=":")
        axes.annotate(name, (alpha, 1), (3, -10), xycoords=("data", "axes fraction"), textcoords="offset points")
    axes.set(title=rf"Its test error at $\omega = {omega:g}$")
    axes.set(xlabel=r"sentences per dimension $\alpha$", ylabel=r"test error, in $10^{-3}$", xlim=(0, 2.02))
    axes.set_ylim(0, None)
    axes.legend(loc="lower left")


def write(theme, folder=FOLDER):
    """Write phases-THEME.svg, with the `digest` of what it draws as its identifier."""
    inks = dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), INK[theme])
    with mpl.rc_context(STYLE | inks | {"font.size": 12, "axes.titlesize": 12, "legend.fontsize": 11}):
        figure = draw(theme)
        path = Path(folder, f"phases-{theme}.svg")
        figure.savefig(path, dpi=100, metadata={"Date": None, "Identifier": digest(figure)})
        if theme == "light":  # what a shared link shows
            figure.savefig(SHARED, dpi=133, facecolor="white")
        plt.close(figure)


def digest(figure):
    """Hash of the numbers that a figure draws, to four digits: the same on every machine, whatever the colours."""
    numbers = drawn(figure).drop(columns="colour").to_csv(index=False, float_format="%.4g")
    return sha256(numbers.encode()).hexdigest()


if __name__ == "__main__":
    for theme in THEMES:
        write(theme)
