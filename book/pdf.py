"""The whole book as one PDF, which Chromium prints from a single page with typeset mathematics.

    PYTHONPATH=tests python book/pdf.py _build/singlehtml _build/html/positional-or-semantic.pdf

The landing page in the folder of the PDF then links to it.
"""

import re
import shutil
import sys
from pathlib import Path

import chromium
from playwright.sync_api import sync_playwright

SCALE = 0.75  # scale of the print relative to the screen
WIDTH = 900  # width of the text in pixels at this scale: A4 without the margins
# Folded text is opened, except the provenance of figures. Code is removed, because it is read on a screen. Elements
# that are wider than the page are made smaller.
PREPARE = """() => {
    document.querySelectorAll("details.hide").forEach(node => node.remove());
    document.querySelectorAll("details").forEach(node => { node.open = true; });
    document.querySelectorAll(".explorer:not(.words), .attention-panel").forEach(node => {
        const note = document.createElement("p");
        note.append(Object.assign(document.createElement("em"), {
            textContent: "Here the book's page has a part to play with.",
        }));
        node.replaceWith(note);
    });
    for (const node of document.querySelectorAll(".bd-article table, .bd-article mjx-container[display='true']")) {
        const wide = node.matches("table") ? node.scrollWidth : node.querySelector("svg").getBoundingClientRect().width;
        const width = node.parentElement.getBoundingClientRect().width;
        if (wide > width) node.style.zoom = width / wide;
    }
}"""
CUT = """() => { const edge = document.querySelector(".bd-article").getBoundingClientRect().right + 1;
    return Array.from(document.querySelectorAll(".bd-article :is(table, img, svg)"))
        .filter(node => node.getBoundingClientRect().right > edge)
        .map(node => node.tagName + " " + (node.caption?.textContent ?? node.parentNode.outerHTML.slice(0, 80))); }"""
FOOT = """<div style="width: 100%; text-align: center; font: 9px sans-serif; color: #555">
    <span class="pageNumber"></span> / <span class="totalPages"></span></div>"""
# If a heading begins a sheet, Chromium writes its title twice. The title is a text or, with characters beyond ASCII,
# numbers of four digits. The second copy is replaced by blanks, so that the offsets in the file remain valid.
DOUBLE_TITLE = re.compile(rb"(/Title (?:\(|<FEFF))((?:[^()<>]|\\[()])+)\2([)>])")
LINK = '<p class="book-pdf">The whole book <a href="../{name}">as one PDF</a>.</p>'
MARK = '<section id="all-figures">'


def main(folder, target):
    """Print the page in `folder` to `target`, and link the PDF from the landing page of the book."""
    page = shutil.copy(folder / "book" / "index.html", folder / "whole.html")  # its links are relative to this folder
    margin = {"top": "16mm", "bottom": "16mm", "left": "15mm", "right": "15mm"}
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium.find(), args=chromium.QUIET)
        opened = open_page(running, page)
        if cut := opened.evaluate(CUT):
            sys.exit(f"wider than the paper: {', '.join(cut)}")
        head_and_foot = {"header_template": "<span></span>", "footer_template": FOOT, "display_header_footer": True}
        options = {"outline": True, "tagged": True, "print_background": True, **head_and_foot}
        printed = opened.pdf(format="A4", margin=margin, scale=SCALE, **options)
        running.close()
    target.write_bytes(DOUBLE_TITLE.sub(repair_title, printed))
    landing = target.parent / "book" / "index.html"
    text, link = landing.read_text(encoding="utf-8"), LINK.format(name=target.name)
    if link not in text:
        landing.write_text(text.replace(MARK, f"{link}\n{MARK}", 1), encoding="utf-8")


def repair_title(doubled):
    before, title, after = doubled.groups()
    return before + title + b" " * len(title) + after


def open_page(running, page):
    """Open the page as it is printed: in light colours, with typeset mathematics, and nothing wider than the paper."""
    opened = running.new_context(offline=True, viewport={"width": WIDTH, "height": 1000}).new_page()
    opened.add_init_script("localStorage.setItem('mode', 'light'); localStorage.setItem('theme', 'light')")
    opened.emulate_media(media="print", color_scheme="light")
    opened.goto(page.resolve().as_uri(), wait_until="load", timeout=300_000)
    opened.evaluate("() => window.MathJax.startup.promise.then(() => true)")
    opened.evaluate(PREPARE)
    return opened


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
