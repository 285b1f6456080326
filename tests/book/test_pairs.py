"""The texts as notebooks: the paired .ipynb files, and the quality of the notebooks."""

import ast
import json
import re
from functools import cache
from itertools import pairwise

import jupytext
import nbformat
import pytest
from jupytext.cli import jupytext as shell
from pages import NAMES

import attention_book
from attention_book.paths import NOTEBOOKS, ROOT

TEXTS = sorted(NOTEBOOKS.glob("*.md"))
PAGES = [*TEXTS, *sorted((ROOT / "book").glob("*.md"))]


@pytest.fixture(params=TEXTS, ids=lambda path: path.stem)
def text(request):
    return request.param


@cache
def cells_of(text):
    return jupytext.read(text).cells


def tree_of(text):
    """Return the syntax tree of all code of a notebook."""
    return ast.parse("\n".join(cell.source for cell in cells_of(text) if cell.cell_type == "code"))


def test_an_edit_of_the_ipynb_is_that_edit_of_the_text_and_no_other(text, tmp_path):
    """The files are paired as by `make lab`, with the metadata that editors and kernels leave in a notebook."""
    for path in (text, NOTEBOOKS / "jupytext.toml"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    assert shell(["--quiet", "--sync", str(tmp_path / text.name)]) == 0
    path = tmp_path / f"{text.stem}.ipynb"
    notebook = nbformat.read(path, 4)
    language = {"name": "python", "version": "3.12.0", "pygments_lexer": "ipython3"}
    notebook.metadata |= {"language_info": language, "widgets": {}}
    for cell in notebook.cells:
        cell.metadata |= {"execution": {"iopub.status.busy": "now"}, "collapsed": False, "vscode": {"languageId": "r"}}
        if cell.cell_type == "code":
            cell.execution_count = 7
            cell.outputs = [nbformat.v4.new_output("stream", text="printed\n")]
    parameters = next(cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", ()))
    parameters.source = parameters.source.replace('"paper"', '"laptop"', 1)
    lab = ("name", "display_name", "language")  # keeps their order, which nbformat would sort
    notebook.metadata["kernelspec"] = {name: notebook.metadata.kernelspec[name] for name in lab}
    path.write_text(json.dumps(notebook), encoding="utf-8")
    assert shell([str(path), "--to", "md:myst", "--output", str(tmp_path / "saved.md"), "--quiet"]) == 0
    edited = text.read_text(encoding="utf-8").replace('profile = "paper"', 'profile = "laptop"', 1)
    assert (tmp_path / "saved.md").read_text(encoding="utf-8") == edited != text.read_text(encoding="utf-8")


# The quality of the notebooks


def test_cells_are_small_each_is_introduced_and_imports_come_first(text):
    cells = cells_of(text)
    for before, cell in pairwise(cells):
        if cell.cell_type == "code":
            lines = cell.source.splitlines()
            assert len(lines) <= 60, f"a cell has at most 60 lines, this one has {len(lines)}:\n{cell.source}"
            assert max(map(len, lines)) <= 100, "\n".join(line for line in lines if len(line) > 100)
            said = before.cell_type == "markdown" or lines[0].startswith("# ") or "mystnb" in cell.metadata
            assert said, f"no line of prose before, no comment, no caption:\n{cell.source}"
    tags = [{*cell.metadata.get("tags", ())} for cell in cells if cell.cell_type == "code"]
    if text.stem.startswith(("fig", "table")):
        assert sum(not some & {"hide-input", "remove-cell"} for some in tags) == 1, "one cell that a reader would type"
    _, *others = [cell.source for cell in cells if cell.cell_type == "code"]
    assert not any(line.startswith(("import ", "from ")) for source in others for line in source.splitlines())


def test_a_page_is_in_the_contents(text):
    contents = (ROOT / "_toc.yml").read_text(encoding="utf-8")
    # Only the first page has a link to its notebook.
    assert f"book/_executed/{text.stem}.ipynb\n" in contents or text.stem == "landing"


def test_no_line_runs_at_one_size_alone(text):
    """The tests would never run a line that needs the paper's size."""
    branches = [node for node in ast.walk(tree_of(text)) if isinstance(node, (ast.Compare, ast.Match))]
    names = [name.id for branch in branches for name in ast.walk(branch) if isinstance(name, ast.Name)]
    assert "profile" not in names


def test_a_page_can_be_run_again_from_its_parameters(text):
    """A cell may therefore not assign another value to an imported name."""
    tree = tree_of(text)
    imports = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    imported = {alias.asname or alias.name for node in imports for alias in node.names}
    stored = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    assert imported.isdisjoint(name.id for name in stored)


def test_code_has_the_form_and_the_style_of_src(python, tmp_path):
    """`make format` gives the code this form."""
    for text in TEXTS:
        cells = [cell.source for cell in cells_of(text) if cell.cell_type == "code"]
        (tmp_path / f"{text.stem}.py").write_text("\n\n\n# %%\n".join(cells) + "\n", encoding="utf-8")
    options = ["--config", ROOT / "pyproject.toml", "--config", f'src = ["{ROOT}/src"]', "--line-length", "100"]
    for command in (["format", "--check"], ["check", "--ignore", "E501", "--output-format", "concise"]):
        checked = python("-m", "ruff", *command, *options, tmp_path)
        assert checked.returncode == 0, checked.stdout


def test_every_name_for_notebooks_is_there_and_of_one_module():
    names = re.findall(r"(\w+) as \1", NAMES)
    assert sorted(names) == dir(attention_book) and all(hasattr(attention_book, name) for name in names)
    assert not hasattr(attention_book, "nothing")


def test_every_parameter_says_what_it_is_its_unit_and_its_range(text):
    (cell,) = [cell for cell in cells_of(text) if "parameters" in cell.metadata.get("tags", ())]
    for line in cell.source.splitlines():
        assert re.fullmatch(r"\w+ = .+?  # [^;]+; [^;]+; .+", line)


@pytest.mark.parametrize("text", PAGES, ids=lambda path: path.stem)
def test_no_sentence_goes_on_with_what_markdown_takes_for_a_list(text):
    """An example is a line that ends with "rank" before a line that begins with "1. The paper says"."""
    prose = re.sub(r"^```.*?^```", "", text.read_text(encoding="utf-8"), flags=re.M | re.S)
    begun = [
        line
        for before, line in pairwise(prose.splitlines())
        if re.search(r"[^.:]$", before) and before[0].isalpha() and re.match(r"(\d+[.)]|[-+*]) ", line)
    ]
    assert begun == []
