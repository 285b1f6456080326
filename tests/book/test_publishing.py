"""Publication of the book: CITATION.cff, workflows, pinned actions, and links from pages to the repository."""

import re
from ast import literal_eval
from types import SimpleNamespace

import api
import pytest
import repository
import routes
import yaml
from cases import cases
from docutils import nodes
from docutils.utils import new_document
from jinja2 import Environment, FileSystemLoader

from attention_book.paths import ROOT
from attention_phases import __version__

WORKFLOWS = sorted(ROOT.glob(".github/workflows/*.yml"))
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def steps(path):
    return [step for job in yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].values() for step in job["steps"]]


def test_citation_is_of_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == __version__
    assert f'\nversion = "{__version__}"\n' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


SCHEMAS = [
    ("vendor.citation-file-format", [ROOT / "CITATION.cff"]),
    ("vendor.github-workflows", WORKFLOWS),
    ("custom.github-workflows-require-timeout", WORKFLOWS),
]


@pytest.mark.parametrize(("schema", "files"), SCHEMAS)
def test_citation_and_workflows_are_valid(python, schema, files):
    done = python("-m", "check_jsonschema", "--builtin-schema", schema, *files)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_by_commit(path):
    named = re.findall(r"uses: *(.+)", path.read_text(encoding="utf-8"))
    assert named
    assert [action for action in named if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", action)] == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_every_make_target_of_a_workflow_exists(path):
    named = {target for step in steps(path) for target in re.findall(r"make ([a-z-]+)", step.get("run", ""))}
    assert named <= TARGETS


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_token_that_can_write_meets_no_foreign_code(path):
    """No job has write permission by default, and no notebook can read the token of a checkout."""
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert workflow["permissions"] in ({}, {"contents": "read"})
    checkouts = [step for step in steps(path) if step.get("uses", "").startswith("actions/checkout@")]
    assert checkouts
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


# Pages and their list


def test_a_module_is_told_of_by_the_first_sentence_of_its_docstring():
    module = SimpleNamespace(__name__="a.b", __doc__="What ``it`` |\nis.\n\nMore of it.")
    assert api.row(module) == "| [a.b](api/a.b.rst) | What `it` \\| is. |\n"


def test_a_page_takes_as_long_as_its_words_that_are_not_folded_and_its_formulas_are_counted():
    tree = new_document("page")
    folded = nodes.container("", nodes.paragraph("", "word " * 1000), design_component="dropdown")
    figure = nodes.container("", nodes.caption("", "word " * 100))
    formulas = [nodes.math_block("", "a = b") for _ in range(2)]
    tree += [nodes.paragraph("", "word " * 400), figure, *formulas, folded]
    assert routes.reading(tree) == (500 / 200, 2)


# Links of the pages


GITHUB = "https://github.com/someone/book"


@pytest.mark.parametrize(("named", "url"), cases("repositories"))
def test_the_address_is_that_of_the_environment(named, url, monkeypatch):
    for name in ("BOOK_REPOSITORY", "GITHUB_REPOSITORY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in literal_eval(named).items():
        monkeypatch.setenv(name, value)
    config = SimpleNamespace(html_theme_options={"use_repository_button": False}, myst_html_meta={}, html_context={})
    repository.set_address(SimpleNamespace(srcdir=ROOT), config)
    assert "L. Zdeborová" in config.html_context["paper"]["authors"]
    assert config.html_theme_options.get("repository_url", "none") == url
    assert config.html_theme_options["use_repository_button"] == (url != "none")


@pytest.mark.parametrize("url", ["", GITHUB])
def test_the_foot_of_a_page_links_the_repository_and_its_issues_where_an_address_is_known(url):
    template = Environment(loader=FileSystemLoader(ROOT / "book/_templates")).get_template("foot.html")
    foot = template.render(paper={"url": "paper"}, theme_repository_url=url, pathto=str)
    assert re.findall('href="(.*?)"', foot) == ["paper", *([url, f"{url}/issues"] if url else []), "book/references"]


@pytest.mark.parametrize("url", ["", GITHUB])
def test_the_book_s_bibtex_entry_has_the_address_where_one_is_known(url):
    text = (ROOT / "book" / "citation.bib").read_text(encoding="utf-8")
    tree = new_document("page")
    tree += [nodes.literal_block(text, text, language="bibtex"), nodes.literal_block("version = 1", "version = 1")]
    app = SimpleNamespace(config=SimpleNamespace(html_theme_options={"repository_url": url}))
    repository.cite_address(app, tree, "page")
    shown, other = (block.astext() for block in tree.findall(nodes.literal_block))
    (book,) = re.findall(r"@software\{.*?\n\}", shown, re.DOTALL)
    assert re.findall(r"url += \{(.*)\}", book) == ([url] if url else [])
    assert re.sub(r".*url += .*github.*\n", "", shown) == text and other == "version = 1"


@pytest.mark.parametrize(("url", "shown"), cases("addresses"))
@pytest.mark.parametrize("label", ["source-buttons", "launch-buttons"])
def test_links_name_the_text_of_a_notebook_and_only_what_git_has(label, url, shown):
    search = {"label": "search", "type": "button"}
    context = {"header_buttons": [{"label": label, "buttons": [{"url": url}]}, search]}
    repository.point_at_texts(None, "a page", "page.html", context, None)
    *groups, other = context["header_buttons"]
    assert other == search
    assert [button["url"] for group in groups for button in group["buttons"]] == ([] if shown == "none" else [shown])
