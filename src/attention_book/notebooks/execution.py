"""Execute a text notebook with given parameters; nothing stale, nothing half-done."""

import hashlib
import json
import re
import tempfile
import time
from contextlib import contextmanager

import jupytext
import nbformat
import papermill
from papermill.exceptions import PapermillExecutionError
from traitlets.config import Config

from attention_phases.errors import BadInput, NotebookError

from .. import paths
from .parameters import checked, marked

KEPT = paths.ROOT / "_build" / "executed"  # a folder for each profile


@contextmanager
def ipc_kernels():
    """Configuration of kernels that talk over sockets in a folder of their own, not over ports that others can reach.

    One port of the loopback remains: ipykernel opens it for what forked processes print, and asks for a secret there.
    """
    with tempfile.TemporaryDirectory(prefix="kernel-") as folder:
        yield Config({"KernelManager": {"transport": "ipc", "connection_file": f"{folder}/kernel.json"}})


def execute(text, folder, values, changes=None, force=False, bar=False):
    """Execute a text notebook (a Path to MyST Markdown); return whether it was, as nothing is done anew unchanged.

    folder: where the executed notebook, "NAME.ipynb", and its seconds, "NAME.seconds", are kept. A notebook that
        fails is kept as "NAME.failed.ipynb".
    values: parameters that a profile sets.
    changes: parameters that somebody sets. Where they differ from the text's own, the page is marked.
    force: execute even if nothing has changed.
    bar: progress by cell on stderr, where that is a terminal.

    A cell that fails raises `NotebookError`, or `BadInput` where a parameter has a value that it cannot use.
    """
    sizes, changes = checked(text, values), checked(text, changes or {})
    done, failed = folder / f"{text.stem}.ipynb", folder / f"{text.stem}.failed.ipynb"
    inputs = fingerprint(text, [sizes, changes])
    if not force and done.exists() and nbformat.read(done, 4).metadata.get("inputs") == inputs:
        return False
    folder.mkdir(parents=True, exist_ok=True)
    nbformat.write(with_ids(jupytext.read(text)), failed)
    began = time.perf_counter()
    executed = _run(failed, text, {**sizes, **changes}, bar)
    keep(marked(executed, text, sizes, changes), done, inputs, time.perf_counter() - began)
    failed.unlink()
    return True


def keep(notebook, done, inputs, seconds):
    """Write an executed notebook to `done`, whole or not at all, with its `fingerprint` and how long it took."""
    done.parent.mkdir(parents=True, exist_ok=True)
    partial = done.with_suffix(".partial")
    nbformat.write(_without_run(notebook, inputs), partial)
    done.with_suffix(".seconds").write_text(f"{seconds:.1f}")
    partial.replace(done)


def _run(path, text, values, bar):
    """Execute the notebook at `path` in place, its kernel beside the text."""
    quiet = ["--IPKernelApp.log_level=50"]  # the interrupt that ends a kernel is no error
    progress = bar and {"desc": text.stem, "disable": None}
    options = {"kernel_name": "python3", "cwd": str(text.parent), "progress_bar": progress, "extra_arguments": quiet}
    with ipc_kernels() as config:
        try:
            return papermill.execute_notebook(str(path), str(path), values, config=config, **options)
        except PapermillExecutionError as error:
            message = " ".join(error.evalue.split())
            refused = re.fullmatch(r"(\w+) = (.*): must be (.*)", message)
            if error.ename == BadInput.__name__ and refused:
                raise BadInput(*refused.groups()) from error
            raise NotebookError(
                f"{text.name}, cell {error.exec_count}: {error.ename}: {message} (executed so far: {path})"
            ) from error


def fingerprint(text, values):
    """Hash of everything an executed notebook depends on."""
    digest = hashlib.sha256(json.dumps(values, sort_keys=True).encode())
    library = sorted((paths.ROOT / "src").rglob("*.py"))
    for path in [text, *library, *sorted(paths.DATA.glob("*.parquet")), paths.ROOT / "constraints.txt"]:
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def with_ids(notebook):
    """Cell names that depend on nothing but the order of the cells, and the kernel that papermill asks for."""
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook.nbformat_minor = 5
    return notebook


def _without_run(notebook, inputs):
    """Without times and paths, so that the same inputs give the same file."""
    notebook.metadata.pop("papermill", None)
    notebook.metadata["inputs"] = inputs
    for number, cell in enumerate(notebook.cells):
        cell.metadata.pop("papermill", None)
        cell.metadata.pop("execution", None)
        cell.id = f"cell-{number}"
        if "injected-parameters" in cell.metadata.get("tags", ()):
            cell.metadata.tags.append("remove-cell")
    return notebook
