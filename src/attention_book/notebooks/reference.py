"""What the notebooks say at smoke size, kept in git: nbval executes each notebook once and compares with this.

A reference holds, for each code cell, the words of its tables and the data of its figures. Words and whole numbers must
be equal, other numbers close: what changes is either a slip, or a change to look at in the difference of git.

Processors round differently, and between minima that are close a student ends in the one or in the other. Where
processors disagree a reference has a `~`, which stays there when the reference is written again. On the processor that
made the references every line must agree; see `strays_allowed` for any other one.
"""

import json
import platform
import re
from itertools import zip_longest

import jupytext
import nbformat
from nbformat.v4 import new_output
from papermill.parameterize import parameterize_notebook

from .. import paths
from ..render.drawn import READOUT
from ..render.screens import WIDE
from ..store.provenance import cpu_info
from . import execution
from .execution import with_ids
from .parameters import marked

FOLDER = paths.ROOT / "tests" / "reference"
MADE_ON = "processor.txt"
DRAWN = (WIDE, READOUT)  # which say what the picture and the CSV say
STRAYS = 3  # lines that differed on one more processor after two had opened the references
ROWS = 60  # of a figure's data that are kept, at most: every second one, every third one, ...
# Numbers on which processors agree within a tenth of this are compared. Losses are flat at a minimum: 1e-8 is their
# tolerance in `cells.STUDENTS`.
RELATIVE, ABSOLUTE = 1e-3, 1e-8
OF_ERRORS = 0.1  # of standard errors, which follow a few students or scrambles
OPEN = "~"  # a number that rounding decides
NUMBER = re.compile(r"~|(?<![\w.])[-−]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


def lines_of(outputs):
    """What a cell's outputs say, as lines by number and kind; a picture says only that it exists."""
    printed, shown = {}, []
    for output in outputs:
        if output["output_type"] == "stream":  # which may come in several pieces
            printed[output["name"]] = printed.get(output["name"], "") + output["text"]
        else:
            shown.append(output.get("data") or {"error": output.get("evalue")})
    kinds = ((number, data, kind) for number, data in enumerate(shown) for kind in sorted(data) if kind not in DRAWN)
    texts = {f"{number} {kind}": data[kind] for number, data, kind in kinds} | printed
    return {name: _lines(name.rpartition(" ")[2], str(text)) for name, text in texts.items()}


def _lines(kind, text):
    if kind == "image/svg+xml":
        return ["a picture"]
    if kind == "text/html":
        shown = re.sub(r"<(script|style)\b.*?</\1>", "", text, flags=re.DOTALL)
        return [words for part in re.findall(r">([^<>]+)<", shown) if (words := " ".join(part.split()))]
    lines = [line for line in text.splitlines() if line.strip()]
    if kind != "text/csv":
        return lines
    about = [line for line in lines if line.startswith("#")]
    header, *rows = lines[len(about) :]
    return [*about, header, f"{len(rows)} rows", *rows[:: 1 + (len(rows) - 1) // ROWS]]


def write(executed, complete):
    """Keep what executed notebooks (paths) say as their references; what was open stays open.

    complete: whether these are all notebooks, so that the references are now all of this processor.
    """
    FOLDER.mkdir(exist_ok=True)
    if complete:
        (FOLDER / MADE_ON).write_text(processor() + "\n", encoding="utf-8")
    for path in executed:
        cells = [lines_of(cell.outputs) for cell in nbformat.read(path, 4).cells if cell.cell_type == "code"]
        kept = FOLDER / f"{path.stem}.json"
        known = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else []
        for texts, before in zip(cells, known):
            for name in texts.keys() & before.keys():
                texts[name] = [_opened(*lines) for lines in zip_longest(texts[name], before[name][: len(texts[name])])]
        kept.write_text(json.dumps(cells, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")


def _opened(line, before):
    """A line, open where the line of the same words was open before."""
    if before is None or NUMBER.split(line) != NUMBER.split(before):
        return line
    numbers = iter(NUMBER.findall(before))
    return NUMBER.sub(lambda number: OPEN if next(numbers) == OPEN else number[0], line)


def prepared(text, values, path):
    """The notebook of a text with a profile's parameters, its reference (a path) in the place of its outputs."""
    notebook = with_ids(jupytext.read(text))
    notebook.metadata.update(papermill={}, language_info={"name": "python", "pygments_lexer": "ipython3"})
    for cell in notebook.cells:
        cell.metadata.setdefault("tags", [])  # which papermill looks through
    notebook = parameterize_notebook(notebook, values, kernel_name="python3", language="python")
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    expected = json.loads(path.read_text(encoding="utf-8"))[: len(cells)]
    for cell, texts in zip_longest(cells, expected, fillvalue={}):
        cell.execution_count = 1  # nbval compares no other cells
        data = {name: "\n".join(lines) for name, lines in texts.items()}
        cell.outputs = [new_output("display_data", data)] if data else []
    return notebook


def keep_executed(notebook, text, values, seconds):
    """Keep a prepared notebook, its outputs now those of its run, where `python -m attention_book.notebooks` would."""
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            if output["output_type"] == "execute_result":
                output["execution_count"] = cell.execution_count
    executed = marked(nbformat.from_dict(notebook), text, values, {})
    folder = execution.KEPT / values["profile"]
    execution.keep(executed, folder / f"{text.stem}.ipynb", execution.fingerprint(text, [values, {}]), seconds)


def processor():
    """Vendor, family and model of this machine's processor; where they are not known, its kind."""
    known = [value for name, value in cpu_info().items() if name in ("vendor_id", "cpu family", "model")]
    return " ".join(known) or platform.machine()


def strays_allowed(notebook):
    """How many lines of a prepared notebook may differ here: none on the processor that made the references.

    On another one, as many as are open because of the processors that were tried, `STRAYS` at least.
    """
    if (FOLDER / MADE_ON).read_text(encoding="utf-8").strip() == processor():
        return 0
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    lines = [line for output in outputs for text in output["data"].values() for line in text.splitlines()]
    return max(STRAYS, sum(OPEN in line for line in lines))


def differences(reference, outputs):
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
        if not agree(before, after)
    ]


def agree(before, after):
    """Whether two lines have the same words, and numbers that differ by what is allowed at most.

    Allowed are `RELATIVE` and `ABSOLUTE`, and of a rounded number one in its last digit. A whole number must be equal,
    unless it is a standard error such as 12 in 0.345(12).
    """
    if NUMBER.split(before) != NUMBER.split(after):
        return False
    pairs = zip(NUMBER.finditer(before), NUMBER.findall(after))
    return all(old[0] in (OPEN, new) or _close(old, new) for old, new in pairs)


def _close(old, new):
    text = old[0].replace("−", "-")
    error = old.string[: old.start()].endswith("(")
    if not error and "." not in text and "e" not in text:
        return False
    digits, _, power = text.partition("e")
    unit = 10.0 ** (int(power or 0) - len(digits.partition(".")[2]))
    value, other = float(text), float(new.replace("−", "-"))
    allowed = (OF_ERRORS if error else RELATIVE) * abs(value) + ABSOLUTE
    return abs(value - other) <= allowed + 1.01 * unit
