"""Figures for wide screens: panels side by side with the same look as before, and with their own labels."""

import re

import pytest
import seen

from attention_book.render import layout
from attention_book.render.style import COLOURS, draw_points, panels


@pytest.fixture
def figure():
    """Return a figure with all kinds of legends: for the figure, above a panel, and inside a panel."""
    drawn, axes = panels(3, 3, sharex=True)
    for panel, name in zip(axes, "abc"):
        panel.plot([1, 2], color=COLOURS["semantic"], label="line")
        draw_points(panel, [1, 2], [1, 2], [0.1, 0.1], COLOURS["positional"], label="points")
        panel.axvline(1.5, color="black", linestyle=":", label="where")
        panel.set_title(f"A title of many words, too long for one third of a page: {name}")
    axes[0].set_ylabel("what the first has")
    axes[-1].set_xlabel("what all share")
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside upper left", ncols=3)
    long = [f"{text}, with words that need more room than one panel has" for text in ("A line", "Points", "A place")]
    axes[1].legend(axes[1].get_legend_handles_labels()[0], long, loc="lower left", bbox_to_anchor=(0, 1.1))
    axes[2].legend(loc="lower right")
    return drawn


def looks(figure):
    """Return a description of a figure, without ticks and without the places of words and legends."""
    figure.draw_without_rendering()
    text = re.sub(r"(?<=legend at )[-.\d]+ [-.\d]+|(?<=\") [-.\d]+ [-.\d]+(?=;|\n|$)", "", seen.text_of(figure))
    return re.sub(r"^([xy] .*? to [-.\d]+);[^;\n]*", r"\1", text.replace(" / ", " "), flags=re.MULTILINE).splitlines()


def test_panels_stand_side_by_side_and_look_as_before(figure, monkeypatch):
    tall = looks(figure)
    monkeypatch.setattr(layout, "print_figure", lambda figure, *_, **__: figure)
    laid_out = layout.wide_svg(figure)
    shared, own = '; words black "what all share"', looks(laid_out)
    assert ["".join(lines).count(shared) for lines in (tall, own)] == [1, 3]
    assert [line.replace(shared, "") for line in own] == [line.replace(shared, "") for line in tall]
    left = [axes.get_position().x0 for axes in laid_out.axes]
    assert left == sorted(left) and len({round(axes.get_position().y0, 2) for axes in laid_out.axes}) == 1
    assert laid_out.get_figwidth() > 2 * laid_out.get_figheight()
    assert list(figure.get_size_inches()) == [6.4, 9] and figure.axes[0].get_subplotspec().get_gridspec().ncols == 1


def test_a_single_panel_has_no_other_shape():
    assert layout.wide_svg(panels(1, 3)[0]) is None
