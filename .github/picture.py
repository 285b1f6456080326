"""Draw the picture of the landing page, of a start without a hint, and write it for those who do not run the page.

    PYTHONPATH=tests:book/_ext python .github/picture.py

The page's own scripts draw it in a Chromium: for the page before its scripts run, for the README in both themes, and
for the card that a shared link shows. `make metadata` runs this script; a test says when the files are old.
"""

import tempfile
from pathlib import Path

import chromium
from explorer import write_script
from landing import SCRIPTS
from playwright.sync_api import sync_playwright

BOOK = Path(__file__).parents[1] / "book"
PART, CARD = BOOK / "hint.html", BOOK / "_static" / "share.png"
LOOK = """<style>%s
:root { --pst-color-text-base: #222832; --pst-color-text-muted: #48566b; }
[data-theme="dark"] {
    --pst-color-text-base: #ced6dd; --pst-color-text-muted: #9ca4af; --pst-color-background: #14181e;
}
body { font: 16px sans-serif; margin: 8px 24px; }
</style>"""
OF_CARD = """.explorer.hint { height: 614px; margin: 0; align-items: center; font-size: 27px; }
.hint-question { font-size: 50px; }
.hint-controls, .hint ~ * { display: none !important; }"""
EMPTY = "<script>document.querySelectorAll('.hint svg > g').forEach(layer => layer.replaceChildren())</script>"
ENDED = """() => document.querySelector(".hint-tally[aria-busy=false]")?.textContent
    && document.querySelector(".hint .terrain").textContent.includes("mean of 20 data sets")"""
# The drawing alone, in the colours that the page's style gives it.
DRAWING = """theme => {
    document.documentElement.dataset.theme = theme;
    const svg = document.querySelector(".hint svg"), copy = svg.cloneNode(true);
    const parts = [...svg.querySelectorAll("*")], copies = [...copy.querySelectorAll("*")];
    parts.forEach((part, i) => {
        const look = getComputedStyle(part);
        if (look.display === "none" || !part.matches("path, line, circle, text")) return;
        for (const name of ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray",
                            "font-family", "font-size", "font-weight", "text-anchor", "paint-order"])
            copies[i].setAttribute(name, look.getPropertyValue(name));
    });
    copies.forEach((part, i) => { if (getComputedStyle(parts[i]).display === "none") part.remove(); });
    return new XMLSerializer().serializeToString(copy);
}"""


def write_page(folder, opening=EMPTY):
    """Write a page of the picture and the explorer, with their scripts and data, into a folder; return its path.

    opening: what the page has before the scripts; by default, what empties the picture.
    """
    write_script(folder)
    scripts = [Path(folder, SCRIPTS[0]), *(BOOK / "_static" / name for name in SCRIPTS[1:])]
    parts = [
        '<!doctype html><html data-theme="light"><meta charset="utf-8">',
        LOOK % (BOOK / "_static" / "explorer.css").read_text(encoding="utf-8"),
        *(path.read_text(encoding="utf-8") for path in (PART, BOOK / "explorer.html")),
        opening,
        *(f"<script>{path.read_text(encoding='utf-8')}</script>" for path in scripts),
    ]
    page = Path(folder, "page.html")
    page.write_text("".join(parts), encoding="utf-8")
    return page


def draw(running):
    """Return the texts of the files by their path, and the card as PNG, after the students have rolled.

    running: a browser of Playwright.
    """
    with tempfile.TemporaryDirectory() as folder:
        page = running.new_page(viewport={"width": 1200, "height": 630})
        page.goto(write_page(folder).as_uri())
        page.locator(".hint-handle").press("Home")
        page.wait_for_function(ENDED, timeout=600_000)
        page.evaluate("document.querySelector('.hint').classList.add('waits')")
        texts = {PART: page.locator(".hint").evaluate("part => part.outerHTML") + "\n"}
        for theme in ("dark", "light"):
            texts[Path(__file__).with_name(f"picture-{theme}.svg")] = page.evaluate(DRAWING, theme) + "\n"
        page.add_style_tag(content=OF_CARD)
        card = page.screenshot()
        page.close()
    return texts, card


def main():
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium.find(), args=chromium.QUIET)
        texts, card = draw(running)
        running.close()
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    CARD.write_bytes(card)


if __name__ == "__main__":
    main()
