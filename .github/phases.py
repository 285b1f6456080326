"""Draw the README's moving picture from the stored results, in both themes, and the card that a shared link shows.

The picture: both valleys and both errors while alpha grows through the transition. Where less motion is wished for, it
stands still. The card: the phase diagram and one slice of it. `make metadata` runs this script; a test says when the
picture is older than the results.
"""

import copy
import io
from hashlib import sha256
from pathlib import Path
from xml.etree import ElementTree

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

from attention_book.analysis import instances
from attention_book.analysis.thresholds import alpha_of, branches, curve
from attention_book.paths import stored_table
from attention_book.render.drawn import drawn
from attention_book.render.style import COLOURS, STYLE, draw_cells, draw_line, draw_means
from attention_book.store.parquet import load
from attention_phases import Task

FOLDER = Path(__file__).parent
SHARED = FOLDER.parent / "book" / "_static" / "share.png"
THEMES = ("light", "dark")
INK = {"light": "#222222", "dark": "#e6e6e6"}
BRIGHT = {"light": COLOURS, "dark": {"semantic": "#f0917d", "positional": "#7fb4e8"}}
LINEAR = {"light": "#4f7942", "dark": "#8fc47f"}
ALPHAS = np.linspace(1, 1.6, 31)  # of the moving picture: both thresholds are between
SECONDS, GROWING = 12, 0.8  # of one round, and the share of it in which alpha grows
MOVES = "moving"  # names of what moves begin so
SVG = "http://www.w3.org/2000/svg"
STILL = """@media (prefers-reduced-motion: reduce) { .moves { display: none; } }
@media (prefers-reduced-motion: no-preference) { .still { display: none; } }"""
ALPHA = r"sentences per dimension $\alpha$"


# The moving picture


def draw(theme):
    """The figure, and a function that takes it to an alpha."""
    figure, panels = plt.subplots(1, 3, figsize=(10.5, 3.3))
    for part in (figure, *panels):
        part.patch.set_alpha(0)
    moves = [draw_valleys(panels[0], theme), draw_losses(panels[1], theme), draw_errors(panels[2], theme)]

    def move(alpha):
        for part in moves:
            part(alpha)

    figure.canvas.draw()  # the layout settles
    figure.set_layout_engine("none")
    return figure, move


def draw_valleys(axes, theme):
    """The training loss from one minimum straight to the other, and the best student in the deeper valley.

    The two minima have the losses of theory. What the loss is between them, above the straight line from one to the
    other, is that of students on one data set at alpha = 1 and on one at 2, and in between interpolated.
    """
    planes, line = load(stored_table("plane")), load(stored_table("fig02_theory"))
    shares, walls = np.linspace(-0.35, 1.35, planes["across"].iloc[0]), {}
    for alpha, rows in planes.groupby("alpha"):
        ends = [rows.loc[rows["what"] == name, "train_loss"].iloc[0] for name in ("positional", "semantic")]
        plane = rows.loc[rows["what"] == "plane", "train_loss"].to_numpy().reshape(len(shares), -1)
        walls[alpha] = plane[:, ::-1].diagonal() - np.interp(shares, (0, 1), ends)
        walls[alpha] -= (shares - np.clip(shares, 0, 1)) * (ends[1] - ends[0])  # the same straight line, beyond them
    axes.axhline(0, color=INK[theme], linewidth=0.8, linestyle=":")
    (wall,) = axes.plot(shares, 0 * shares, color=INK[theme], gid=f"{MOVES}_wall")
    dots = {
        name: axes.plot([place], [0], "o", markersize=9, color=BRIGHT[theme][name], gid=f"{MOVES}_{name}")[0]
        for name, place in (("positional", 0), ("semantic", 1))
    }
    (best,) = axes.plot([0], [0], "o", markersize=15, color=INK[theme], fillstyle="none", gid=f"{MOVES}_best")
    axes.set(xlim=(-0.36, 1.36), ylim=(-0.35, 1.5), xticks=(0, 1), title="Two valleys, and the best student")
    axes.set_xticklabels(("positional", "semantic"))
    axes.set_ylabel("training loss about the mean\nof both minima, " + r"in $10^{-3}$")
    losses = {name: rows["train_loss"] for name, rows in branches(line).items()}

    def move(alpha):
        low = {name: np.interp(alpha, loss.index, loss) for name, loss in losses.items()}
        tilt = 1e3 * (low["semantic"] - low["positional"])
        between = 1e3 * ((2 - alpha) * walls[1.0] + (alpha - 1) * walls[2.0])
        height = between + tilt * (shares - 0.5)
        wall.set_ydata(np.minimum(height, axes.get_ylim()[1] + 0.1))  # as many points whatever the height
        for name, share in (("positional", -0.5), ("semantic", 0.5)):
            dots[name].set_ydata([tilt * share])
        best.set_data([int(tilt < 0)], [-abs(tilt) / 2])

    return move


def draw_losses(axes, theme):
    """Training loss of both students, by theory and trained."""
    axes.set(title="Training loss", ylabel=r"training loss, in $10^{-3}$")
    curves = draw_students(axes, theme, "train_loss")
    mark_thresholds(axes, theme, ("critical",), 0.2)
    axes.legend(loc="upper left")
    return moving_dots(axes, theme, curves)


def draw_errors(axes, theme):
    """Their errors on new sentences, and that of the linear model."""
    axes.set(title="Error on new sentences", ylabel=r"test error, in $10^{-3}$")
    curves = draw_students(axes, theme, "test_mse")
    baseline = draw_baseline(axes, theme)
    mark_thresholds(axes, theme, ("critical", "linear"), 0.82)
    axes.set_ylim(0, None)
    axes.legend([baseline], [baseline.get_label()], loc="lower left")
    return moving_dots(axes, theme, curves)


def draw_students(axes, theme, quantity):
    """A quantity of both students along alpha, of theory (lines) and trained (points); curves of theory by name."""
    line, means = load(stored_table("fig02_theory")), instances.instance_means(trained())
    curves = {}
    for name in ("positional", "semantic"):
        rows, students = (
            some.loc[ALPHAS[0] - 0.1 : ALPHAS[-1] + 0.1] for some in (branches(line)[name], means.loc[name])
        )
        draw_line(axes, rows, quantity, BRIGHT[theme][name], unit=1e-3)
        draw_means(axes, students, quantity, BRIGHT[theme][name], unit=1e-3, label=f"{name} student")
        curves[name] = rows[quantity] / 1e-3
    axes.set(xlabel=ALPHA, xlim=(ALPHAS[0] - 0.02, ALPHAS[-1] + 0.02))
    return curves


def moving_dots(axes, theme, curves):
    """Both students at an alpha, and a line there; returns a function that moves them."""
    name = f"{MOVES}_{len(axes.figure.axes)}{axes.get_ylabel()[:4]}"
    (line,) = axes.plot([0, 0], [0, 1], transform=axes.get_xaxis_transform(), color=INK[theme], gid=f"{name}_alpha")
    line.set(linewidth=1, label="_alpha")
    dots = {
        student: axes.plot(
            values.index[:1], values.iloc[:1], "o", markersize=9, color=BRIGHT[theme][student], gid=f"{name}_{student}"
        )[0]
        for student, values in curves.items()
    }

    def move(alpha):
        line.set_xdata([alpha, alpha])
        for student, values in curves.items():
            dots[student].set_data([alpha], [np.interp(alpha, values.index, values)])

    return move


def picture(theme, folder=FOLDER):
    """Write phases-THEME.svg, with the `digest` of what it draws as its identifier."""
    with styled(theme):
        figure, move = draw(theme)
        identifier, frames = digest(figure, move), []
        for alpha in ALPHAS:
            move(alpha)
            buffer = io.StringIO()
            figure.savefig(buffer, format="svg", metadata={"Date": None, "Identifier": identifier})
            frames.append(buffer.getvalue())
        plt.close(figure)
    Path(folder, f"phases-{theme}.svg").write_text(animated(frames), encoding="utf-8")


def animated(frames):
    """One SVG of frames, which differ in where the groups named `MOVES`... stand; without motion it is the last one."""
    trees = [ElementTree.fromstring(frame) for frame in frames]
    tree = trees[-1]
    names = [group.get("id") for group in tree.iter(f"{{{SVG}}}g") if group.get("id", "").startswith(MOVES)]
    for name in names:
        (parent,) = (part for part in tree.iter() for child in part if child.get("id") == name)
        still = next(part for part in parent if part.get("id") == name)
        moves = copy.deepcopy(still)
        still.set("class", "still")
        moves.set("class", "moves")
        moves.set("id", f"{name}-moves")
        parent.insert(list(parent).index(still) + 1, moves)
        seen = [next(part for part in frame.iter() if part.get("id") == name) for frame in trees[:-1]] + [still]
        for number, element in enumerate(moves.iter()):
            for attribute in {f"{{{SVG}}}path": ("d",), f"{{{SVG}}}use": ("x", "y")}.get(element.tag, ()):
                values = [list(group.iter())[number].get(attribute) for group in seen]
                if len(set(values)) > 1:
                    element.append(animation(attribute, values, jumps=name.endswith("best")))
    style = ElementTree.SubElement(tree, f"{{{SVG}}}style")
    style.text = STILL
    ElementTree.register_namespace("", SVG)
    ElementTree.register_namespace("xlink", "http://www.w3.org/1999/xlink")
    return ElementTree.tostring(tree, encoding="unicode")


def animation(attribute, values, jumps):
    """A SMIL element that takes an attribute through values, holds the last one, and begins again."""
    times = [*np.linspace(0, GROWING, len(values)), 1]
    return ElementTree.Element(
        f"{{{SVG}}}animate",
        attributeName=attribute,
        dur=f"{SECONDS}s",
        repeatCount="indefinite",
        calcMode="discrete" if jumps else "linear",
        keyTimes=";".join(f"{time:.4f}" for time in times),
        values=";".join(" ".join(value.split()) for value in [*values, values[-1]]),
    )


# The card


def draw_card():
    """The map of the lower valley, and the test error along its slice, on white."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.7))
    theory = load(stored_table("fig03_theory"))
    thresholds = {kind: curve(theory, kind) for kind in ("critical", "linear")}
    draw_map(left, thresholds)
    draw_slice(right, thresholds)
    return figure


def draw_map(axes, thresholds):
    """Which student has the lower loss, and both thresholds of theory."""
    gaps = instances.gap_map(load(stored_table("fig03")).query("optimizer == 'lbfgs'"), instances.training_gap)
    most = np.nanquantile(np.abs(gaps.to_numpy()), 0.7)  # beyond it all cells have the full colour
    draw_cells([axes], [gaps], (COLOURS["semantic"], COLOURS["positional"]), most)
    for kind, style, name in (("critical", "-", r"$\alpha_c$"), ("linear", "--", r"$\alpha_l$")):
        line = thresholds[kind]
        line = line[(line.index >= gaps.columns.min()) & (line["alpha"] <= gaps.index.max())]
        draw_line(axes, line, "alpha", INK["light"], style, name)
    axes.axvline(Task().omega, color=INK["light"], linewidth=0.8, linestyle=":")
    axes.text(0.41, 0.6, "positional wins", ha="center")
    axes.text(0.15, 1.72, "semantic wins", ha="center")
    axes.set(title="Lower loss (colours: trained students)", xlabel=r"positional share of the teacher $\omega$")
    axes.set(ylabel=ALPHA, ylim=(0, gaps.index.max()))
    axes.legend(loc="lower left", ncols=2, title="theory", title_fontsize=11, alignment="left")


def draw_slice(axes, thresholds):
    """Test error of the student whose training loss is the lower one, by theory and trained; the linear model."""
    line = load(stored_table("fig02_theory"))
    means, gap = instances.instance_means(trained()), instances.training_gap(trained()).mean(axis=1)
    critical = alpha_of(line, "critical").value
    for branch, sign in (("semantic", -1), ("positional", 1)):
        theory, students = branches(line)[branch], means.loc[branch][sign * gap > 0]
        draw_line(axes, theory[sign * (critical - theory.index) >= 0], "test_mse", COLOURS[branch], unit=1e-3)
        draw_means(axes, students, "test_mse", COLOURS[branch], unit=1e-3, label=f"{branch}: theory, students")
    draw_baseline(axes, "light")
    mark_thresholds(axes, "light", ("critical", "linear"), 1)
    axes.set(title=rf"Its test error at $\omega = {Task().omega:g}$")
    axes.set(xlabel=ALPHA, ylabel=r"test error, in $10^{-3}$", xlim=(0, 2.02))
    axes.set_ylim(0, None)
    axes.legend(loc="lower left")


# Of both


def trained():
    return load(stored_table("fig02")).query("optimizer == 'lbfgs'")


def draw_baseline(axes, theme):
    line = load(stored_table("fig02_theory"))
    baseline = line.loc[line["what"] == "baseline", "test_mse"].iloc[0]
    return axes.axhline(1e3 * baseline, color=LINEAR[theme], linestyle=":", label="best linear model")


def mark_thresholds(axes, theme, kinds, height):
    """Vertical lines at thresholds of theory at the standard omega, with their names at a height."""
    for kind in kinds:
        alpha = alpha_of(load(stored_table("fig02_theory")), kind).value
        axes.axvline(alpha, ymin=min(height - 0.1, 0.32), color=INK[theme], linewidth=0.8, linestyle=":")
        name = {"critical": r"$\alpha_c$", "linear": r"$\alpha_l$"}[kind]
        axes.annotate(name, (alpha, height), (3, -10), xycoords=("data", "axes fraction"), textcoords="offset points")


def styled(theme):
    """The book's type, and the ink of a theme."""
    inks = dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), INK[theme])
    return mpl.rc_context(
        STYLE | inks | {"font.size": 12, "axes.titlesize": 12, "legend.fontsize": 11, "path.simplify": False}
    )


def digest(figure, move):
    """Hash of the numbers drawn at the first and last alpha, to four digits: the same on every machine."""
    seen = sha256()
    for alpha in ALPHAS[[0, -1]]:
        move(alpha)
        numbers = drawn(figure).drop(columns="colour").to_csv(index=False, float_format="%.4g")
        seen.update(numbers.encode())
    return seen.hexdigest()


def card():
    """Write the card, on white."""
    with styled("light"):
        figure = draw_card()
        figure.savefig(SHARED, dpi=133, facecolor="white")
        plt.close(figure)


if __name__ == "__main__":
    for theme in THEMES:
        picture(theme)
    card()
