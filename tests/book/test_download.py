"""The notebook that a page offers: what MyST makes of it stands there in words."""

from types import SimpleNamespace

import pytest
from cases import cases
from download import plain
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from attention_book.render.style import PNG

LABELS = {"stability": ("stability", "id", "Where replica symmetry holds")}
ENTRY = SimpleNamespace(
    persons={"author": [SimpleNamespace(rich_last_names=[name]) for name in ("Györgyi", "Reimann")]},
    fields={"year": "1997"},
)
DOMAINS = {
    "std": SimpleNamespace(labels=LABELS),
    "math": SimpleNamespace(equations={"eq-value": ("theory", 7)}),
    "cite": SimpleNamespace(citations=[SimpleNamespace(key="gyorgyi1997parisi", entry=ENTRY)]),
}


def glued(name, text):
    kept = {"application/papermill.record/text/plain": text}
    about = {"scrapbook": {"name": name, "mime_prefix": "application/papermill.record/"}}
    return new_output("display_data", kept, metadata=about)


def test_a_parameter_stands_once_with_the_value_of_the_run():
    cells = [
        new_code_cell('size = "paper"  # a name\nomega = 0.3  # a number', metadata={"tags": ["parameters"]}),
        new_code_cell('# Parameters\nsize = "smoke"', metadata={"tags": ["injected-parameters"]}),
    ]
    page = plain(new_notebook(cells=cells), SimpleNamespace(get_domain=DOMAINS.get))
    assert [cell.source for cell in page.cells] == ['size = "smoke"  # a name\nomega = 0.3  # a number']


@pytest.mark.parametrize(("text", "expected"), cases("myst"))
def test_myst_becomes_markdown(text, expected):
    code = new_code_cell("glue()", outputs=[glued("stable", "'0.7(3)'"), glued("share", "12.345")])
    code.outputs.append(new_output("display_data", {"image/svg+xml": "<svg></svg>", PNG: "p"}))
    code.metadata["mystnb"] = {"figure": {"caption": "A caption"}}
    notebook = new_notebook(cells=[new_markdown_cell(text), code])
    page = plain(notebook, SimpleNamespace(get_domain=DOMAINS.get))
    assert [cell.source for cell in page.cells] == [expected, "glue()", "A caption"]
    (shown,) = page.cells[1].outputs
    assert shown.data == {"image/png": "p"}
