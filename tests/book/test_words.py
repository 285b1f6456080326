"""Hand-written text: the numbers that a page quotes, captions, alternative texts and formulas."""

import re

import jupytext
import pytest
import reference

from attention_book.paths import NOTEBOOKS, ROOT

PLAIN = [ROOT / "README.md", *sorted((ROOT / "book").glob("*.md"))]
BOOK = {path.stem: path.read_text(encoding="utf-8") for path in PLAIN}
TEXTS = {path.stem: path.read_text(encoding="utf-8") for path in sorted(NOTEBOOKS.glob("*.md"))}
CELL = re.compile(r"^```\{code-cell\}.*?^```$", re.MULTILINE | re.DOTALL)
QUOTED = re.compile(r"\{glue:\w*\}`([\w.]+)[^`]*`|\{\{ (\w+) \}\}")
FORMULA = re.compile(r"\$\$(.+?)\$\$|\$([^$]+)\$", re.DOTALL)


def described(text):
    """Yield the caption and the alternative text of each figure of a page."""
    for cell in jupytext.reads(text, "md:myst").cells:
        if shown := cell.metadata.get("mystnb"):
            yield shown["figure"]["caption"], shown["image"]["alt"]


def quoted(text):
    return [glued or name for glued, name in QUOTED.findall(text)]


@pytest.mark.parametrize("page", TEXTS)
def test_a_page_quotes_all_numbers_that_it_makes_and_no_others(page):
    """The landing page and other plain pages quote the numbers of the landing notebook."""
    names = (name for cell in reference.kept(page) for name in cell)
    made = {name.split()[0] for name in names if name.endswith("papermill.record/text/plain")}
    text = "".join(BOOK.values()) if page == "landing" else TEXTS[page]
    assert {*quoted(text)} - {"reduced"} == made


def test_what_is_written_by_hand_is_as_before(compare):
    """Of each page the quoted numbers in their order, captions, alternative texts and formulas are recorded."""
    lines = []
    for page, text in {**BOOK, **TEXTS}.items():
        prose = CELL.sub("", text)
        formulas = {" ".join("".join(both).split()) for both in FORMULA.findall(prose)}
        lines += [f"# {page}", f"quoted: {' '.join(quoted(prose))}"]
        for caption, alt in described(text):
            lines += [f"caption: {caption}", f"alt: {alt}"]
        lines += [f"alt: {words}" for words in re.findall(r"^:alt: (.*)$", text, re.MULTILINE)]
        lines += [f"{name}: {words}" for name, words in re.findall(r'\b(alt|media|src|srcset)="([^"]+)"', text)]
        lines += sorted(formula for formula in formulas if re.search(r"[-=<>+/^(]|frac|sqrt|ln", formula))
    compare("words", lines, str.__eq__)
    (alt,) = re.findall(r"figures/fig-why\.svg\n:alt: (.*)", BOOK["index"])
    ((_, other),) = described(TEXTS["landing"])
    assert alt == other
