"""Links of the pages to the repository: none without its address, else only to files that git has."""

import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from sphinx.application import Sphinx
from sphinx.errors import ConfigError

EXTENSIONS = Path(__file__).resolve().parents[2] / "book" / "_ext"
sys.path.insert(0, str(EXTENSIONS))
import repository  # noqa: E402

GITHUB = "https://github.com/someone/book"
NOTEBOOK = "book/_executed/fig02_slice"
CONF = f"""
import sys
sys.path.insert(0, {str(EXTENSIONS)!r})
extensions = ["myst_nb", "repository"]
html_theme = "sphinx_book_theme"
html_theme_options = {{"use_repository_button": False}}
nb_execution_mode = "off"
root_doc = "book/index"
"""


@pytest.fixture
def build(tmp_path, monkeypatch):
    """A function that builds a book of four pages, two of them generated, and returns the outside links of each."""
    source = tmp_path / "source"
    (source / "book" / "_executed").mkdir(parents=True)
    (source / "notebooks").mkdir()
    (source / "conf.py").write_text(CONF)
    (source / "notebooks" / "fig02_slice.md").write_text("# Figure 2\n")
    (source / "book" / "index.md").write_text(
        "# Start\n\n```{toctree}\n_executed/fig02_slice\n_executed/fig99_lost\n_executed/times\n```\n"
    )
    for name in ("fig02_slice", "fig99_lost"):  # the second one has no text
        cells = [nbformat.v4.new_markdown_cell(f"# {name}")]
        kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
        nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), source / f"book/_executed/{name}.ipynb")
    (source / "book" / "_executed" / "times.md").write_text("# Times\n")
    (source / ".gitignore").write_text("book/_executed\n")
    for words in (["init", "--quiet"], ["add", "--all"]):
        subprocess.run(["git", "-C", source, *words], check=True)

    def built(**environment):
        for name in ("BOOK_REPOSITORY", "GITHUB_REPOSITORY"):
            monkeypatch.delenv(name, raising=False)
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        html = tmp_path / "html"
        options = {"status": None, "freshenv": True, "confoverrides": {"exclude_patterns": ["notebooks"]}}
        app = Sphinx(source, source, html, tmp_path / "trees", "html", **options)
        app.build()
        return {
            page: set(re.findall(r'href="(https://(?:github|mybinder)[^"]+)"', (html / f"{page}.html").read_text()))
            for page in ("book/index", NOTEBOOK, "book/_executed/fig99_lost", "book/_executed/times")
        }

    return built


@pytest.mark.filterwarnings("ignore")  # of other packages, which the book's own build has as well
def test_links_name_the_text_of_a_notebook_and_only_what_git_has(build):
    binder = "https://mybinder.org/v2/gh/someone/book/main?urlpath=lab/tree/notebooks/fig02_slice.md"
    expected = {
        "book/index": {GITHUB, f"{GITHUB}/blob/main/book/index.md?plain=1"},
        NOTEBOOK: {GITHUB, f"{GITHUB}/blob/main/notebooks/fig02_slice.md?plain=1", binder},
        "book/_executed/fig99_lost": {GITHUB},
        "book/_executed/times": {GITHUB},
    }
    for named in ({"GITHUB_REPOSITORY": "someone/book"}, {"BOOK_REPOSITORY": GITHUB, "GITHUB_REPOSITORY": "fork/book"}):
        linked = build(**named)
        assert {page: {link for link in links if "someone" in link} for page, links in linked.items()} == expected
        assert not any("fork" in link for links in linked.values() for link in links)


@pytest.mark.filterwarnings("ignore")
def test_without_an_address_there_are_no_links(build):
    assert not any(build().values())


@pytest.mark.parametrize("address", ["someone/book", "https://github.com/someone", "http://github.com/someone/book"])
def test_an_address_that_is_none_is_refused(address):
    with pytest.raises(ConfigError, match=r"BOOK_REPOSITORY = .*must be https://github\.com/OWNER/NAME"):
        repository.address({"BOOK_REPOSITORY": address})


def test_gitlab_is_known():
    assert repository.address({"BOOK_REPOSITORY": "https://gitlab.com/a/b.c"}) == "https://gitlab.com/a/b.c"
