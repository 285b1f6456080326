"""How numbers of the pages become text."""

import re
from html.parser import HTMLParser

import pandas as pd
import pytest
from cases import cases

from attention_book.published import compare
from attention_book.render import markup


class Cells(HTMLParser):
    """Tags with their attributes, and rows of cells, of a table."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.rows, self.inside = [], [], False
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag == "tr":
            self.rows.append([])
        if tag in ("th", "td"):
            self.rows[-1].append("")

        self.inside = tag in ("th", "td") or (self.inside and tag != "p")

    def handle_data(self, data):
        if self.inside:
            self.rows[-1][-1] += data


def test_a_table_can_be_read_by_everybody():
    frame = pd.DataFrame({"solution": ["one", "two"], "count": [3, 12]})
    html = markup.html_table(frame, "Counts of α<sub>c</sub> & more")
    tags = Cells(html).tags
    (region,) = [attributes for tag, attributes in tags if tag == "div"]
    assert region["tabindex"] == "0" and region["role"] == "region" and region["aria-label"] == "Counts of αc & more"
    assert "<caption>Counts of α<sub>c</sub> & more</caption>" in html
    scopes = [attributes["scope"] for tag, attributes in tags if tag == "th"]
    assert scopes == ["col", "col", "row", "row"]
    right = [tag for tag, attributes in tags if attributes.get("class") == "number"]
    assert right == ["th", "td", "td"]  # the numbers and their heading
    assert not re.search(r"<th[^>]*></th>", html)


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
    _, first, second = Cells(markup.html_table(frame, "Shares")).rows
    assert (first, second) == (["1"], ["1.000050 ± 0.000025"])


def test_a_range_follows_its_number_in_the_unit_of_the_heading():
    frame = pd.DataFrame({"scatter": [3e-5], "scatter_low": [2e-5], "scatter_high": [5e-5]})
    assert Cells(markup.html_table(frame, "Losses")).rows == [["scatter of εt, 10−5"], ["3 (2 to 5)"]]


@pytest.mark.parametrize("folded", [False, True])
def test_a_table_without_published_numbers_is_shown_as_asked(folded):
    frame = pd.DataFrame({"count": [1]})
    assert markup.Table(frame, "Counts", folded=folded).html() == markup.html_table(frame, "Counts", folded)
    html, numbers = markup.Table(compare([]), "Published and ours")._repr_mimebundle_()
    assert "no numbers for these parameters" in html["text/html"] and numbers[markup.COMPARISON]["rows"] == []
