"""The landing page in a browser: its controls and their effects.

The numbers, drawings and words of its scripts are tested in `tests/browser`.
"""

import json
import re
from functools import partial

import nbformat
import numpy as np
import pytest
from built import DESK, FRAMES, HERE, HTML, PHONE, SHIFTS, opening
from cases import case_text
from landing import OUTPUT, texts_of

from attention_book.experiments.results import read

PAGE = HTML / "book/index.html"
SIZES = [PHONE, {"width": 768, "height": 900}, DESK]
UNFOLD = "() => document.querySelectorAll('.explorer details').forEach(part => { part.open = true; })"


def go_on(page, **view):
    """Open a view of the landing page, with the standard matrix by default, and apply its address at once."""
    address = "#" + "&".join(f"{name}={value}" for name, value in {"matrix": "standard", **view}.items())
    page.evaluate(case_text("address.js"), address)
    return page


@pytest.fixture(scope="module")
def landing(chromium):
    """Yield the landing page, opened and unfolded once for all tests that only change its view and its size."""
    with opening(chromium) as opened:
        page = opened(PAGE)
        page.evaluate(UNFOLD)
        yield page


@pytest.fixture
def explorer(landing):
    """Return the landing page at desktop size, scrolled to its top, and a function that opens a view of it."""
    landing.set_viewport_size(DESK)
    landing.evaluate(FRAMES)  # after the change of size everything is drawn again
    go_on(landing, omega=0.3, alpha=1)
    landing.evaluate("scrollTo(0, 0)")
    return landing, partial(go_on, landing)


def place(page):
    """Return the position of the circle: omega and alpha."""
    return [float(page.locator(f".explorer [name={name}]").input_value()) for name in ("omega", "alpha")]


def test_one_state_moves_by_address_keys_pointer_and_buttons(explorer):
    page, go = explorer
    addressed = "start => location.hash.startsWith(start)"
    go(omega=0.2, alpha=1)
    assert place(page) == [0.2, 1]
    for key in ("ArrowRight", "ArrowRight"):
        page.locator("[name=alpha]").press(key)
    page.wait_for_function(addressed, arg="#omega=0.2&alpha=1.02")
    for key, alpha in (("Home", 0.02), ("PageUp", 0.12), ("End", 2.0)):
        page.locator(".explorer-handle").press(key)
        assert place(page) == [0.2, alpha]
    go(omega=0.2, alpha=1.02)
    for key in ("ArrowLeft", "Shift+ArrowUp"):
        page.locator(".explorer-handle").press(key)
    assert page.locator(".explorer-controls b").all_inner_texts() == ["0.195", "1.12"]
    page.wait_for_function(addressed, arg="#omega=0.195&alpha=1.12")
    page.wait_for_function("() => document.querySelector('.explorer-said').textContent.includes('ω = 0.195')")

    box = page.locator(".explorer-map > svg").bounding_box()
    left, top = (box[side] + share * box[size] for side, share, size in (("x", 0.75, "width"), ("y", 0.2, "height")))
    page.mouse.move(left - 60, top + 30)
    page.mouse.down()
    page.mouse.move(left, top)
    page.mouse.up()
    omega, alpha = place(page)
    assert omega > 0.3 and alpha > 1.5
    page.wait_for_function(addressed, arg=f"#omega={omega}&alpha={alpha}")
    handle = page.locator(".explorer-handle").bounding_box()
    assert handle["x"] + handle["width"] / 2 == pytest.approx(left, abs=5)
    page.mouse.move(0, 0)  # the pointer moves nothing while no button is pressed
    assert place(page) == [omega, alpha]

    page.emulate_media(reduced_motion="reduce")
    lines = read("fig03_theory", "paper").set_index(["what", "omega"])["alpha"]
    for name, what, by in (("Below", "critical", -0.05), ("Above", "critical", 0.05), ("Beyond", "linear", 0.1)):
        go(omega=0.3, alpha=0.3)
        page.get_by_role("button", name=name).click()
        arrived = f"{lines[what, 0.3] + by:.2f}".rstrip("0")
        page.wait_for_function("alpha => document.querySelector('[name=alpha]').value === alpha", arg=arrived)
    go(omega=0.3, alpha=0.7)
    go(omega="", alpha="")  # this view has no position
    assert place(page) == [0.3, 0.7]
    page.locator(".explorer-training").evaluate("part => { part.open = true; }")
    page.locator("[name=seed]").fill("7")
    page.locator("[name=seed]").press("Enter")
    page.wait_for_function("() => !location.search && location.hash.endsWith('seed=7')")
    # Values out of range are replaced by the nearest allowed values.
    go(omega=7, alpha=-1, matrix="none", seed="x", train="no")
    assert place(page) == [0.5, 0.02] and page.get_by_role("button", name="No αl up to 2").is_disabled()
    assert page.locator("[name=matrix]:checked").input_value() == "standard"


def swipe(page, *points):
    """Move a finger from one point of the window to another."""
    page.evaluate("""() => { window.lifted = false; for (const kind of ["pointerup", "pointercancel"])
        addEventListener(kind, () => { window.lifted = true; }, true); }""")  # fmt: skip
    touch = page.context.new_cdp_session(page)
    touch.send("Emulation.setTouchEmulationEnabled", {"enabled": True})
    for k, (x, y) in enumerate(np.linspace(*points, 9).tolist()):
        kind = "touchMove" if k else "touchStart"
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
        page.evaluate(FRAMES)
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    page.wait_for_function("() => window.lifted")


def test_a_finger_moves_the_circle_by_its_handle_and_scrolls_beside_it(open_page):
    page = open_page(PAGE)
    page.set_viewport_size(PHONE)
    go_on(page, omega=0.3, alpha=1)
    page.locator(".explorer-map").evaluate("map => map.scrollIntoView({block: 'center'})")
    scrolled, box = page.evaluate("scrollY"), page.locator(".explorer-handle").bounding_box()
    x, y = box["x"] + 23, box["y"] + 23
    swipe(page, (x, y), (x + 40, y + 60))
    (omega, alpha), left = place(page), page.evaluate("scrollY")
    assert omega > 0.33 and alpha < 0.7 and left == scrolled
    swipe(page, (x - 80, y + 40), (x - 80, y - 60))
    page.wait_for_function("left => scrollY > left + 50", arg=left)
    page.evaluate(case_text("scrolled.js"))  # a tap on a page that still moves would only stop the movement
    assert place(page) == [omega, alpha]
    swipe(page, (x - 80, y - 60), (x - 80, y - 60))
    assert place(page)[0] < 0.25


@pytest.mark.parametrize("size", SIZES, ids=lambda size: str(size["width"]))
def test_nothing_jumps_when_the_point_moves_and_what_one_touches_is_large_enough(explorer, size):
    """The verdict has room for its longest text, so that everything below it keeps its place."""
    page, go = explorer
    page.set_viewport_size(size)
    corners = [{"omega": 0.3, "alpha": alpha} for alpha in (0.03, 0.5, 1.0, 1.25, 1.4, 2)]
    corners += [{"omega": 0.1, "alpha": 1.8}, {"omega": 0.48, "alpha": 0.2, "matrix": "alternative"}]
    places = set()
    for view in corners:
        go(**view)
        parts = ("verdict > span", "verdict", "panels")
        text, verdict, panels = (page.locator(f".explorer-{part}").bounding_box() for part in parts)
        assert text["y"] + text["height"] <= verdict["y"] + verdict["height"]
        places.add((verdict["y"], panels["y"], panels["height"]))
    assert len(places) == 1
    touched = page.locator(".explorer :is([type=range], fieldset label, summary, button), .explorer-handle").all()
    boxes = [target.bounding_box() for target in touched if target.is_visible()]
    assert len(boxes) > 10 and min(min(box["width"], box["height"]) for box in boxes) >= 44


def test_one_screen_shows_what_a_move_does(open_page):
    """A phone shows the map and the sliders, and a desktop also words and panels. The rest is folded."""
    page = open_page(PAGE)
    for size, first in ((PHONE, ".explorer-map"), (DESK, ".explorer:not(.hint)")):
        page.set_viewport_size(size)
        page.reload()
        assert page.evaluate(SHIFTS) < 0.1
        top = page.locator(first).bounding_box()["y"]
        for part in ("map > svg", "verdict", "controls", *["words"] * (size == DESK)):
            box = page.locator(f".explorer-{part}").bounding_box()
            assert top <= box["y"] and box["y"] + box["height"] <= top + size["height"], part
        folded = page.locator(".explorer details > :not(summary)").all()
        assert [part.is_visible() for part in folded].count(True) == (2 if size == DESK else 0)  # the panels


@pytest.mark.parametrize("scripts", [True, False])
def test_words_follow_the_winner_and_without_scripts_or_on_paper_both_are_shown(chromium, scripts):
    """Without scripts there is no instruction that cannot be followed."""
    page = chromium.new_page(viewport=DESK, java_script_enabled=scripts)
    page.goto(PAGE.as_uri())
    both = page.locator(".explorer-words svg").all()
    drag = page.locator(".explorer-drag, .hint-controls, .explorer-presets")
    if scripts:
        for alpha, shown in ((1, [False, True]), (2, [True, False])):
            go_on(page, omega=0.3, alpha=alpha)
            assert [words.is_visible() for words in both] == shown
        assert all(part.is_visible() for part in drag.all())
        page.emulate_media(media="print")
    assert all(words.is_visible() for words in both) and drag.count() == 3
    assert not any(part.is_visible() for part in drag.all())
    assert scripts or page.locator(".bd-article .math sub", has_text="c").first.is_visible()
    if not scripts:
        assert not any(button.is_visible() for button in page.locator(".sidebar-toggle, .btn-fullscreen-button").all())
        page.set_viewport_size(PHONE)
        page.reload()  # otherwise the menu of the desk is still fading
        assert page.locator(".bd-sidebar-primary").get_by_role("link", name="The theory", exact=True).is_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.close()


def test_the_link_of_a_view_is_copied_and_where_no_page_may_do_so_shown(open_page):
    page, shown = open_page(PAGE), []
    page.on("dialog", lambda dialog: shown.append((dialog.message, dialog.default_value)) or dialog.dismiss())
    page.evaluate(UNFOLD)
    go_on(page, omega=0.35, alpha=1.7, matrix="alternative")
    for given in (None, "denied", "works"):  # pages on plain http have no clipboard
        page.evaluate(case_text("clipboard.js"), given)
        page.locator(".explorer-copy").click()
    page.get_by_role("button", name="Copied").wait_for()
    page.locator(".explorer-copy", has_text="Copy link").wait_for()
    link = f"{PAGE.as_uri()}#matrix=alternative&omega=0.35&alpha=1.7"
    assert page.evaluate("copied") == link
    assert shown == [("The browser does not allow this page to copy. This is the link:", link)] * 2
    page.goto("about:blank")
    page.goto(link)
    page.wait_for_function("Math.abs(document.querySelector('.explorer:not(.hint)').getBoundingClientRect().top) < 100")


def test_students_train_in_workers_until_they_are_stopped(open_page):
    """The results and words of the workers are tested elsewhere, without workers."""
    page = open_page(PAGE)
    with page.expect_worker():
        go_on(page, omega=0.3, alpha=1.2, d=400, seed=4, train="sweep")
    page.locator("[name=alpha]").press("ArrowRight")
    assert "α = 1.21" in page.locator(".explorer-verdict").inner_text() and len(page.workers) == 1
    page.get_by_role("button", name="Stop").click()
    said = page.locator(".explorer-training output")
    assert said.inner_text().endswith(" of 120 students: stopped.")
    losses = []
    for seed in (7, 8, 7):
        go_on(page, omega=0.3, alpha=0.5, d=100, seed=seed, train="circle")
        said.filter(has_text="in the semantic valley").wait_for(timeout=120_000)
        losses.append([dot["train_loss"]["value"] for dot in page.evaluate("window.explorer.students()")])
    assert losses[0] == losses[2] != losses[1] and len(losses[0]) > 20


def test_the_landscape_of_figure_1_computes_the_jump_that_its_page_tells(open_page):
    page = open_page(HTML / "book/_executed/fig01_landscape.html")
    root, slider = page.locator(".landscape"), page.locator(".landscape input")
    said = "words => document.querySelector('.landscape [role=status]').textContent.includes(words)"
    given = json.loads(root.locator("script").first.text_content())
    slider.fill(str(given["alphas"].index(2.0)))
    page.wait_for_function(said, arg="The semantic valley is deeper on ", timeout=180_000)
    track, mark = (root.locator(part).bounding_box() for part in ("input", ".at-critical"))
    along = (mark["x"] + mark["width"] / 2 - track["x"] - 8) / (track["width"] - 16)
    critical = given["alphas"][0] + along * (given["alphas"][-1] - given["alphas"][0])
    section = page.locator("#panel-b-two-valleys-and-a-ridge").inner_text()
    (said_on_page,) = re.findall(r"(?s)The threshold.*?([\d.]+)\(\d+\)", section)
    assert critical == pytest.approx(float(said_on_page), abs=0.02)
    assert "starting point decides" in page.locator("#with-more-data-the-semantic-valley-becomes-deeper").inner_text()
    ticks = "axis => [...axis.querySelectorAll('.tick')].find(tick => +tick.textContent === 0).getBoundingClientRect()"
    left, top = (axis.evaluate(f"axis => ({ticks})(axis).toJSON()") for axis in root.locator(".axis").all()[:2])
    sets = len(given["seeds"])
    for by, end in ((3, ""), (-3, f"{sets} of them ended in the mirror image")):  # close to the origin
        page.mouse.click(left["x"] + left["width"] / 2 + by, top["y"] + top["height"] / 2 - by)
        ended = f"0 ended in the semantic valley, {sets} in the positional valley, 0 in neither. {end}".strip()
        page.wait_for_function(said, arg=ended, timeout=180_000)
    page.get_by_role("button", name="Start on the ridge").click()
    semantic = "document.querySelector('.landscape [role=status]').textContent.match(/(\\d+) ended in the s/)"
    page.wait_for_function(f"least => Number({semantic}?.[1]) > least", arg=sets / 2, timeout=180_000)


@pytest.mark.slow  # needs the built book
def test_every_number_of_the_plain_pages_is_made_by_the_library():
    words = texts_of(nbformat.read(OUTPUT / "landing.ipynb", 4))
    reduced = json.loads((HTML / "book/scorecard.json").read_text(encoding="utf-8"))["rows"][0]["provenance"]["profile"]
    for name in ("index", "model", "scorecard"):
        named = {*re.findall(r"\{\{ (\w+) \}\}", (HERE / f"book/{name}.md").read_text(encoding="utf-8"))}
        text = (HTML / f"book/{name}.html").read_text(encoding="utf-8")
        assert all(words[word] in text for word in named - {"reduced"})
        assert text.count("Reduced size") == ("reduced" in named and reduced != "paper")
    assert re.search(r"<title>\s*Positional or semantic\?\s*</title>", PAGE.read_text(encoding="utf-8"))  # exactly once


@pytest.mark.slow
def test_what_draws_is_small_stands_on_this_page_alone_and_carries_its_licences():
    text = PAGE.read_text(encoding="utf-8")
    scripts = re.findall(r"_static/([\w-]*(?:explorer|training|landscape|hint)[\w-]*\.js)", text)
    assert scripts[:2] == ["explorer-data.js", "d3-explorer.js"] and len(scripts) == len({*scripts}) == 8
    assert sum((HTML / "_static" / name).stat().st_size for name in scripts) < 350_000
    assert not re.search(r"explorer[\w-]*\.js", (HTML / "book/model.html").read_text(encoding="utf-8"))
    bundle = (HTML / "_static/d3-explorer.js").read_text(encoding="utf-8")
    asked = json.loads((HERE / "book/d3/package.json").read_text(encoding="utf-8"))["devDependencies"]
    assert bundle.count("Permission to use, copy, modify") >= 6
    assert [name for name, version in asked.items() if f"\n{name} {version}\n" not in bundle] == ["esbuild"]


@pytest.mark.parametrize("size", [PHONE, DESK], ids=lambda size: str(size["width"]))
def test_the_first_screen_asks_one_question_with_three_controls(open_page, size):
    page = open_page(PAGE)
    page.set_viewport_size(size)
    page.reload()

    def seen(selector):
        boxes = [part.bounding_box() for part in page.locator(f".bd-article {selector}").all() if part.is_visible()]
        return [box for box in boxes if box["y"] >= 0 and box["y"] + box["height"] <= size["height"]]

    assert len(seen(":is(button, input, select, summary, [role=slider])")) == 3
    assert len(seen(".hint-question")) == len(seen(".hint .found")) == 1 and len(seen(".hint .instruction")) == 2
    assert page.evaluate(SHIFTS) < 0.1
