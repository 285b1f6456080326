"""Each reference is a test: nbval executes its notebook once at smoke size and compares; what agrees becomes a page.

pytest --nbval-current-env tests/reference
"""

import os
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import kernels
import reference
from nbval.plugin import IPyNbCell, IPyNbFile
from parameters import profile_values

from attention_book.experiments.results import STORE_NAME
from attention_book.paths import NOTEBOOKS

# For the kernels: stored results, and no settings of IPython but that figures say what is seen of them.
os.environ[STORE_NAME] = str(reference.RESULTS)
SETTINGS = tempfile.TemporaryDirectory(prefix="ipython-")
os.environ["IPYTHONDIR"], os.environ["PYTHONPATH"] = SETTINGS.name, str(Path(reference.__file__).parent)
config = Path(SETTINGS.name, "profile_default", "ipython_kernel_config.py")
config.parent.mkdir()
config.write_text('c.InteractiveShellApp.extensions = ["seen"]\n', encoding="utf-8")
kernels.use()


def pytest_collect_file(file_path, parent):
    if file_path.suffix == ".json":
        return ReferencedNotebook.from_parent(parent, path=file_path)


class ReferencedNotebook(IPyNbFile):
    """A notebook with its reference; when all its cells have passed, it is kept as executed for the book."""

    def collect(self):
        self.text = NOTEBOOKS / f"{self.path.stem}.md"
        self.values = profile_values(self.text, "smoke")
        self.nb = reference.prepared(self.text, self.values)
        self.code = [cell for cell in self.nb.cells if cell.cell_type == "code"]
        for number, cell in enumerate(self.code):
            options = defaultdict(bool, check=True)
            yield ReferencedCell.from_parent(self, name=f"Cell {number}", cell_num=number, cell=cell, options=options)

    def setup(self):
        self.began, self.passed = time.perf_counter(), []
        super().setup()

    def teardown(self):
        super().teardown()
        if len(self.passed) == len(self.code):
            if self.config.getoption("keep_references", False):
                reference.write(self.path.stem, self.passed)
            for count, (cell, outputs) in enumerate(zip(self.code, self.passed), 1):
                cell.outputs, cell.execution_count = outputs, count
            reference.keep_executed(self.nb, self.text, self.values, time.perf_counter() - self.began)


class ReferencedCell(IPyNbCell):
    """A cell that is compared with its reference, and reports a difference in one line."""

    def runtest(self):
        self.differing = []
        super().runtest()
        self.parent.passed.append(self.test_outputs)

    def compare_outputs(self, test, ref, skip_compare=None):
        if self.config.getoption("keep_references", False):
            return True
        self.differing = reference.differences(ref, test, trains="trains" in self.cell.metadata["tags"])
        self.comparison_traceback = []
        return not self.differing

    def repr_failure(self, excinfo):
        if self.differing:
            figure = self.cell.metadata.get("mystnb", {}).get("figure", {}).get("name", self.path.stem)
            place = f"{figure}, code cell {self.cell_num} of {self.path.stem}"
            return f"{place}: {self.differing[0]}; if this is wanted, run `make reference NAME={self.path.stem}`"
        return super().repr_failure(excinfo)
