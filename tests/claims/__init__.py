"""Claims of pages about the stored results: for each page the words of each claim, and a function that tests it."""

import pandas as pd
import pytest
from pages import stored as stored

from attention_book.analysis import thresholds
from attention_book.paths import DATA, NOTEBOOKS

ENDS = {"semantic", "positional"}


def each_holds(page, claims):
    """Return a test for each claim: the page has these words, and the claim is true. It may end in mid-sentence."""

    @pytest.mark.parametrize("words", claims)
    def test(words):
        text = " ".join((NOTEBOOKS / f"{page}.md").read_text(encoding="utf-8").split())
        assert words in text, "the page says something else now"
        assert claims[words](), "the stored results say something else"

    return test


def load(name, **where):
    filters = [(column, "==", value) for column, value in where.items()]
    return pd.read_parquet(DATA / f"{name}.parquet", filters=filters or None)


def line(name, what, along="omega", **where):
    """Return the alphas of the stored theory, by omega or another parameter."""
    return thresholds.curve(load(name, **where), what, along)["alpha"]


def per_cent(share, error, digits=0):
    """Return a share and its error in per cent, as a page writes it: 7(1) %."""
    return round(100 * share, digits), round(100 * error, digits)
