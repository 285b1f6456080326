"""Figures for wide screens: panels beside one another, each with the labels that it shared; the figure stays."""

import re

import pytest

from attention_book.render.style import draw_points, panels
from attention_book.render.wide import wide_svg


@pytest.fixture
def figure():
    drawn, axes = panels(3, 3, sharex=True)
    for panel, name in zip(axes, "abc"):
        panel.plot([1, 2], label="line")
        panel.set_title(f"A title of many words, too long for one third of a page: {name}")
    axes[-1].set_xlabel("what all share")
    return drawn


def test_panels_stand_side_by_side_with_labels_of_their_own(figure):
    svg = str(wide_svg(figure))
    width, height = (float(re.search(rf'{name}="([\d.]+)pt"', svg)[1]) for name in ("width", "height"))
    assert width > 2 * height
    assert svg.count("<!-- what all share -->") == 3
    assert list(figure.get_size_inches()) == [6.4, 9] and figure.axes[0].get_subplotspec().get_gridspec().ncols == 1


def test_a_single_panel_has_no_other_shape():
    assert wide_svg(panels(1, 3)[0]) is None


def test_the_legend_of_all_panels_keeps_the_markers_of_points_with_bars(figure):
    draw_points(figure.axes[0], [1, 2], [1, 2], [0.1, 0.1], "black", label="points")
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside upper left")
    legend = wide_svg(figure).partition('<g id="legend_')[2]
    assert re.search(r'<use xlink:href="#m[0-9a-f]+"', legend)
