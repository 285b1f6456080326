"""Every page of the built book, tested as a reader sees it and by axe, in both themes, on a phone and on a desktop."""

import re
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pages
import pytest
from axe_playwright_python.sync_playwright import Axe
from built import DESK, FRAMES, HERE, HTML, MOVED, PAGES, PHONE, SHIFTS
from cases import case_text
from playwright.sync_api import TimeoutError

import attention_book

pytestmark = pytest.mark.slow

SOURCES = [HERE / "src" / name for name in ("attention_phases", "attention_book/analysis", "attention_book/render")]
MODULES = [
    ".".join(path.relative_to(HERE / "src").with_suffix("").parts)
    for source in SOURCES
    for path in source.rglob("*.py")
]
API = {name.removesuffix(".__init__") for name in MODULES} | {attention_book.grid.__module__}
API |= {f"attention_book.{place}" for place in pages.MODULES if place != "experiments"}

# Widths of pictures, and font sizes of words that scripts draw.
PICTURES = """() => [...document.querySelectorAll(".bd-article img:not(.gallery *)")].filter(image =>
    image.checkVisibility()).map(image => [image.currentSrc, image.getBoundingClientRect().width])"""
WORDS = """() => [...document.querySelectorAll(".bd-article svg:not(mjx-container *) text")].map(text => {
    const {a, b} = text.getScreenCTM();
    return [text.textContent, parseFloat(getComputedStyle(text).fontSize) * Math.hypot(a, b)]; })"""
LINKS = 'links => links.map(link => link.href).filter(href => href.startsWith("file:"))'
# Text that a reader sees outside code, where a dollar sign or a backslash would be a mistake.
PROSE = """() => { const page = document.querySelector(".bd-article").cloneNode(true);
    page.querySelectorAll("pre, code, script, style, mjx-container").forEach(element => element.remove());
    return page.textContent; }"""
VIEW = r"^(matrix=\w+&)?omega=[\d.]+&alpha=[\d.]+$"  # an address of the explorer
SCROLLERS = "table, pre, .scrolled, .pst-scrollable-table-container, mjx-container"
SCROLLING = """among => Array.from(document.querySelectorAll(`.bd-article :is(${among})`))
    .filter(element => element.scrollWidth > element.clientWidth && getComputedStyle(element).overflowX === "auto")
    .map(element => [element.tabIndex, element.tagName, element.textContent.slice(0, 60)])"""
REACHED = f"among => ({SCROLLING})(among).every(([tab]) => tab === 0)"
# Table cells and labels whose text is wider than their column.
COVERED = """() => Array.from(document.querySelectorAll("table.comparison :is(th, td), .behind dt"))
    .filter(cell => cell.scrollWidth > cell.clientWidth + 1).map(cell => cell.textContent)"""
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
# Rules about looks; the previous test checks the last of them on every page.
OF_A_VIEW = ["color-contrast", "link-in-text-block", "scrollable-region-focusable"]
WHOLE = ("index", "fig02_slice")  # pages that are tested together with navigation, which is the same on every page
NAMING = "a, button, summary, label, th, caption, h1, h2, h3, h4"  # elements whose text is a name
# Properties of text in both themes: colour, opacity, background, size; for links also the text around them.
LOOKS = set()
# Formulas are removed, because axe does not test their parts. Of texts with the same look in both themes only the first
# is tested. The others, nine of ten elements of a page, become plain text. Colours change at once, and gradients are
# removed, because axe cannot judge text on them.
OPEN = case_text("looks.js")


def test_the_build_has_the_pages_of_the_contents():
    assert HTML.is_dir(), f"no book at {HTML}: run `make test`, or name a built one in BOOK"
    contents = re.findall(r"(?:root|file): (\S+)", (HERE / "_toc.yml").read_text(encoding="utf-8"))
    expected = {name.removesuffix(".ipynb") + ".html" for name in contents}
    modules = {f"book/api/{name}.html" for name in API}
    assert {str(page.relative_to(HTML)) for page in PAGES} == expected | modules


def test_the_address_of_a_page_that_is_part_of_another_leads_there():
    assert MOVED
    for page in MOVED:
        for target in re.findall(r'(?:url=|href=")([^"]+)"', page.read_text(encoding="utf-8")):
            file, _, place = target.partition("#")
            assert f'id="{place}"' in (page.parent / file).read_text(encoding="utf-8")


def small_letters(page):
    """Return letters of less than 9 pixels in the drawings of a page, except indices, with the picture or words."""
    seen = page.evaluate(WORDS)
    for source, across in page.evaluate(PICTURES):
        svg = Path(unquote(source.removeprefix("file://"))).read_text(encoding="utf-8")
        scales = re.findall(r"scale\((0\.\d+) -", svg)  # scale of words whose letters are 100 units large
        wide = float(re.search(r'viewBox="0 0 ([\d.]+)', svg)[1])
        seen += [[Path(source).name, 100 * float(scale) * across / wide] for scale in scales]
    return [word for word in seen if word[1] < 9]


def test_nothing_moves_while_a_page_loads_and_a_list_of_tabs_has_tabs(page):
    assert page.evaluate(SHIFTS) < 0.1
    assert page.locator("[role=tablist]:not(:has([role=tab])), [role=tab]:not([aria-selected])").count() == 0


def test_mathematics_is_typeset_numbers_have_no_type_and_a_per_cent_sign_stays_with_its_own(page):
    formulas = page.locator(".bd-article .math").count()
    letters = page.locator(".bd-article span.math").evaluate_all("all => all.map(math => math.dataset.plain ?? '\\\\')")
    # The raw formula, which is shown until MathJax is ready or without scripts.
    assert not [text for text in letters if "\\" in text]
    assert page.locator(".bd-article .math mjx-container").count() >= formulas
    assert page.locator("mjx-merror, [data-mjx-error]").count() == 0
    assert page.locator("mjx-container[tabindex='0']").count() == 0  # the Tab key does not stop at formulas
    text = page.evaluate(PROSE)
    assert not re.search(r"\$|\\\(|\\\[|\\[a-z]{2,}", text)
    assert not re.search(r"\b(np\.\w+|dtype|nan)\b", text)
    paragraphs = page.locator(".bd-article > section p:not(.explorer *, .admonition *)").all_text_contents()
    assert not [text for text in paragraphs if re.search(r"[\d)] %", text)]


def test_links_inside_the_book_lead_somewhere(page, path):
    targets = page.eval_on_selector_all("a[href]", LINKS)
    assert targets
    wanted = {}
    for target in targets:
        url, fragment = urldefrag(target)
        wanted.setdefault(url, set()).add(unquote(fragment))
    for url, fragments in wanted.items():
        file = Path(unquote(url.removeprefix("file://").partition("?")[0]))
        assert file.is_file(), f"{path.name} links to {url}"
        if file.suffix == ".html":
            views = {text for text in fragments if file.name == "index.html" and re.search(VIEW, text)}
            places = set(re.findall(r'\bid="([^"]+)"', file.read_text(encoding="utf-8")))
            assert fragments - views - {""} <= places, f"{path.name}: {url}"


def test_with_every_fold_open_all_fits_a_desk_and_a_phone_and_what_scrolls_is_reached_by_keyboard(page):
    page.evaluate("() => document.querySelectorAll('details').forEach(element => { element.open = true; })")
    for size in (DESK, PHONE):
        look(page, "light", size)
        assert size != PHONE or small_letters(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
        assert page.evaluate(COVERED) == []
        scrolling = page.evaluate(SCROLLING, SCROLLERS)
        assert [element for element in scrolling if element[0] != 0 or element[1] not in ("PRE", "TABLE")] == []


def test_the_contents_of_a_page_close_on_a_phone_once_a_section_is_chosen(chromium):
    page = chromium.new_page(viewport=PHONE)
    page.goto((HTML / "book/_executed/fig02_slice.html").as_uri())
    contents = page.locator("#pst-secondary-sidebar-modal")
    page.locator("button.secondary-toggle").click()
    contents.get_by_role("link", name="Exercises").click()
    contents.wait_for(state="hidden")
    assert page.url.endswith("#exercises")
    page.close()


def serious(page, rules, place=None, without=()):
    """Return the rules that a page breaks seriously or critically, with the places."""
    options = {"runOnly": rules, "rules": {rule: {"enabled": False} for rule in without}}
    options |= {"preload": False, "resultTypes": ["violations"]}  # with preload, axe would use the network
    return [
        (rule["id"], [node["html"] for node in rule["nodes"]])
        for rule in Axe().run(page, place, options).response["violations"]
        if rule["impact"] in ("serious", "critical")
    ]


def look(page, theme, size):
    if page.viewport_size != size:
        page.set_viewport_size(size)
        with suppress(TimeoutError):  # if this times out, the assertion names the elements that cannot be reached
            page.wait_for_function(REACHED, arg=SCROLLERS)  # the theme checks again which elements scroll
    page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
    page.evaluate(FRAMES)


def test_axe_finds_nothing_serious(page, path):
    """Words and structure are tested on every page, and colours on a page with a text of a new look.

    Colours depend only on the theme and places only on the width, so each is tested in each theme and in each width.
    This test must be the last, because it takes the shared page apart.
    """
    new = set(page.evaluate(OPEN, NAMING)) - LOOKS
    LOOKS.update(new)
    whole = path.stem in WHOLE
    place = None if whole else ".bd-article"
    look(page, "light", PHONE)
    assert serious(page, WCAG, place, without=() if whole or new else OF_A_VIEW) == []
    if whole or new:
        look(page, "dark", DESK)
        assert serious(page, WCAG if whole else OF_A_VIEW, place) == []
