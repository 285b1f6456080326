"""What axe says of every page, in both themes, on a phone and on a desk."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from test_book import DESK, FRAMES, PHONE, chromium, page, path  # noqa: F401

pytestmark = pytest.mark.slow
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
SEEN = ["color-contrast", "scrollable-region-focusable"]  # what depends on theme and width
# Strokes of formulas go, which axe has nothing to say of, and of the words of code of one colour on one ground all but
# the first: they are nine in ten of the elements of a page.
OPEN = """() => { document.querySelectorAll('details').forEach(each => { each.open = true; });
    document.querySelectorAll('mjx-container svg').forEach(each => each.replaceChildren());
    const seen = new Set();
    document.querySelectorAll('pre span').forEach(each => {
        const kind = [each.className, getComputedStyle(each.closest('pre')).backgroundColor, !!each.closest('.behind')];
        if (seen.has(kind.join())) each.replaceWith(...each.childNodes);
        seen.add(kind.join()); }); }"""


def serious(page, rules, place=None):  # noqa: F811
    """Rules that a page breaks seriously or critically, and where."""
    found = Axe().run(
        page, place, {"runOnly": rules, "preload": False, "resultTypes": ["violations"]}
    )  # to preload, axe would fetch
    return [(each["id"], [node["html"] for node in each["nodes"]])
            for each in found.response["violations"] if each["impact"] in ("serious", "critical")]  # fmt: skip


def look(page, theme, size):  # noqa: F811
    page.set_viewport_size(size)
    page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
    page.wait_for_timeout(300)  # colours change slowly
    page.evaluate(FRAMES)


def test_axe_finds_nothing_serious(page, path):  # noqa: F811
    """All rules in one view of each theme and width; in the other two what depends on them."""
    page.evaluate(OPEN)
    look(page, "dark", DESK)
    assert serious(page, WCAG) == []
    look(page, "light", PHONE)
    assert serious(page, WCAG, ".bd-article") == []
    for theme, size in (("light", DESK), ("dark", PHONE)):
        look(page, theme, size)
        assert serious(page, SEEN, ".bd-article") == [], (theme, size)
