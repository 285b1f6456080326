"""What a reader sees of a figure, as references hold it: of two that are drawn by hand."""

from itertools import zip_longest

import matplotlib as mpl
import matplotlib.pyplot as plt
import pandas as pd
import pytest
import reference
from seen import text_of

from attention_book.render import style
from attention_book.render.slices_and_maps import CURVES, draw_maps
from attention_phases.measured import Measured

RED, BLUE = style.COLOURS.values()


def a_slice():
    """Points, a line with its band, a threshold, words, bars and a key."""
    figure, (axes,) = style.panels(1, 3)
    rows = pd.DataFrame({"q": [0.2, 0.4], "q_error": [0.05, 0.1]}, [1.0, 2.0])
    style.draw_means(axes, rows, "q", RED, label="trained")
    style.draw_line(axes, rows, "q", BLUE, "--", "theory")
    style.mark_threshold(axes, Measured(1.5, 0.25), r"$\alpha_c$", style.NEUTRAL)
    axes.text(2.5, 0.4, "semantic wins", color=RED, weight="bold")
    axes.set(xlim=(0, 4), xlabel=style.ALPHA, ylim=(0, 0.8))
    axes.bar([3, 3.5], [0.1, 0.2], 0.2, color=[RED, BLUE], hatch="//")
    axes.legend(loc="upper right")
    return figure


def a_map():
    values = pd.DataFrame([[-2.0, 1.0], [0.0, 2.0]], [0.5, 1.0], [0.1, 0.3])
    alphas = pd.DataFrame({"alpha": [0.6, 0.9], "alpha_error": [0.1, 0.1]}, [0.1, 0.3])
    curves, marks = [(alphas, *CURVES["critical"])], [(alphas, 0, "trained", "s")]
    return draw_maps({"Theory": values}, style.LOSS_GAP, (RED, BLUE), curves, marks)


SEEN = {
    a_slice: r"""
panel 1
x 0.0000 to 4.0000; 0.0 0.5 1.0 1.5 2.0 2.5 3.0 3.5 4.0; words black "sample complexity $\alpha = n/d$"
y 0.00000 to 0.80000; 0.0 0.2 0.4 0.6 0.8
band positional 0.30: 1.0000 to 2.0000, 0.15000 to 0.50000 (6)
box #444444 0.30: 1.2500 to 1.7500, across (4)
box semantic hatched //: 2.9000 to 3.1000, 0.00000 to 0.10000 (4)
box positional hatched //: 3.4000 to 3.6000, 0.00000 to 0.20000 (4)
bars semantic: 1.0000 to 2.0000, 0.15000 to 0.50000 (4)
line -- 1.8 positional: "theory" 1.0000 to 2.0000, 0.20000 to 0.40000 (2)
line -. 1.0 #444444: "$\alpha_c$" 1.5000, across (2)
points o 4.5 semantic: 1.0000 to 2.0000, 0.20000 to 0.40000 (2)
words #444444: "$\alpha_c$" 0.38 0.91
bold words semantic: "semantic wins" 0.62 0.48
legend at 0.78 0.72: "theory" line -- 1.8 positional, "trained" bars semantic and points o 4.5 semantic
""",
    a_map: r"""
panel 1
x 0.08800 to 0.31200; 0.100 0.125 0.150 0.175 0.200 0.225 0.250 0.275 0.300; \
words black "positional share of the teacher $\omega$"
y 0.0000 to 1.0400; 0.0 0.2 0.4 0.6 0.8 1.0; words black "sample complexity $\alpha = n/d$"
cells of -2.0000 semantic, -1.0000 #e4aa9e, 0.0000 #fefeff, 1.0000 #91b2d3, 2.0000 positional, below semantic, \
above positional, without a value clear: 0.00000 to 0.40000, 0.2500 to 1.2500 (9)
band #444444 0.30: 0.10000 to 0.30000, 0.5000 to 1.0000 (6)
line - 1.8 #444444: "$\alpha_c$" 0.10000 to 0.30000, 0.6000 to 0.9000 (2)
bars black: 0.10000 to 0.30000, 0.5000 to 1.0000 (4)
points s 5.0 in white black: 0.10000 to 0.30000, 0.6000 to 0.9000 (2)
words #444444: "$\alpha_c$" 0.91 0.88
words black: "Theory" 0.00 1.01
legend at -0.09 1.08: "trained" bars black and points s 5.0 in white black
colour bar 2
x -2.0000 to 2.0000; ${−1.6}$ ${−0.8}$ ${0.0}$ ${0.8}$ ${1.6}$; words black \
"$\epsilon_t^{\rm semantic}-\epsilon_t^{\rm positional}$"
y 0.00000 to 1.00000
""",
}


@pytest.mark.parametrize("draw", SEEN, ids=lambda draw: draw.__name__)
def test_all_that_is_drawn_is_said(draw):
    with mpl.rc_context(style.STYLE):
        figure = draw()
        figure.canvas.draw()
        lines = text_of(figure).splitlines()
        plt.close(figure)
    pairs = zip_longest(SEEN[draw].replace("\\\n", "").split("\n")[1:-1], lines, fillvalue="")
    assert [now for before, now in pairs if not reference.agree(before, now)] == []
