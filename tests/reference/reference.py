"""What the notebooks say at smoke size, kept in git: nbval executes each notebook once and compares with this.

    PYTHONPATH=book python tests/reference/reference.py          (make reference)

A reference holds, for each code cell, the words of its tables, and of its figures the data and all that is seen. It
must say the same on every machine. What amplifies rounding, such as a training, is therefore not repeated here: the
notebooks read its results from `results/`, as they read `data/` at paper size. `tests/book/test_oracle.py` computes
cells of each kind again, and compares them within their tolerances. What a cell says that trains before the reader's
eyes, and has the tag `trains`, is compared within its errors.
"""

import json
import math
import re
import sys
from hashlib import sha256
from itertools import zip_longest
from pathlib import Path

import execution
import nbformat
import pytest
from nbformat.v4 import new_output
from papermill.parameterize import parameterize_notebook
from parameters import notebook_of, with_banner

from attention_book import paths
from attention_book.analysis import thresholds
from attention_book.experiments import GRIDS, grid, results
from attention_book.render.figure_data import READOUT
from attention_book.render.layout import WIDE_TYPE
from attention_book.render.style import PNG
from attention_book.store import parquet
from attention_phases.errors import check_choice
from attention_phases.records import canonical
from attention_phases.task import Task

FOLDER = Path(__file__).parent
RESULTS = FOLDER / "results"
DRAWN = (WIDE_TYPE, READOUT, PNG)  # the picture and the CSV have the same content
ROWS = 12  # largest number of rows of a figure's data that are kept: every second row, every third row, and so on
DIGITS = 6  # digits of a number in a figure's data
SHARE = 0.01  # tolerance of a number from trainings that has no error; other instruction sets change it by a millionth
LONG = re.compile(r'[^\s"]{200,}')
NUMBER = re.compile(r"(?<![\w.#])[-−]?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?!\w)")


def lines_of(outputs):
    """Return the lines of a cell's outputs, by number (quoted numbers: by name) and kind; a picture has no content."""
    printed, shown = {}, {}
    for output in outputs:
        if output["output_type"] == "stream":  # the stream may come in several pieces
            printed[output["name"]] = printed.get(output["name"], "") + output["text"]
        else:
            name = output.get("metadata", {}).get("scrapbook", {}).get("name", len(shown))
            shown[name] = output.get("data") or {"error": output.get("evalue")}
    kinds = ((name, data, kind) for name, data in shown.items() for kind in sorted(data) if kind not in DRAWN)
    texts = {f"{name} {kind}": data[kind] for name, data, kind in kinds} | printed
    return {name: _lines(name.rpartition(" ")[2], str(text)) for name, text in texts.items()}


def _lines(kind, text):
    if kind == "image/svg+xml":
        return ["a picture"]
    if kind == "text/html":
        shown = re.sub(r"<style\b.*?</style>", "", text, flags=re.DOTALL)
        words = [" ".join(part.split()) for part in re.findall(r">([^<>]+)<", shown)]
        return [LONG.sub(_digest, word) for word in words if word]
    lines = [line for line in text.splitlines() if line.strip()]
    if kind != "text/csv":
        return lines
    header, *rows = (line for line in lines if not line.startswith("#"))
    return [header, f"{len(rows)} rows", *rows[:: 1 + (len(rows) - 1) // ROWS]]


def _digest(text):
    """Return a short text that stands for a long one, such as weights for a script."""
    return f"{len(text[0])} letters, {sha256(text[0].encode()).hexdigest()[:8]}"


def cells_of(name):
    """Return the cells of an experiment at smoke size, and the further lines that pages request."""
    asked = {Task().omega, *(cell.task.omega for cell in grid("fig14_theory", "smoke"))}
    beside = thresholds.line_cells("smoke", sorted(asked)) if name == "fig03_theory" else []
    return [*grid(name, "smoke"), *beside]


def compute_missing():
    """Add the missing results of every experiment at smoke size to `RESULTS`, and remove those that no page reads."""
    for name in GRIDS:
        cells, table = cells_of(name), RESULTS / f"{name}.parquet"
        store = results.folder_of("smoke") / "reference" / f"{name}.sqlite"  # a store for this purpose only
        results.compute(cells, store, RESULTS, workers=None, quiet=True, in_process=True)
        stored, wanted = list(parquet.items(table)), {canonical(cell) for cell in cells}
        kept = {text: rest for text, *rest in stored if text in wanted}
        if len(kept) < len(stored):
            parquet.write(table, kept, {})


def kept(name):
    """Return the lines of each code cell of a notebook as a dictionary, see `lines_of`."""
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def write(name, cells):
    """Write the outputs of the code cells of a notebook as its reference; without outputs, write an empty reference."""
    text = json.dumps([lines_of(outputs) for outputs in cells], indent=0, ensure_ascii=False) + "\n"
    (FOLDER / f"{name}.json").write_text(text, encoding="utf-8")


def prepared(text, values):
    """Return the notebook of a text with a profile's parameters, and with its reference as its outputs."""
    notebook = execution.with_ids(notebook_of(text))
    notebook.metadata.update(papermill={}, language_info={"name": "python", "pygments_lexer": "ipython3"})
    for cell in notebook.cells:
        cell.metadata.setdefault("tags", [])  # papermill reads the tags
    notebook = parameterize_notebook(notebook, values, kernel_name="python3", language="python")
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for cell, texts in zip_longest(cells, kept(text.stem)[: len(cells)], fillvalue={}):
        cell["execution_count"] = 1  # nbval compares only cells with an execution count
        data = {name: "\n".join(lines) for name, lines in texts.items()}
        cell["outputs"] = [new_output("display_data", data)] if data else []
    return notebook


def keep_executed(notebook, text, values, seconds):
    """Keep a prepared notebook, which now has the outputs of its run, in the folder of `book/execute.py`."""
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            if output["output_type"] == "execute_result":
                output["execution_count"] = cell.execution_count
    executed = with_banner(nbformat.from_dict(notebook), text, values, {})
    folder = execution.KEPT_FOLDER / values["profile"]
    execution.keep(executed, folder / f"{text.stem}.ipynb", execution.fingerprint(text, [values, {}]), seconds)


def differences(reference, outputs, trains=False):
    """Where a cell's outputs do not agree with its reference, each place in one line.

    `reference` is the one output, from `prepared`, that has all texts of the cell by number and kind.
    """
    expected = {name: text.splitlines() for name, text in reference[0]["data"].items()} if reference else {}
    actual = lines_of(outputs)
    if expected.keys() != actual.keys():
        return [f"the reference has {', '.join(expected) or 'nothing'}; now there is {', '.join(actual) or 'nothing'}"]
    return [
        f"{name}: reference {before!r}, now {after!r}"
        for name, old in expected.items()
        for before, after in zip_longest(old, actual[name], fillvalue="nothing")
        if not agree(before, after, of_figure=name.endswith("text/csv"), trains=trains)
    ]


def agree(before, after, of_figure=False, trains=False):
    """Whether two lines have the same words and whole numbers, and other numbers to one in their last digit.

    That digit is the last that is written, be it of a standard error such as 12 in 0.345(12). A figure's data are
    written without zeros at the end: there it is the sixth digit, of whole numbers too. What a cell says that `trains`
    has to agree within its standard error, where it has one, else within its `SHARE`.
    """
    if NUMBER.split(before) != NUMBER.split(after):
        return False
    last = _sixth_digit if of_figure else _last_digit
    pairs = zip(NUMBER.finditer(before), NUMBER.findall(after))
    return all(
        old[0] == new or abs(_value(old[0]) - _value(new)) <= 1.01 * max(last(old), _error(old) if trains else 0.0)
        for old, new in pairs
    )


def _error(number):
    error = re.match(r"\((\d+)\)", number.string[number.end() :])
    return int(error[1]) * _last_digit(number) if error else SHARE * abs(_value(number[0]))


def _value(text):
    return float(text.replace("−", "-"))


def _sixth_digit(number):
    value = abs(_value(number[0]))
    return 10.0 ** (math.floor(math.log10(value)) + 1 - DIGITS) if value else 0.0


def _last_digit(number):
    digits, _, power = number[0].partition("e")
    decimals = len(digits.partition(".")[2])
    of_error = number.string[: number.start()].endswith("(")
    return 10.0 ** (int(power or 0) - decimals) if decimals or power or of_error else 0.0


def main(names):
    """Compute missing results in `RESULTS`, and keep the outputs of all or some notebooks as references."""
    compute_missing()
    known = [*(path.stem for path in paths.NOTEBOOKS.glob("*.md")), "records"]
    kept = [FOLDER / f"{check_choice('reference', name, known)}.json" for name in names or known]
    for path in kept:
        if not path.exists() and path.stem in known[:-1]:
            write(path.stem, [])
    # Tests of the book keep the records that they compare with.
    kept = [FOLDER.parent / "book" if path.stem == "records" else path for path in kept]
    options = ["-q", "--nbval-current-env", "--nbval-cell-timeout=300", "-n", "2", "--dist", "loadfile"]
    # The plugin of anyio, which comes with JupyterLab, is already imported.
    options += ["-p", "no:cacheprovider", "-W", "ignore:Module already imported"]
    return pytest.main([*options, "--keep-references", *map(str, kept)])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
