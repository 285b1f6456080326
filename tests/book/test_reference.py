"""References of the notebooks: a changed number or word fails, another processor does not."""

import json
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output
from test_notebooks import TEXT as PAGE

from attention_book.notebooks import execution, reference
from attention_book.paths import NOTEBOOKS
from attention_phases.errors import NotebookError

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


def test_what_processors_do_not_agree_on_is_open():
    opened = reference._opened
    assert opened("1,semantic,0.25,0.125", "1,semantic,0.29,0.125") == "1,semantic,~,0.125"
    assert opened("1,semantic,0.250001", "1,semantic,0.250002") == "1,semantic,0.250001"
    assert opened("a 0.25", "b 0.99") == "a 0.25"


def outputs(html="<td>1.25</td>", rows=200):
    table = "# about\nx,y\n" + "".join(f"{k},{k / 7:.6g}\n" for k in range(rows))
    return [
        new_output("display_data", {"text/csv": table, "image/svg+xml": "<svg/>"}),
        new_output("display_data", {"text/html": f"<table>{html}</table><script>9</script>"}),
        new_output("stream", text="said "),
        new_output("stream", text="3\n"),
    ]


def test_a_reference_is_short_and_agrees_with_what_it_was_made_from():
    texts = reference.said(outputs())
    assert texts["1 text/html"] == ["1.25"] and texts["stdout"] == ["said 3"]
    assert texts["0 text/csv"][:3] == ["# about", "x,y", "200 rows"] and len(texts["0 text/csv"]) <= 3 + reference.ROWS
    kept = [new_output("display_data", {name: "\n".join(lines) for name, lines in texts.items()})]
    assert reference.differences(kept, outputs()) == []
    (told,) = reference.differences(kept, outputs("<td>1.29</td>"))
    assert "'1.25', now '1.29'" in told
    assert "199 rows" in reference.differences(kept, outputs(rows=199))[0]
    assert "now there is nothing" in reference.differences(kept, [])[0]
    assert "the reference has nothing" in reference.differences([], outputs())[0]


def test_on_another_processor_a_few_lines_may_differ(tmp_path, monkeypatch):
    monkeypatch.setattr(reference, "FOLDER", tmp_path)
    cells = [new_code_cell(outputs=[new_output("display_data", {"stdout": "~ and ~\n" * 7 + "1\n" * 400})])]
    for made_on, allowed, least in ((reference.processor(), 0, 0), ("another one", 7, reference.STRAYS)):
        (tmp_path / reference.MADE_ON).write_text(f"{made_on}\n")
        assert reference.strays_allowed(new_notebook(cells=cells)) == allowed
        assert reference.strays_allowed(new_notebook(cells=[])) == least


def test_every_notebook_has_a_reference_and_no_other_has():
    kept = {path.stem: json.loads(path.read_text()) for path in reference.FOLDER.glob("*.json")}
    assert kept.keys() == {path.stem for path in NOTEBOOKS.glob("*.md")}
    for name, cells in kept.items():
        numbers = [each for texts in cells for lines in texts.values() for each in reference.NUMBER.findall(str(lines))]
        assert numbers.count(reference.OPEN) < len(numbers) / 5, name


def test_a_reference_is_written_and_loosened(tmp_path, monkeypatch):
    monkeypatch.setattr(reference, "FOLDER", tmp_path / "kept")
    for name, html in (("here", "<td>1.25</td>"), ("there", "<td>1.29</td>")):
        (tmp_path / name).mkdir()
        cell = new_code_cell("1", outputs=outputs(html))
        nbformat.write(new_notebook(cells=[cell]), tmp_path / name / "page.ipynb")
    reference.write([tmp_path / "here/page.ipynb"])
    before = json.loads((tmp_path / "kept/page.json").read_text())
    reference.loosen([tmp_path / "there/page.ipynb"])
    (after,) = json.loads((tmp_path / "kept/page.json").read_text())
    assert after == before[0] | {"1 text/html": ["~"]}
    longer = new_code_cell("1", outputs=outputs("<td>1.29</td><td>2.5</td>\n<td>7</td>"))
    nbformat.write(new_notebook(cells=[longer]), tmp_path / "there/page.ipynb")
    with pytest.raises(NotebookError, match="has other outputs"):
        reference.loosen([tmp_path / "there/page.ipynb"])


@pytest.mark.slow
def test_nbval_executes_compares_and_keeps(tmp_path, monkeypatch):
    """As `make test` does it; what agrees is what papermill would have made."""
    text, prepared, kept = tmp_path / "page.md", tmp_path / "prepared", tmp_path / "kept"
    values = {"profile": "smoke", "size": 2}
    text.write_text(TEXT)
    monkeypatch.setattr(reference, "FOLDER", tmp_path / "reference")
    execution.execute(text, tmp_path / "papermill", values)
    reference.write([tmp_path / "papermill/page.ipynb"])

    def validated():
        reference.prepare(text, values, prepared)
        script = (
            "import pathlib, pytest, sys\nfrom attention_book.notebooks import book, reference\n"
            f"book.KEPT = pathlib.Path({str(kept)!r})\n"
            f"reference.FOLDER = pathlib.Path({str(reference.FOLDER)!r})\n"
            "sys.exit(pytest.main(['-q', '-p', 'attention_book.notebooks.validation', '--nbval', "
            f"'--nbval-current-env', '-p', 'no:cacheprovider', {str(prepared)!r}]))"
        )
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        return subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)

    done = validated()
    assert done.returncode == 0, done.stdout
    pages = [nbformat.read(folder / "page.ipynb", 4) for folder in (tmp_path / "papermill", kept / "smoke")]
    assert pages[0].cells == pages[1].cells and pages[0].metadata.inputs == pages[1].metadata.inputs
    assert not execution.execute(text, kept / "smoke", values)  # nothing is left to do
    (Path(reference.FOLDER) / "page.json").write_text(
        (Path(reference.FOLDER) / "page.json").read_text().replace("0.666", "0.676")
    )
    (kept / "smoke/page.ipynb").unlink()
    failed = validated()
    assert failed.returncode == 1 and "found 0.676" in failed.stdout and "found 0.666" in failed.stdout
    assert not (kept / "smoke/page.ipynb").exists()
