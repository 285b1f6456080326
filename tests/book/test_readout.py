"""Values of a figure at the pointer: the stored values of each point, and the point that the browser finds."""

import json
import re
from io import StringIO
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from built import DESK, EXECUTED, FRAMES, HTML, PHONE
from dark import SVG
from matplotlib import pyplot as plt

from attention_book.render.figure_data import csv_of, readout_of

SHOWS = """([image, wide]) => image.complete && image.naturalWidth > 0 && image.currentSrc.includes("-wide") === wide"""


@pytest.fixture
def axes():
    _, axes = plt.subplots()
    yield axes
    plt.close("all")


def series_of(axes):
    """Return the points by the name of their series."""
    series = json.loads(readout_of(axes.figure, {"#c8553d": "semantic"}) or "[]")
    return {one["name"]: one["points"] for one in series}, series


def test_a_point_has_its_place_and_its_error_in_brackets_if_it_is_known(axes):
    axes.set(xlim=(0, 4), yscale="log", ylim=(1e-5, 1), xlabel=r"samples $\alpha$", ylabel="a < b")
    axes.errorbar([1, 2], [0.1, 2e-4], [0.02, 3e-5], fmt="o", label="trained")
    axes.errorbar([1, 3], [0.01, 1], [np.nan, 0.2], fmt="o", label="one error unknown")
    axes.plot([1, 9], [1e-3, 1e-3], label="beyond the edge")
    points, series = series_of(axes)
    assert points["trained"] == [[0.25, 0.8, "1", "0.100(20)", ""], [0.5, 0.2602, "2", "2.00(30)·10<sup>−4</sup>", ""]]
    assert points["one error unknown"] == [[0.25, 0.6, "1", "0.01", ""], [0.75, 1.0, "3", "1.00(20)", ""]]
    assert points["beyond the edge"] == [[0.25, 0.4, "1", "0.001", ""]]
    assert series[0]["labels"] == [r"samples \(\alpha\)", "a &lt; b", ""] and series[0]["axes"] == 1


def test_a_line_has_the_error_of_its_band_and_a_threshold_that_of_its_strip(axes):
    axes.set(xlim=(0, 4), ylim=(-1, 1))
    axes.plot([1, 2], [0.5, -0.5], color="#c8553d")
    axes.fill_between([1, 2], [0.4, -0.9], [0.6, -0.4], color="#c8553d")
    axes.axvline(3, color="#000000", label="_limit")
    axes.axvspan(2.9, 3.1, color="#000000")
    axes.axhline(0)
    points, _ = series_of(axes)
    assert points == {
        "semantic": [[0.25, 0.75, "1", "0.50(10)", ""], [0.5, 0.25, "2", "−0.5 (−0.9 to −0.4)", ""]],
        "limit": [[0.75, None, "3.00(10)", "", ""]],
    }


def test_of_what_is_drawn_twice_the_numbers_with_an_error_stay(axes):
    axes.scatter([1, 2], [3, 4], color="#c8553d", label="dots")
    axes.errorbar([1, 2], [3, 4], [0.1, 0.1], fmt=" ", color="#c8553d", label="_bars")
    points, _ = series_of(axes)
    assert [point[3] for point in points.pop("bars")] == ["3.00(10)", "4.00(10)"] and not points


def test_a_cell_has_its_value_and_a_place_on_an_axis_of_words_its_word(axes):
    mesh = axes.pcolormesh([0, 1], [0, 1], [[1.23456, np.nan], [0, 12345]], shading="nearest")
    axes.set_title("theory")
    axes.figure.colorbar(mesh, label="difference")
    axes.set_yticks([0, 1], ["one", "2 steps"])
    points, series = series_of(axes)
    assert [" ".join(point[2:]) for point in points["theory"]] == ["0 one 1.235", "0 2 steps 0", "1 2 steps 12345"]
    assert series[0]["labels"][2] == "difference"
    assert "\n# panel 1: near y = 1: 2 steps\n" in csv_of(axes.figure) and "near x" not in csv_of(axes.figure)


def test_a_point_that_is_not_drawn_is_not_read_but_a_line_across_the_panel_is(axes):
    axes.plot([1, 2, 3], [4, np.nan, 6], label="students")
    axes.axvline(2, label="limit")
    points, _ = series_of(axes)
    assert [point[2:4] for point in points["students"]] == [["1", "4"], ["3", "6"]]
    assert [point[2:4] for point in points["limit"]] == [["2", ""]]


@pytest.mark.parametrize("seed", range(4))
def test_every_number_is_that_of_the_data_to_its_last_digit(axes, seed):
    """The values cover many decades and both signs, errors, colours, and places on several kinds of axes."""
    rng, logarithmic, turned = np.random.default_rng(seed), seed % 2 == 1, seed > 1
    x, y = np.sort(rng.uniform(-3, 3, 9)), 10 ** rng.uniform(-9, 4, 9) * (1 if logarithmic else rng.choice([-1, 1], 9))
    errors, values = abs(y) * 10 ** rng.uniform(-3, -0.1, 9), 10 ** rng.uniform(-9, 5, 9)
    axes.errorbar(x, y, errors, fmt="o", label="trained")
    axes.scatter(x, 5 * y, c=values, label="coloured")
    axes.plot(x, y / 3, label="line")
    axes.axhline(y[0], label="level")
    axes.set(yscale="log" if logarithmic else "linear", xlim=(3.5, -3.5) if turned else (-3.5, 3.5))
    points, _ = series_of(axes)
    scale = np.log10 if logarithmic else np.array
    low, high = scale(axes.get_ylim())
    across = (3.5 - x if turned else x + 3.5) / 7
    for name, at in (("trained", y), ("coloured", 5 * y), ("line", y / 3)):
        places = np.array([point[:2] for point in points[name]])
        assert places == pytest.approx(np.transpose([across, (scale(at) - low) / (high - low)]), abs=6e-5)
        for k, (_, _, of_x, of_y, of_value) in enumerate(points[name]):
            (shown, error, unit), measured = read(of_y), name == "trained"
            assert abs(shown - at[k]) <= (0.51 * unit if measured else 6e-4 * abs(at[k]))
            assert abs(read(of_x)[0] - x[k]) <= 6e-4 * abs(x[k])
            assert error == pytest.approx(errors[k] if measured else 0, rel=0.06)
            assert not of_value if name != "coloured" else read(of_value)[0] == pytest.approx(values[k], rel=6e-4)
    ((no_share, _, no_x, level, _),) = points["level"]
    assert (no_share, no_x) == (None, "") and read(level)[0] == pytest.approx(y[0], rel=6e-4)


# In the browser


def marks(path, panel, count):
    """Return places, in shares of the picture (count, xy), of the first marks of a panel with this number of marks."""
    tree = ElementTree.parse(path).getroot()
    *_, width, height = map(float, tree.get("viewBox").split())
    (axes,) = (group for group in tree.iter(f"{SVG}g") if group.get("id") == f"axes_{panel}")
    for group in axes.iter(f"{SVG}g"):
        used = group.findall(f"{SVG}g/{SVG}use")
        if len(used) == count and group.get("id").startswith("line2d"):
            return np.array([[float(use.get("x")) / width, float(use.get("y")) / height] for use in used])
    raise AssertionError(f"{path}: no {count} marks in panel {panel}")


def read(text):
    """Return the number, its error and the unit of the last digit of a text such as "−1.01(82)·10−4"."""
    value, error, power = re.fullmatch(r"(−?[\d.]+)(?:\(([\d.]+)\))?(?:·10(−\d+))?", re.sub("<.*?>", "", text)).groups()
    decimals, power = len(value.partition(".")[2]), int((power or "0").replace("−", "-"))
    unit = 10.0 ** (power - decimals)
    in_units = 10.0**power if error and "." in error else unit
    return float(value.replace("−", "-")) * 10.0**power, float(error or 0) * in_units, unit


def agrees(box, row):
    """Return whether a readout has x, y and error of a row of the data, each to its last digit."""
    (x, *_), (value, error, unit) = map(read, box.locator("span").all_inner_texts())
    close = abs(x - row.x) < 6e-4 * abs(row.x) and abs(value - row.y) <= 0.51 * unit
    return close and abs(error - (row.high - row.low) / 2) <= 0.51 * unit


def test_the_point_under_the_pointer_says_what_the_data_say(open_page):
    page = open_page(EXECUTED / "fig02_slice.html")
    table = pd.read_csv(StringIO((HTML / "figures" / "fig-02.csv").read_text(encoding="utf-8")), comment="#")
    trained = table[(table["panel"] == 1) & (table["series"] == "trained students")].reset_index()
    figure, box = page.locator("figure#fig-02"), page.locator(".readout-box")
    for size, enlarged in ((PHONE, False), (DESK, False), (DESK, True)):
        page.set_viewport_size(size)
        figure.scroll_into_view_if_needed()
        if enlarged:
            page.get_by_role("button", name="Enlarge").first.click()
        image = page.locator("dialog img:visible" if enlarged else "figure#fig-02 img:visible")
        wide = size == DESK
        page.wait_for_function(SHOWS, arg=[image.element_handle(), wide])
        image.hover()  # the readout waits until the layout rests, and then requests the numbers
        page.wait_for_function("() => window.figureReadout['fig-02']")
        page.evaluate(FRAMES)  # a late scroll event would close the box
        where = image.bounding_box()
        places = marks(HTML / "figures" / ("fig-02-wide.svg" if wide else "fig-02.svg"), 1, len(trained))
        ratio = image.evaluate("image => image.naturalWidth / image.naturalHeight")
        width = min(where["width"], where["height"] * ratio)
        left, top = where["x"] + (where["width"] - width) / 2, where["y"] + (where["height"] - width / ratio) / 2
        told = []
        for (across, down), row in zip(places, trained.itertuples()):
            page.mouse.move(left + across * width, top + down * width / ratio)
            page.evaluate(FRAMES)
            told.append(box.locator("b").inner_text() == "trained students" and agrees(box, row))
            edge = box.bounding_box()
            assert edge["x"] >= 0 and edge["x"] + edge["width"] <= size["width"] and edge["y"] >= 0
        assert sum(told) >= len(told) - 1 and len(told) > 3  # two points may have the same place
        # A box outside the dialog would be hidden behind it.
        assert box.locator("xpath=ancestor::dialog").count() == enlarged
        page.mouse.move(0, 0)
        assert not box.is_visible()


def test_keys_and_taps_read_a_figure_too(open_page):
    page = open_page(EXECUTED / "fig08_parameters.html")
    box, figure = page.locator(".readout-box"), page.locator("figure#fig-08")
    figure.locator(".themes").focus()
    page.wait_for_function("() => window.figureReadout['fig-08']")
    page.evaluate(FRAMES)  # a late scroll event would close the box
    said = []
    for key in ("ArrowRight", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
        said.append((box.locator("b").inner_text(), box.locator("span").first.inner_text()))
    (first, x), (second, next_x), (other, _) = said
    assert first == second != other and x != next_x
    page.keyboard.press("Escape")
    assert not box.is_visible()
    touch = page.context.new_cdp_session(page)
    touch.send("Emulation.setTouchEmulationEnabled", {"enabled": True})
    image = figure.locator("img:visible").bounding_box()
    page.evaluate("() => { window.taps = 0; addEventListener('click', () => { window.taps += 1; }, true); }")
    places = ((0.5, False), (0.02, True))  # one place on the curves of a panel, one outside all panels
    for taps, (share, enlarges) in enumerate(places, 1):
        x, y = image["x"] + 0.15 * image["width"], image["y"] + share * image["height"]
        touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
        touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        page.wait_for_function("taps => window.taps === taps", arg=taps)
        assert page.locator("dialog.enlarged").is_visible() == enlarges


@pytest.mark.slow
def test_every_series_has_its_panel_in_every_shape_of_its_figure():
    scripts = sorted((HTML / "figures").glob("*.js"))
    assert len(scripts) > 30 and HTML / "figures" / "scorecard-forest.js" in scripts
    for script in scripts:
        name, boxes, series = re.fullmatch(
            r'figureReadout\["(.+)"\] = \{boxes: (.+), series: (.+)\};\n', script.read_text(encoding="utf-8")
        ).groups()
        boxes = json.loads(boxes)
        assert ("wide" in boxes) == (HTML / "figures" / f"{name}-wide.svg").exists()
        for panels in boxes.values():
            assert {str(one["axes"]) for one in json.loads(series)} <= panels.keys()
            assert all(0 <= left < right <= 1 and 0 <= top < low <= 1 for left, top, right, low in panels.values())
