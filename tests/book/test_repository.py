"""Links of the pages to the repository: none without its address, else only to files that git has."""

import sys
from types import SimpleNamespace

import pytest

from attention_book.paths import ROOT

sys.path.insert(0, str(ROOT / "book" / "_ext"))
import repository

GITHUB = "https://github.com/someone/book"
SOURCE, BINDER = f"{GITHUB}/blob/main", "https://mybinder.org/v2/gh/someone/book/main?urlpath=lab/tree"


@pytest.mark.parametrize(
    ("named", "url"),
    [
        ({}, None),
        ({"GITHUB_REPOSITORY": "someone/book"}, GITHUB),
        ({"GITHUB_REPOSITORY": "fork/book", "BOOK_REPOSITORY": GITHUB}, GITHUB),
    ],
)
def test_the_address_is_that_of_the_environment(named, url, monkeypatch):
    for name in ("BOOK_REPOSITORY", "GITHUB_REPOSITORY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in named.items():
        monkeypatch.setenv(name, value)
    config = SimpleNamespace(html_theme_options={"use_repository_button": False})
    repository.set_address(None, config)
    assert config.html_theme_options.get("repository_url") == url
    assert config.html_theme_options["use_repository_button"] == bool(url)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        (f"{SOURCE}/book/_executed/fig02_slice.ipynb?plain=1", f"{SOURCE}/notebooks/fig02_slice.md?plain=1"),
        (f"{BINDER}/book/_executed/fig02_slice.ipynb", f"{BINDER}/notebooks/fig02_slice.md"),
        (f"{SOURCE}/book/index.md?plain=1", f"{SOURCE}/book/index.md?plain=1"),
        (f"{SOURCE}/book/_executed/times.md?plain=1", None),
        (f"{SOURCE}/book/api/attention_phases.rst?plain=1", None),
    ],
)
@pytest.mark.parametrize("label", ["source-buttons", "launch-buttons"])
def test_links_name_the_text_of_a_notebook_and_only_what_git_has(label, url, shown):
    search = {"label": "search", "type": "button"}
    context = {"header_buttons": [{"label": label, "buttons": [{"url": url}]}, search]}
    repository.point_at_texts(None, "a page", "page.html", context, None)
    *groups, other = context["header_buttons"]
    assert other == search and [button["url"] for group in groups for button in group["buttons"]] == [shown] * bool(
        shown
    )
