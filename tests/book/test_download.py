"""The notebook that a page offers: what MyST makes of it stands there in words."""

from types import SimpleNamespace

import pytest
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
TEXTS = {
    "(fig)=\n# A figure": "# A figure",
    "At {glue:text}`stable`$\\cdot 10$ ({glue:text}`share:.1f` per cent)": "At 0.7(3)$\\cdot 10$ (12.3 per cent)",
    "{ref}`Figure 3 <fig03>`, {ref}`stability`, {ref}`nowhere`, {term}`saddles <saddle>`": (
        "Figure 3, Where replica symmetry holds, nowhere, saddles"
    ),
    "{eq}`eq-value` {cite:t}`gyorgyi1997parisi` {cite}`other`": "(7) Györgyi, Reimann 1997 (other)",
    ":::{dropdown} More\nof {eq}`x`\n:::": "<details>\n<summary>More</summary>\n\nof (x)\n\n</details>",
    "```{math}\n:label: eq\na = b\n```\n\nfor": "$$\na = b\n$$\n\nfor",
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


@pytest.mark.parametrize("text", TEXTS)
def test_myst_becomes_markdown(text):
    code = new_code_cell("glue()", outputs=[glued("stable", "'0.7(3)'"), glued("share", "12.345")])
    code.outputs.append(new_output("display_data", {"image/svg+xml": "<svg></svg>", PNG: "p"}))
    code.metadata["mystnb"] = {"figure": {"caption": "A caption"}}
    notebook = new_notebook(cells=[new_markdown_cell(text), code])
    page = plain(notebook, SimpleNamespace(get_domain=DOMAINS.get))
    assert [cell.source for cell in page.cells] == [TEXTS[text], "glue()", "A caption"]
    (shown,) = page.cells[1].outputs
    assert shown.data == {"image/png": "p"}
