"""Formatting of numbers on the pages."""

import pandas as pd
import pytest
from bs4 import BeautifulSoup
from cases import cases

from attention_book.published import compare
from attention_book.render import markup


def parsed(frame, caption):
    return BeautifulSoup(markup.html_table(frame, caption), "html.parser")


def rows_of(frame, caption):
    """Return the texts of a table's cells, row by row."""
    return [[cell.get_text() for cell in row(["th", "td"])] for row in parsed(frame, caption)("tr")]


def test_a_table_can_be_read_by_everybody():
    frame = pd.DataFrame({"solution": ["one", "two"], "count": [3, 12]})
    table = parsed(frame, "Counts of α<sub>c</sub> & more")
    (region,) = table("div")
    assert (region["tabindex"], region["role"], region["aria-label"]) == ("0", "region", "Counts of αc & more")
    assert table.caption.decode(formatter=None) == "<caption>Counts of α<sub>c</sub> & more</caption>"
    assert [cell["scope"] for cell in table("th")] == ["col", "col", "row", "row"]
    assert [cell.name for cell in table(class_="number")] == ["th", "td", "td"]  # the numbers and their heading
    assert all(cell.get_text() for cell in table("th"))


def test_a_folded_table_is_named_by_what_opens_it():
    html = markup.Table(pd.DataFrame({"count": [1]}), "All of them", folded=True).html()
    assert html.startswith("<details><summary>All of them</summary>") and "<caption>" not in html
    assert 'id="table-all-of-them"' in html


@pytest.mark.parametrize("value, form, text", cases("numbers"))
def test_numbers_have_a_true_minus_and_none_before_zero(value, form, text):
    assert markup.number(float(value), form) == text


@pytest.mark.parametrize("value, std, text", cases("spreads"))
def test_a_spread_has_two_digits(value, std, text):
    assert markup.with_spread(float(value), float(std)) == text


def test_a_spread_that_is_rounding_is_not_shown():
    frame = pd.DataFrame({"by_token": [1 + 5e-14, 1 + 5e-5], "by_token_std": [2.5e-13, 2.5e-5]})
    _, first, second = rows_of(frame, "Shares")
    assert (first, second) == (["1"], ["1.000050 ± 0.000025"])


def test_a_range_follows_its_number_in_the_unit_of_the_heading():
    frame = pd.DataFrame({"scatter": [3e-5], "scatter_low": [2e-5], "scatter_high": [5e-5]})
    assert rows_of(frame, "Losses") == [["scatter of εt, 10−5"], ["3 (2 to 5)"]]


@pytest.mark.parametrize("folded", [False, True])
def test_a_table_without_published_numbers_is_shown_as_asked(folded):
    frame = pd.DataFrame({"count": [1]})
    assert markup.Table(frame, "Counts", folded=folded).html() == markup.html_table(frame, "Counts", folded)
    html, numbers = markup.Table(compare([]), "Published and ours")._repr_mimebundle_()
    assert "no numbers for these parameters" in html["text/html"] and numbers[markup.COMPARISON]["rows"] == []
