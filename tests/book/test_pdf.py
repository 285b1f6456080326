"""The book as one PDF: all pages, an outline, and typeset mathematics; the command refuses pages that are cut off."""

import re
from html import unescape

import jupytext
import pypdfium2
import pytest
from built import HTML, PAGES

from attention_book.paths import NOTEBOOKS

pytestmark = pytest.mark.slow  # needs the built book
PDF = HTML / "positional-or-semantic.pdf"


@pytest.fixture(scope="module")
def pdf():
    assert PDF.is_file(), f"no {PDF}: run `make pdf`, or `make test`, which prints the smoke book"
    with pypdfium2.PdfDocument(PDF) as opened:
        yield opened


@pytest.fixture(scope="module")
def texts(pdf):
    return [page.get_textpage().get_text_bounded() for page in pdf]


def test_every_page_of_the_book_is_in_the_outline(pdf):
    titles = [entry.get_title().strip() for entry in pdf.get_toc()]
    pages = [page.read_text(encoding="utf-8") for page in PAGES if "api" not in page.parent.name]
    expected = {unescape(re.search(r'<h1>([^<]*)<a class="headerlink"', page)[1]) for page in pages}
    assert expected <= set(titles)
    assert pdf.is_tagged()


def test_mathematics_is_typeset_and_sheets_are_full(texts):
    assert len(texts) > 50
    cells = [cell for text in NOTEBOOKS.glob("*.md") for cell in jupytext.read(text).cells]
    code = {word for cell in cells if cell.cell_type == "code" for word in cell.source.split()}
    for number, text in enumerate(texts, 1):
        raw = [word for word in text.split() if re.search(r"\$|\\\(|\\\[|\\[a-z]{2,}", word)]
        assert set(raw) <= code, f"raw mathematics on sheet {number}"
        assert len(text.split()) > 1, f"sheet {number} is empty"


def test_the_landing_page_links_to_it(pdf):
    assert f'href="../{PDF.name}"' in (HTML / "book" / "index.html").read_text(encoding="utf-8")
