"""Figures for the dark theme: which colour becomes which, what a map keeps, what a page shows."""

import re
from io import StringIO
from xml.etree import ElementTree

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from built import EXECUTED, HTML
from cases import cases
from dark import INK, LINK, PAPER, SVG, dark, linear, oklab, on_dark

from attention_book.render import style
from attention_book.render.slices_and_maps import TIED
from attention_book.render.style import ATTENTION, BASELINE, COLOURS, LINEAR, NEUTRAL, OPAQUE, STYLE

OTHERS = ["#000000", "#222222", "#8a6fb0"]  # that figures use under no name
SHOWN = """() => [...document.querySelectorAll('.themes')].map(pair => [
    ...pair.querySelectorAll('img')].map(image => [image.alt, image.src.endsWith("-dark.svg"),
    getComputedStyle(image).display, getComputedStyle(image).backgroundColor]))"""
THEME = "theme => { document.documentElement.dataset.theme = theme }"


def contrast(colour):
    """With the paper, as the Web Content Accessibility Guidelines have it."""
    light, paper = (linear(shade) @ (0.2126, 0.7152, 0.0722) for shade in (colour, PAPER))
    return (light + 0.05) / (paper + 0.05)


def hue(colour):
    _, green, blue = oklab(colour)
    return np.degrees(np.arctan2(blue, green))


def test_oklab_agrees_with_its_author():
    """White, and the published lightness and opponents of pure red; white becomes the paper, black the ink."""
    assert (on_dark("#ffffff"), on_dark("#000000")) == (PAPER, INK)
    np.testing.assert_allclose(oklab("#ffffff"), (1, 0, 0), atol=1e-4)
    np.testing.assert_allclose(oklab("#ff0000"), (0.62796, 0.22486, 0.12585), atol=1e-4)


@pytest.mark.parametrize("colour", [*COLOURS.values(), BASELINE, ATTENTION, LINEAR, NEUTRAL, *OTHERS])
def test_a_colour_keeps_its_hue_and_is_read_as_text(colour):
    assert contrast(on_dark(colour)) >= 4.5
    if np.hypot(*oklab(colour)[1:]) > 0.03:
        assert hue(on_dark(colour)) == pytest.approx(hue(colour), abs=3)
    else:
        assert len(set(re.findall("..", on_dark(colour)[1:]))) == 1


def test_greys_are_seen_as_lines_and_keep_their_order():
    """The darker on white, the lighter on dark."""
    greys = [on_dark(f"#{2 * value:02x}{2 * value:02x}{2 * value:02x}") for value in range(128)]
    assert sorted(greys, reverse=True) == greys
    assert contrast(on_dark(TIED)) >= 3


def test_both_mechanisms_differ_for_the_colour_blind():
    """Without red and green, blue to yellow is left; a difference of 0.02 is just seen."""
    semantic, positional = (oklab(on_dark(COLOURS[name])) for name in ("semantic", "positional"))
    assert semantic[2] - positional[2] > 0.15


def svg(figure):
    written = StringIO()
    figure.savefig(written, format="svg")
    plt.close(figure)
    return written.getvalue()


def colours(text, name=None):
    """Colours that are drawn in a figure, or in its part of this name: also those of marks defined elsewhere."""
    tree = ElementTree.fromstring(text)
    part = tree if name is None else tree.find(f".//*[@id='{name}']")
    defined = {shape.get("id"): shape for shape in tree.iterfind(f".//{SVG}defs/{SVG}path")}
    used = [defined[use.get(LINK)[1:]] for use in part.iter(f"{SVG}use")]
    drawn = [*(shape for shape in part.iter() if shape not in defined.values()), *used]
    return {colour for shape in drawn for colour in re.findall(r"(?<=: )#[0-9a-f]{6}\b", shape.get("style", ""))}


def test_a_figure_without_a_map_is_mapped_wholly():
    with mpl.rc_context(STYLE):
        figure, (axes, matrix) = plt.subplots(2)
        style.draw_shares(matrix, [[0, 1]], (0, 1), ".1f")
        axes.errorbar([0, 1], [0, 1], 0.1, fmt="o-", color=COLOURS["semantic"], markerfacecolor="white", label="a line")
        axes.text(0.5, 0.5, "words", color=COLOURS["positional"])
        axes.legend(frameon=True, edgecolor="#cccccc")
        light = svg(figure)
    assert colours(dark(light)) == {on_dark(colour) for colour in colours(light)}
    assert colours(light) == {"#000000", "#ffffff", "#cccccc", *COLOURS.values()}
    assert ElementTree.fromstring(dark(light)).get("fill") == INK  # of words that matplotlib leaves black


def mapped(draw, **legend):
    """A map with a line, words and points over it, a legend beside, ticks and a colour bar: light and dark."""
    with mpl.rc_context(STYLE | {"svg.hashsalt": "same"}):
        figure, (axes, other) = plt.subplots(2, 1, gridspec_kw={"hspace": 0.5})
        figure.colorbar(draw(axes), ax=axes)
        axes.plot([0, 1], [0, 1], "o--", color="black", markerfacecolor="white", label="over the map")
        axes.text(0.5, 0.5, "words")
        axes.set_title("Above", color=COLOURS["semantic"])
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1.2), **legend)
        other.plot([0, 1], "o--", color="black", markerfacecolor="white")  # the same marks as over the map
        light = svg(figure)
    return light, dark(light)


def mesh(axes):
    return axes.pcolormesh([0, 1], [0, 1], [[0.1, 0.4], [0.7, 0.9]], shading="nearest", cmap="magma")


@pytest.mark.parametrize("draw, name", cases("maps"))
def test_a_map_keeps_what_is_on_it_and_changes_what_is_beside(draw, name):
    light, changed = mapped(eval(draw))
    axes = ElementTree.fromstring(changed).find(".//*[@id='axes_1']")
    over, words = (next(group for group in axes if group.get("id", "").startswith(kind)) for kind in ("line2d", "text"))
    assert colours(changed, name) == colours(light, name)
    assert colours(changed, "patch_2") == {"#ffffff"}  # its ground
    assert colours(changed, over.get("id")) == {"#000000", "#ffffff"} and words.get("fill") == "#000000"
    assert colours(changed, "matplotlib.axis_1") == colours(changed, "patch_3") == {INK}  # ticks, a spine
    assert colours(changed, "legend_1") == {INK, PAPER}
    assert on_dark(COLOURS["semantic"]) in colours(changed, "axes_1") and COLOURS["semantic"] not in colours(changed)
    assert colours(changed, "axes_2") == {INK, PAPER}  # its marks are those over the map, which are defined once
    assert colours(changed, "axes_3") >= {INK}


def test_the_framed_key_of_a_map_has_the_colours_of_its_lines():
    light, changed = mapped(mesh, **OPAQUE)
    assert colours(changed, "legend_1") == colours(light, "legend_1")
    assert ElementTree.fromstring(changed).find(".//*[@id='legend_1']").get("fill") == "#000000"


def test_a_page_shows_each_figure_for_its_theme_enlarged_too_and_prints_the_light_one(open_page):
    page = open_page(EXECUTED / "fig03_phase_diagram.html")
    figures = page.locator(".themes").count()
    page.get_by_role("button", name="Enlarge").first.click()
    for theme, media in (("light", "screen"), ("dark", "screen"), ("dark", "print")):
        displayed = ["none", "inline"] if (theme, media) == ("dark", "screen") else ["inline", "none"]
        page.emulate_media(media=media)
        page.evaluate(THEME, theme)
        pairs = page.evaluate(SHOWN)
        assert len(pairs) == figures + 1 > 2
        for pair in pairs:
            alts, dark, display, grounds = map(list, zip(*pair))
            assert (dark, display) == ([False, True], displayed)
            assert len({*alts}) == 1 and alts[0] and {*grounds} == {"rgba(0, 0, 0, 0)"}
    page.emulate_media(media="screen")
    page.add_style_tag(content="* { transition: none !important; }")  # else colours change slowly
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert [int(value) for value in re.findall(r"\d+", ground)] == [int(PAPER[at : at + 2], 16) for at in (1, 3, 5)]


@pytest.mark.slow
def test_what_is_taken_away_is_light():
    """And so is what is printed, which no dark figure comes with."""
    for path in set((HTML / "figures").glob("*.svg")) - set((HTML / "figures").glob("*-dark.svg")):
        svg = path.read_text(encoding="utf-8")
        assert f'fill="{INK}"' not in svg[:2000] and PAPER not in svg
    assert list((HTML / "_images").glob("*-dark.svg"))
    assert not list((HTML.parent / "singlehtml" / "_images").glob("*-dark.svg"))
