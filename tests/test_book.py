"""Every page of the built book, read as a person does: in Chromium, from the disk, without a network."""

import os
import re
from pathlib import Path
from urllib.parse import unquote, urldefrag

import browser
import pytest
from playwright.sync_api import sync_playwright

HERE = Path(__file__).resolve().parents[1]
HTML = (HERE / os.environ.get("BOOK", "_build/smoke/_build/html")).resolve()
PAGES = sorted((HTML / "book").rglob("*.html"))
PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 900}

IMAGES = """() => Array.from(document.querySelectorAll(".bd-article img"), image =>
    ({source: image.getAttribute("src").slice(0, 80), alt: image.alt, width: image.naturalWidth}))"""
LINKS = 'links => links.map(link => link.href).filter(href => href.startsWith("file:"))'
# Text that a reader sees, without code, in which a dollar or a backslash is itself.
PROSE = """() => { const page = document.querySelector(".bd-article").cloneNode(true);
    page.querySelectorAll("pre, code, script, style, mjx-container").forEach(each => each.remove());
    return page.textContent; }"""
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


@pytest.fixture
def open_page(chromium):
    """A function that opens a page, waits for its mathematics, and fails for anything the browser complains of."""
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


def test_the_build_has_the_pages_of_the_contents():
    assert HTML.is_dir(), f"no book at {HTML}: run `make test`, or name a built one in BOOK"
    contents = re.findall(r"(?:root|file): (\S+)", (HERE / "_toc.yml").read_text())
    expected = {name.removesuffix(".ipynb") + ".html" for name in contents}
    assert {str(page.relative_to(HTML)) for page in PAGES} == expected


@pytest.fixture(params=PAGES, ids=lambda path: path.stem)
def path(request):
    return request.param


def test_mathematics_is_typeset(open_page, path):
    page = open_page(path)
    formulas = page.locator(".bd-article .math").count()
    assert page.locator(".bd-article .math mjx-container").count() >= formulas
    assert page.locator("mjx-merror, [data-mjx-error]").count() == 0
    assert not re.search(r"\$|\\\(|\\\[|\\[a-z]{2,}", page.evaluate(PROSE))


def test_figures_are_shown_and_described(open_page, path):
    for image in open_page(path).evaluate(IMAGES):
        assert image["width"] > 0, f"not shown: {image['source']}"
        assert len(image["alt"].split()) > 3, f"no description: {image['source']} {image['alt']!r}"


def test_figure_pages_have_a_figure(open_page):
    figures = [page for page in PAGES if page.stem.startswith("fig")]
    assert figures
    for path in figures:
        assert open_page(path).locator(".bd-article figure img, .bd-article figure svg").count() > 0


def test_links_inside_the_book_lead_somewhere(open_page, path):
    targets = open_page(path).eval_on_selector_all("a[href]", LINKS)
    assert targets
    wanted = {}
    for target in targets:
        url, fragment = urldefrag(target)
        wanted.setdefault(url, set()).add(unquote(fragment))
    for url, fragments in wanted.items():
        file = Path(unquote(url.removeprefix("file://")))
        assert file.is_file(), f"{path.name} links to {url}"
        if file.suffix == ".html":
            assert fragments - {""} <= set(re.findall(r'\bid="([^"]+)"', file.read_text())), f"{path.name}: {url}"


def test_nothing_is_wider_than_a_phone(open_page, path):
    page = open_page(path)
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
