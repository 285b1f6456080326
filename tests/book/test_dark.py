"""Figures for the dark theme: the mapping of colours, the order of shades in a map, and the figure on a page."""

import re
from io import StringIO
from xml.etree import ElementTree

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from built import EXECUTED, HTML
from dark import INK, PAPER, dark_colour, darken, faint_tone, linear_rgb, oklab

from attention_book.render import style
from attention_book.render.slices_and_maps import TIED
from attention_book.render.style import ATTENTION, BASELINE, COLOURS, LINEAR, NEUTRAL, STYLE, VALUES, draw_cells

OTHERS = ["#000000", "#222222", "#8a6fb0"]  # colours that figures use without a name
SHOWN = """() => [...document.querySelectorAll('.themes')].map(pair => [
    ...pair.querySelectorAll('img')].map(image => [image.alt, image.src.endsWith("-dark.svg"),
    getComputedStyle(image).display, getComputedStyle(image).backgroundColor]))"""


def contrast(colour):
    """Return the contrast with the background, as the Web Content Accessibility Guidelines define it."""
    light, paper = (linear_rgb(shade) @ (0.2126, 0.7152, 0.0722) for shade in (colour, PAPER))
    return (light + 0.05) / (paper + 0.05)


def hue(colour):
    _, green, blue = oklab(colour)
    return np.degrees(np.arctan2(blue, green))


def test_oklab_agrees_with_its_author():
    """White and pure red have the published values. White becomes the paper, and black becomes the ink."""
    assert (dark_colour("#ffffff"), dark_colour("#000000")) == (PAPER, INK)
    np.testing.assert_allclose(oklab("#ffffff"), (1, 0, 0), atol=1e-4)
    np.testing.assert_allclose(oklab("#ff0000"), (0.62796, 0.22486, 0.12585), atol=1e-4)


@pytest.mark.parametrize("colour", [*COLOURS.values(), BASELINE, ATTENTION, LINEAR, NEUTRAL, *OTHERS])
def test_a_colour_keeps_its_hue_and_is_read_as_text(colour):
    assert contrast(dark_colour(colour)) >= 4.5
    if np.hypot(*oklab(colour)[1:]) > 0.03:
        assert hue(dark_colour(colour)) == pytest.approx(hue(colour), abs=3)
    else:
        assert len(set(re.findall("..", dark_colour(colour)[1:]))) == 1


def test_greys_are_seen_as_lines_and_keep_their_order():
    """The darker of two greys on white becomes the lighter one on dark."""
    greys = [dark_colour(f"#{2 * value:02x}{2 * value:02x}{2 * value:02x}") for value in range(128)]
    assert sorted(greys, reverse=True) == greys
    assert contrast(dark_colour(TIED)) >= 3


def test_both_mechanisms_differ_for_the_colour_blind():
    """Colour-blind readers still see blue against yellow. A difference of 0.02 is just visible."""
    semantic, positional = (oklab(dark_colour(COLOURS[name])) for name in ("semantic", "positional"))
    assert semantic[2] - positional[2] > 0.15


def svg(figure):
    written = StringIO()
    figure.savefig(written, format="svg")
    plt.close(figure)
    return written.getvalue()


def colours(text):
    """Return the colours in the styles of a figure."""
    return {*re.findall(r"(?<=: )#[0-9a-f]{6}\b", text)}


def test_a_figure_without_a_map_is_mapped_wholly():
    with mpl.rc_context(STYLE):
        figure, (axes, matrix) = plt.subplots(2)
        style.draw_shares(matrix, [[0, 1]], (0, 1), ".1f")
        axes.errorbar([0, 1], [0, 1], 0.1, fmt="o-", color=COLOURS["semantic"], markerfacecolor="white", label="a line")
        axes.text(0.5, 0.5, "words", color=COLOURS["positional"])
        axes.legend(frameon=True, edgecolor="#cccccc")
        light = svg(figure)
    assert colours(darken(light)) == {dark_colour(colour) for colour in colours(light)}
    assert colours(light) == {"#000000", "#ffffff", "#cccccc", *COLOURS.values()}
    assert ElementTree.fromstring(darken(light)).get("fill") == INK  # the colour of text that matplotlib leaves black


def with_a_line(draw):
    """Draw a map with a line, words and a legend over it, and a colour bar; return the light and the dark figure."""
    with mpl.rc_context(STYLE | {"svg.hashsalt": "same"}):
        figure, axes = plt.subplots()
        style.draw_colour_bar(figure, draw(axes), axes, "values")
        axes.plot([0, 1], [0, 1], "o--", color="black", markerfacecolor="white", label="over the map")
        axes.text(0.5, 0.5, "words", color=COLOURS["semantic"])
        axes.legend(**style.OPAQUE_LEGEND)
        light = svg(figure)
    return light, darken(light)


def cells(axes):
    return draw_cells([axes], [pd.DataFrame([[-1.0, -0.2], [0.0, np.nan]])], (LINEAR, ATTENTION), largest=1.0)


def shades(text, name):
    """Return the lightness of the shapes in a part of a figure, in their order."""
    part = ElementTree.fromstring(text).find(f".//*[@id='{name}']")
    codes = re.findall(r"fill: (#\w+)", " ".join(shape.get("style", "") for shape in part.iter()))
    return [oklab(code)[0] for code in codes]


def test_a_map_turns_dark_and_its_cells_keep_their_order_and_hue():
    """The strongest cell is the lightest on dark paper, and a cell of zero has the colour of the paper."""
    light, changed = with_a_line(cells)
    on_white, on_black = (np.array(shades(text, "QuadMesh_1")) for text in (light, changed))
    strong, weak, zero = on_black
    assert strong > weak > zero == pytest.approx(oklab(PAPER)[0], abs=0.01)
    assert (np.argsort(on_white) == np.argsort(-on_black)).all()
    assert contrast(dark_colour(LINEAR, faint_tone)) > 3 and abs(hue(dark_colour(LINEAR, faint_tone)) - hue(LINEAR)) < 3


@pytest.mark.parametrize(
    "draw",
    [cells, lambda axes: axes.scatter([0, 1], [0, 1], c=[0.1, 0.9], cmap="Greys", gid=VALUES)],
)
def test_nothing_in_the_figure_of_a_map_stays_white(draw):
    light, changed = with_a_line(draw)
    assert "#ffffff" in light and "#ffffff" not in changed and "<image" not in light
    # Colours of the words, the line and the background.
    assert {dark_colour(COLOURS["semantic"]), INK, PAPER} <= colours(changed)


def test_the_low_parts_of_a_terrain_are_dark_in_both_themes():
    def terrain(axes):
        return axes.contourf(np.add.outer(np.arange(4.0), np.arange(4.0)), 5, cmap="Greys_r")

    light, changed = with_a_line(terrain)
    for text in (light, changed):
        assert shades(text, "QuadContourSet_1") == sorted(shades(text, "QuadContourSet_1"))
    assert max(shades(changed, "QuadContourSet_1")) < (oklab(PAPER)[0] + oklab(INK)[0]) / 2
    # The darkest shape has no style of its own, only the fill of its group.
    for name in ("QuadContourSet_1", "QuadMesh_1"):
        assert ElementTree.fromstring(changed).find(f".//*[@id='{name}']").get("fill") == PAPER


def test_a_page_shows_each_figure_for_its_theme_enlarged_too_and_prints_the_light_one(open_page):
    page = open_page(EXECUTED / "fig03_phase_diagram.html")
    figures = page.locator(".themes").count()
    page.get_by_role("button", name="Enlarge").first.click()
    for theme, media in (("light", "screen"), ("dark", "screen"), ("dark", "print")):
        displayed = ["none", "inline"] if (theme, media) == ("dark", "screen") else ["inline", "none"]
        page.emulate_media(media=media)
        page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
        pairs = page.evaluate(SHOWN)
        assert len(pairs) == figures + 1 > 2
        for pair in pairs:
            alts, dark, display, grounds = map(list, zip(*pair))
            assert (dark, display) == ([False, True], displayed)
            assert len({*alts}) == 1 and alts[0] and {*grounds} == {"rgba(0, 0, 0, 0)"}
    page.emulate_media(media="screen")
    page.add_style_tag(content="* { transition: none !important; }")  # otherwise colours change slowly
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert [int(value) for value in re.findall(r"\d+", ground)] == [int(PAPER[at : at + 2], 16) for at in (1, 3, 5)]


@pytest.mark.slow
def test_what_is_taken_away_is_light():
    """A saved figure is light. So is a printed figure, and a printed page has no dark figure."""
    for path in set((HTML / "figures").glob("*.svg")) - set((HTML / "figures").glob("*-dark.svg")):
        svg = path.read_text(encoding="utf-8")
        assert f'fill="{INK}"' not in svg[:2000] and PAPER not in svg
    assert list((HTML / "_images").glob("*-dark.svg"))
    assert not list((HTML.parent / "singlehtml" / "_images").glob("*-dark.svg"))
