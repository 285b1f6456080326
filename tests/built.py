"""The built book: its folder, and a way to open its pages from the disk and without a network."""

import os
from contextlib import contextmanager
from pathlib import Path

from cases import case_text

HERE = Path(__file__).resolve().parents[1]
HTML = (HERE / os.environ.get("BOOK", "_build/smoke/_build/html")).resolve()
EXECUTED = HTML / "book" / "_executed"
MOVED = [HTML / path.relative_to(HERE / "book/_moved") for path in (HERE / "book/_moved").rglob("*.html")]
PAGES = sorted({*(HTML / "book").rglob("*.html")} - {*MOVED})
# The first and every thirtieth of the reference pages, which all come from one template.
READ = [path for path in PAGES if "api" not in path.parts] + [path for path in PAGES if "api" in path.parts][::30]
PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 900}
FRAMES = case_text("frames.js")
SHIFTS = case_text("shifts.js")
TYPESET = "() => window.MathJax?.startup?.promise?.then(() => true) ?? false"


@contextmanager
def opening(chromium, script="", **options):
    """Yield a function that opens a page and waits for its mathematics; at the end no page may have complained.

    script: JavaScript that runs on each page before the page's own scripts
    """
    context = chromium.new_context(offline=True, **{"viewport": DESK, **options})
    context.add_init_script(script)
    complaints = []

    def failed(asked):
        if asked.failure != "net::ERR_ABORTED":  # a page that is closed early aborts pictures further down
            complaints.append(f"missing: {asked.url}")

    def opened(path, place=""):
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("request", lambda asked: complaints.append(asked.url) if asked.url.startswith("http") else None)
        page.on("requestfailed", failed)
        page.goto(path.as_uri() + place, wait_until="load")
        if page.locator(".bd-article .math").count():
            assert page.evaluate(TYPESET), f"{path.name} has mathematics and no MathJax"
        return page

    yield opened
    context.close()
    assert complaints == []
