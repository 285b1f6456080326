"""The CODECHECK manifest: which outputs of `make book` a checker would compare with the paper, and how to make them."""

import re

from ..paths import figure_texts

SUMMARY = (
    "`make book` writes every output below, on two cores in minutes, from the tables in data/. `make verify` computes a"
    " random sample of the tables again; `make book PROFILE=laptop` computes everything from nothing at reduced size."
)


def codecheck(paper):
    """The manifest, as the CODECHECK configuration 1.0 has it; certificate and checker are left to whoever checks.

    Parameters
    ----------
    paper : dict
        The reference to the paper, from CITATION.cff.

    Returns
    -------
    dict
    """
    outputs = [("scorecard.json", "every published number beside ours, with verdict and reason, as data")]
    outputs += [(f"_executed/{text.stem}.html", _title(text)) for text in figure_texts().values()]
    return {
        "version": "https://codecheck.org.uk/spec/config/1.0/",
        "paper": {
            "title": paper["title"],
            "authors": [{"name": f"{each['given-names']} {each['family-names']}"} for each in paper["authors"]],
            "reference": paper["url"],
        },
        "manifest": [{"file": f"_build/html/book/{name}", "comment": about} for name, about in outputs],
        "summary": SUMMARY,
    }


def _title(text):
    return re.search(r"^# (.+)$", text.read_text(encoding="utf-8"), re.MULTILINE)[1]
