"""Every page of the built book, read as a person does: in Chromium, from the disk, without a network."""

import base64
import json
import os
import re
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urldefrag

import browser
import jsonschema
import numpy as np
import pytest
import torch
from playwright.sync_api import sync_playwright

from attention_phases.histogram import counting
from attention_phases.histogram import transformer as tf

pytestmark = pytest.mark.slow

HERE = Path(__file__).resolve().parents[1]
HTML = (HERE / os.environ.get("BOOK", "_build/smoke/_build/html")).resolve()
PAGES = sorted((HTML / "book").rglob("*.html"))
# Of the interface's pages, which one template makes, every twelfth is opened, and the first.
READ = [path for path in PAGES if "api" not in path.parts] + [path for path in PAGES if "api" in path.parts][::12]
SOURCE = HERE / "src" / "attention_phases"
API = {".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
       for path in SOURCE.rglob("*.py") if path.stem != "__main__"} - {"__init__"}  # fmt: skip
PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 900}

IMAGES = """() => Array.from(document.querySelectorAll(".bd-article img"), image =>
    ({source: image.getAttribute("src").slice(0, 80), alt: image.alt, width: image.naturalWidth}))"""
LINKS = 'links => links.map(link => link.href).filter(href => href.startsWith("file:"))'
# Text that a reader sees, without code, in which a dollar or a backslash is itself.
PROSE = """() => { const page = document.querySelector(".bd-article").cloneNode(true);
    page.querySelectorAll("pre, code, script, style, mjx-container").forEach(each => each.remove());
    return page.textContent; }"""
VIEW = r"^(matrix=\w+&)?omega=[\d.]+&alpha=[\d.]+$"  # of the explorer
SCROLLING = """() => Array.from(document.querySelectorAll(".bd-article :is(table, pre, .scrolled, mjx-container)"))
    .filter(each => each.scrollWidth > each.clientWidth && getComputedStyle(each).overflowX === "auto")
    .map(each => [each.tabIndex, each.tagName, each.textContent.slice(0, 60)])"""
FRAMES = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))"
TYPESET = "() => window.MathJax?.startup?.promise?.then(() => true) ?? false"


@pytest.fixture(scope="module")
def chromium():
    """A Chromium of the system."""
    path = browser.find()
    assert path, "no Chromium: install Debian's package chromium, or set CHROMIUM to its path"
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=browser.QUIET)
        yield running
        running.close()


@contextmanager
def opening(chromium):
    """A function that opens a page and waits for its mathematics; afterwards, nothing must have been complained of."""
    context = chromium.new_context(offline=True, viewport=DESK)
    complaints = []

    def opened(path):
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
        page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
        page.on("request", lambda asked: complaints.append(asked.url) if asked.url.startswith("http") else None)
        page.on("requestfailed", lambda asked: complaints.append(f"missing: {asked.url}"))
        page.goto(path.as_uri(), wait_until="load")
        if page.locator(".bd-article .math").count():
            assert page.evaluate(TYPESET), f"{path.name} has mathematics and no MathJax"
        return page

    yield opened
    context.close()
    assert complaints == []


@pytest.fixture
def open_page(chromium):
    """A function that opens a page of its own, see `opening`."""
    with opening(chromium) as opened:
        yield opened


@pytest.fixture(scope="module", params=READ, ids=lambda path: path.stem)
def path(request):
    return request.param


@pytest.fixture(scope="module")
def page(chromium, path):
    """A page, opened once for all tests that only read it."""
    with opening(chromium) as opened:
        yield opened(path)


def test_the_build_has_the_pages_of_the_contents():
    assert HTML.is_dir(), f"no book at {HTML}: run `make test`, or name a built one in BOOK"
    contents = re.findall(r"(?:root|file): (\S+)", (HERE / "_toc.yml").read_text())
    expected = {name.removesuffix(".ipynb") + ".html" for name in contents}
    modules = {f"book/api/{name}.html" for name in API}
    assert {str(page.relative_to(HTML)) for page in PAGES} == expected | modules


def test_mathematics_is_typeset(page):
    formulas = page.locator(".bd-article .math").count()
    assert page.locator(".bd-article .math mjx-container").count() >= formulas
    assert page.locator("mjx-merror, [data-mjx-error]").count() == 0
    assert not re.search(r"\$|\\\(|\\\[|\\[a-z]{2,}", page.evaluate(PROSE))


def test_figures_are_shown_and_described(page):
    for image in page.evaluate(IMAGES):
        assert image["width"] > 0, f"not shown: {image['source']}"
        assert len(image["alt"].split()) > 3, f"no description: {image['source']} {image['alt']!r}"


def test_figure_pages_have_a_figure(page, path):
    shown = page.locator(".bd-article figure img, .bd-article figure svg").count()
    assert shown > 0 or not re.match(r"fig\d", path.stem)


def test_links_inside_the_book_lead_somewhere(page, path):
    targets = page.eval_on_selector_all("a[href]", LINKS)
    assert targets
    wanted = {}
    for target in targets:
        url, fragment = urldefrag(target)
        wanted.setdefault(url, set()).add(unquote(fragment))
    for url, fragments in wanted.items():
        file = Path(unquote(url.removeprefix("file://")))
        assert file.is_file(), f"{path.name} links to {url}"
        if file.suffix == ".html":
            views = {each for each in fragments if re.search(VIEW, each)} if file.name == "index.html" else set()
            assert fragments - views - {""} <= set(re.findall(r'\bid="([^"]+)"', file.read_text())), (
                f"{path.name}: {url}"
            )


def test_nothing_is_wider_than_a_phone(page):
    page.set_viewport_size(PHONE)
    try:
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    finally:
        page.set_viewport_size(DESK)


def test_what_scrolls_is_reached_by_keyboard_and_no_equation_is_cut_on_a_desk(page):
    page.evaluate("() => document.querySelectorAll('details').forEach(each => { each.open = true; })")
    for size in (PHONE, DESK):
        page.set_viewport_size(size)
        page.wait_for_timeout(400)  # the theme moves its columns
        page.evaluate(FRAMES)
        scrolling = page.evaluate(SCROLLING)
        assert [each for each in scrolling if each[0] != 0] == []
    assert [each for each in scrolling if each[1] == "MJX-CONTAINER"] == []


PANEL = HTML / "book/_executed/fig04_histogram.html"
MATRICES = """() => Object.fromEntries(Array.from(document.querySelectorAll(".attention-panel figure"), figure =>
    [figure.dataset.solution, Array.from(figure.querySelectorAll("tbody td"), cell =>
        [Number(cell.dataset.value), Number(cell.textContent), cell.classList.contains("equal")])]))"""


def panel_solutions(page):
    """The weights that the page carries, as tensors; what the panel does not need is zero."""
    data = json.loads(page.locator(".attention-panel script[type='application/json']").text_content())
    for name, parts in data["solutions"].items():
        flat = np.zeros(tf.SIZE, np.float32)
        for part, text in parts.items():
            shape = data["shapes"][part]
            getattr(tf.views(flat), part)[...] = np.frombuffer(base64.b64decode(text), "<f4").reshape(shape)
        yield name, tf.as_tensors(flat)


@pytest.mark.parametrize("text", ["BBCCDDBBBB", "lmdmmmahhb", " ONMLKJIHGF", "AAAAAAAAAA"])
def test_the_panel_computes_what_torch_does(open_page, text):
    page = open_page(PANEL)
    page.locator(".attention-panel input").fill(text)
    shown = page.evaluate(MATRICES)
    tokens = counting.from_letters(text.strip())
    solutions = dict(panel_solutions(page))
    assert shown.keys() == solutions.keys() == {"positional", "semantic"}
    for name, weights in solutions.items():
        theirs = tf.attention(weights, torch.from_numpy(tokens[None]))[0].numpy()
        values, per_cent, framed = np.array(shown[name], float).T.reshape(3, 10, 10)
        assert abs(values - theirs).max() < 1e-4
        assert abs(per_cent - 100 * theirs).max() < 0.51
        assert (framed == (tokens[:, None] == tokens)).all()
    assert page.locator(".attention-panel .message").text_content() == ""


@pytest.mark.parametrize(
    "text, said",
    [("ABC", "this one has 3"), ("", "this one has 0"), ("ABCDEFGHIJK", "this one has 11"), ("ABCDEFGHIZ", "not “Z”"),
     ("ABC DEFGHI", "not “ ”"), ("<b>AB</b>CD", "not “<”")],
)  # fmt: skip
def test_the_panel_says_what_is_wrong_with_a_sequence(open_page, text, said):
    page = open_page(PANEL)
    page.locator(".attention-panel input").fill(text)
    assert said in page.locator(".attention-panel .message").text_content()
    assert not page.locator(".attention-panel .matrices").is_visible()
    assert page.locator(".attention-panel input").get_attribute("aria-invalid") == "true"


def test_the_panel_is_worked_by_keyboard_and_fits_a_phone(open_page):
    page = open_page(PANEL)
    page.set_viewport_size(PHONE)
    page.locator(".attention-panel input").focus()
    for _ in range(2):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.locator(".attention-panel input").input_value() == "LMDMMMAHHB"
    assert page.locator(".attention-panel tbody th").all_inner_texts() == list("LMDMMMAHHB" * 2)
    for table in page.locator(".attention-panel table").all():
        box = table.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= PHONE["width"]


SCORECARD = HTML / "book/scorecard.html"


def test_the_scorecard_shows_its_data(open_page):
    page = open_page(SCORECARD)
    data = json.loads((HTML / "book/scorecard.json").read_text())
    schema = json.loads((HTML / "_static/scorecard.schema.json").read_text())
    jsonschema.validate(data, schema)
    assert page.locator("section.comparisons tbody tr").count() == len(data["rows"]) > 0
    shown = page.locator("section.comparisons tbody tr").all_inner_texts()
    verdicts = [row["verdict"] for row in data["rows"]]
    assert sorted(next(each for each in set(verdicts) if each in text) for text in shown) == sorted(verdicts)
    for row in data["rows"]:
        address, anchor = urldefrag(row["page"])
        assert f'id="{anchor}"' in (SCORECARD.parent / address).read_text(), row["id"]


def test_the_scorecard_is_filtered_by_figure(open_page):
    page = open_page(SCORECARD)
    sections, choice = page.locator("section.comparisons"), page.get_by_label("Show")
    figures = [each.get_attribute("data-figure") for each in sections.all()]
    choice.select_option(figures[0])
    assert [each.is_visible() for each in sections.all()] == [figure == figures[0] for figure in figures]
    rows = page.locator(f'section[data-figure="{figures[0]}"] tbody tr').count()
    assert page.get_by_role("status").filter(has_text="comparisons").inner_text().strip() == f"{rows} comparisons"
    choice.select_option("")
    assert all(each.is_visible() for each in sections.all())


def test_tables_are_reached_by_keyboard_and_fit_a_phone(open_page):
    page = open_page(SCORECARD)
    page.set_viewport_size(PHONE)
    for region in page.locator(".scrolled").all():
        box = region.bounding_box()
        assert region.get_attribute("tabindex") == "0" and box["x"] + box["width"] <= PHONE["width"]
    assert page.locator("table.comparison th:empty").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
