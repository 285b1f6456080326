"""A plugin of pytest for nbval: kernels that take nothing from a port, and a line that says which value differs.

pytest -p attention_book.notebooks.validation --nbval --nbval-current-env _build/executed/smoke/NAME.ipynb

A notebook from `reference.prepare` is compared with its reference. If it agrees, it is kept as executed, for the book.
"""

import re
import tempfile
import time
from itertools import zip_longest
from pathlib import Path

import nbval.kernel
import nbval.plugin
from jupyter_client.manager import KernelManager

from . import book, reference

FIRST = ("text/csv", "text/html", "text/plain")  # what a difference is told from; any other kind comes last


def pytest_configure(config):
    """Let nbval's kernels talk over sockets in a folder of this run, and note what differs."""
    place = tempfile.TemporaryDirectory(prefix="kernels-")
    config.add_cleanup(place.cleanup)
    count = iter(range(10**6))

    def manager(**options):
        return KernelManager(transport="ipc", connection_file=str(Path(place.name, f"{next(count)}.json")), **options)

    nbval.kernel.KernelManager = manager
    _compare_and_tell(nbval.plugin.IPyNbCell)
    _keep_what_agrees(nbval.plugin.IPyNbFile, nbval.plugin.IPyNbCell)


def _compare_and_tell(cell_type):
    """Let a cell be compared with its reference, where the notebook has one, and say what differs in one line."""
    compare, explain = cell_type.compare_outputs, cell_type.repr_failure

    def compare_outputs(self, test, ref, skip_compare=None):
        if reference.NOTE not in self.parent.nb.metadata:
            self.told = difference(ref, test)
            return compare(self, test, ref, skip_compare)
        differing = reference.differences(ref, test)
        self.parent.strays += len(differing)
        allowed = reference.strays_allowed(self.parent.nb)
        self.told = differing[0] if differing and self.parent.strays > allowed else None
        self.comparison_traceback = []
        return self.told is None

    def repr_failure(self, failure):
        if isinstance(failure.value, nbval.plugin.NbCellError) and getattr(self, "told", None):
            return f"{figure(self.cell, self.path)}, code cell {self.cell_num} of {self.path}: {self.told}"
        return explain(self, failure)

    cell_type.compare_outputs, cell_type.repr_failure = compare_outputs, repr_failure


def _keep_what_agrees(file_type, cell_type):
    """Let a notebook with a reference be kept as executed when all its cells have passed."""
    begin, end, run = file_type.setup, file_type.teardown, cell_type.runtest

    def setup(self):
        self.began, self.passed, self.strays = time.perf_counter(), [], 0
        begin(self)

    def runtest(self):
        run(self)
        self.parent.passed.append((self.cell, self.test_outputs))

    def teardown(self):
        end(self)
        cells = [cell for cell in self.nb.cells if cell.cell_type == "code"]
        if reference.NOTE in self.nb.metadata and len(self.passed) == len(cells):
            for count, (cell, outputs) in enumerate(self.passed, 1):
                cell.outputs, cell.execution_count = outputs, count
            reference.keep_executed(self.nb, book.KEPT, time.perf_counter() - self.began)

    file_type.setup, file_type.teardown, cell_type.runtest = setup, teardown, runtest


def figure(cell, path):
    """Name of the figure that a cell draws, or of the notebook that it belongs to."""
    return cell.metadata.get("mystnb", {}).get("figure", {}).get("name", path.stem)


def difference(stored, found):
    """The first difference between two lists of outputs, in one line; None if there is none."""
    stored, found = _texts(stored), _texts(found)
    kinds = sorted(stored.keys() | found.keys(), key=lambda key: (FIRST.index(key[1]) if key[1] in FIRST else 9, key))
    for number, kind in kinds:
        old, new = stored.get((number, kind)), found.get((number, kind))
        if old is None or new is None:
            return f"{kind}: {'stored, but not found' if new is None else 'found, but not stored'} now"
        if old != new:
            return f"{kind}: {_first(old, new, kind)}"
    return None


def _texts(outputs):
    """Texts of outputs by their number and kind."""
    texts = {}
    for number, output in enumerate(outputs):
        data = output.get("data") or {
            output.get("name", output["output_type"]): output.get("text", output.get("evalue"))
        }
        texts |= {(number, kind): str(text) for kind, text in data.items()}
    return texts


def _first(old, new, kind):
    """Where two texts part: in CSV the place in the table, else the words before and the values."""
    if kind == "text/csv":
        header = next(line for line in old.splitlines() if not line.startswith("#")).split(",")
        for before, after in zip_longest(old.splitlines(), new.splitlines(), fillvalue=""):
            if before != after:
                names = [name for name, a, b in zip(header, before.split(","), after.split(",")) if a != b]
                return f"{', '.join(names) or 'a line'} of the figure's data: stored {before!r}, now {after!r}"
    pattern = r">([^<>]+)<" if kind == "text/html" else r"([^\s<>]+)"
    words = [re.findall(pattern, text) for text in (old, new)]
    for number, (before, after) in enumerate(zip_longest(*words, fillvalue="nothing")):
        if before != after:
            return f"stored {before}, now {after} (after: {' | '.join(words[0][max(0, number - 3) : number])})"
    return "equal but for spaces or tags"
