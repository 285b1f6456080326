"""References of the notebooks: a changed number or word fails, another processor does not."""

import json
import shutil

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output
from test_notebooks import TEXT as PAGE

from attention_book.notebooks import execution, reference
from attention_book.paths import NOTEBOOKS, ROOT

TEXT = PAGE.replace("print(size)", 'print("found", size / 3)\nsize')


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ("alpha_c = 1.25137", "alpha_c = 1.25138", True),
        ("alpha_c = 1.25137", "alpha_c = 1.2539", False),
        ("alpha_c = 1.25137", "alpha_l = 1.25137", False),
        ("−0.000101", "−0.000102", True),
        ("−0.000101", "0.000101", False),
        ("8.3e-12", "9.7e-12", True),  # below the tolerance of losses
        ("3e-05", "9e-05", False),
        ("1.2514(56)", "1.2515(57)", True),
        ("1.2514(56)", "1.2514(79)", False),  # a variance, say, instead of its root
        ("3 of 5 students", "3 of 5 students", True),
        ("3 of 5 students", "2 of 5 students", False),
        ("~ of 5", "17.3 of 5", True),
        ("~ of 5", "17.3 of 6", False),
        ("1,semantic,points,0.5,0.25", "1,positional,points,0.5,0.25", False),
        ("1.5 2.5", "1.5", False),
    ],
)
def test_lines_agree(before, after, same):
    assert reference.agree(before, after) is same


def outputs(html="<td>1.25</td>", rows=200):
    table = "# about\nx,y\n" + "".join(f"{k},{k / 7:.6g}\n" for k in range(rows))
    return [
        new_output("display_data", {"text/csv": table, "image/svg+xml": "<svg/>"}),
        new_output("display_data", {"text/html": f"<table>{html}</table><script>9</script>"}),
        new_output("stream", text="said "),
        new_output("stream", text="3\n"),
    ]


def test_a_reference_is_short_and_agrees_with_what_it_was_made_from():
    texts = reference.lines_of(outputs())
    assert texts["1 text/html"] == ["1.25"] and texts["stdout"] == ["said 3"]
    assert texts["0 text/csv"][:3] == ["# about", "x,y", "200 rows"] and len(texts["0 text/csv"]) <= 3 + reference.ROWS
    kept = [new_output("display_data", {name: "\n".join(lines) for name, lines in texts.items()})]
    assert reference.differences(kept, outputs()) == []
    (difference,) = reference.differences(kept, outputs("<td>1.29</td>"))
    assert "'1.25', now '1.29'" in difference
    assert "199 rows" in reference.differences(kept, outputs(rows=199))[0]
    assert "now there is nothing" in reference.differences(kept, [])[0]
    assert "the reference has nothing" in reference.differences([], outputs())[0]


def test_on_another_processor_a_few_lines_may_differ(tmp_path, monkeypatch):
    monkeypatch.setattr(reference, "FOLDER", tmp_path)
    cells = [new_code_cell(outputs=[new_output("display_data", {"stdout": "~ and ~\n" * 7 + "1\n" * 400})])]
    for made_on, allowed, least in ((reference.processor(), 0, 0), ("another one", 7, reference.STRAYS)):
        (tmp_path / reference.MADE_ON).write_text(f"{made_on}\n", encoding="utf-8")
        assert reference.strays_allowed(new_notebook(cells=cells)) == allowed
        assert reference.strays_allowed(new_notebook(cells=[])) == least


def test_every_notebook_has_a_reference_and_no_other_has():
    kept = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in reference.FOLDER.glob("*.json")}
    assert kept.keys() == {path.stem for path in NOTEBOOKS.glob("*.md")}
    for name, cells in kept.items():
        numbers = [
            number for texts in cells for lines in texts.values() for number in reference.NUMBER.findall(str(lines))
        ]
        assert numbers.count(reference.OPEN) < len(numbers) / 5, name


def test_a_reference_is_written_and_what_was_open_stays_so(tmp_path, monkeypatch):
    monkeypatch.setattr(reference, "FOLDER", tmp_path / "kept")
    path, kept = tmp_path / "page.ipynb", tmp_path / "kept/page.json"
    for html, expected in (("<td>1.25</td>", ["1.25"]), ("<td>1.29</td>", ["~"])):
        nbformat.write(new_notebook(cells=[new_code_cell("1", outputs=outputs(html))]), path)
        reference.write([path], complete=False)
        (texts,) = json.loads(kept.read_text(encoding="utf-8"))
        assert texts["1 text/html"] == expected
        kept.write_text(json.dumps([texts | {"1 text/html": ["~"]}]), encoding="utf-8")
    made_on = kept.with_name(reference.MADE_ON)
    assert not made_on.exists()  # one written anew does not make the others this processor's
    reference.write([path], complete=True)
    assert made_on.read_text(encoding="utf-8") == f"{reference.processor()}\n"


SUITE = """
import pathlib, pytest, sys
import attention_book.paths
from attention_book.notebooks import execution, reference

folder = pathlib.Path({folder!r})
attention_book.paths.NOTEBOOKS, execution.KEPT, reference.FOLDER = folder, folder / "kept", folder / "reference"
sys.exit(pytest.main(["-q", "--nbval-current-env", "-p", "no:cacheprovider", "-c", str(folder / "none.ini"),
                      "--rootdir", str(folder), str(reference.FOLDER)]))
"""


@pytest.mark.slow
def test_nbval_executes_compares_and_keeps(python, tmp_path, monkeypatch):
    """As `make test` does it; what agrees is what papermill would have made."""
    values, kept = {"size": 2, "profile": "smoke"}, tmp_path / "kept/smoke"
    for name in ("page", "other"):
        (tmp_path / f"{name}.md").write_text(TEXT, encoding="utf-8")
    (tmp_path / "profiles.toml").write_text("[smoke.page]\nsize = 2\n[smoke.other]\nsize = 2\n", encoding="utf-8")
    (tmp_path / "none.ini").write_text("[pytest]\n", encoding="utf-8")
    monkeypatch.setattr(reference, "FOLDER", tmp_path / "reference")
    execution.execute(tmp_path / "page.md", tmp_path / "papermill", values)
    reference.write([tmp_path / "papermill/page.ipynb"], complete=True)
    shutil.copy(ROOT / "tests/reference/conftest.py", tmp_path / "reference")
    right = (tmp_path / "reference/page.json").read_text(encoding="utf-8")
    (tmp_path / "reference/other.json").write_text(right.replace("0.666", "0.676"), encoding="utf-8")

    done = python("-c", SUITE.format(folder=str(tmp_path)))
    pages = [nbformat.read(path, 4) for path in (tmp_path / "papermill/page.ipynb", kept / "page.ipynb")]
    assert pages[0].cells == pages[1].cells and pages[0].metadata.inputs == pages[1].metadata.inputs
    assert not execution.execute(tmp_path / "page.md", kept, values)  # nothing is left to do
    assert done.returncode == 1 and "1 failed, 5 passed" in done.stdout, done.stdout
    assert "found 0.676" in done.stdout and "found 0.666" in done.stdout
    assert not (kept / "other.ipynb").exists()
