"""Execute a text notebook with given parameters; nothing stale, nothing half-done."""

import hashlib
import json
import tempfile
import time
from contextlib import contextmanager

import jupytext
import nbformat
import papermill
from papermill.exceptions import PapermillExecutionError
from traitlets.config import Config

from attention_phases.errors import NotebookError

from .. import paths
from .marks import marked
from .parameters import checked


@contextmanager
def ipc_kernels():
    """Configuration of kernels that talk over sockets in a folder of their own, not over ports that others can reach.

    One port of the loopback remains: ipykernel opens it for what forked processes print, and asks for a secret there.
    """
    with tempfile.TemporaryDirectory(prefix="kernel-") as folder:
        yield Config({"KernelManager": {"transport": "ipc", "connection_file": f"{folder}/kernel.json"}})


def execute(text, folder, values, changes=None, force=False, bar=False):
    """Execute a text notebook.

    Parameters
    ----------
    text : Path
        MyST Markdown.
    folder : Path
        Where the executed notebook, "NAME.ipynb", and its seconds, "NAME.seconds", are kept. A notebook that
        fails is kept as "NAME.failed.ipynb".
    values : dict
        Parameters that a profile sets.
    changes : dict, optional
        Parameters that somebody sets. Where they differ from the text's own, the page is marked (`marks.marked`).
    force : bool
        Execute even if nothing has changed.
    bar : bool
        Progress by cell on stderr, where that is a terminal.

    Returns
    -------
    bool
        Whether it was executed.

    Raises
    ------
    BadInput
        A value has a name that the notebook's parameters cell has not, or is not in its range.
    NotebookError
        A cell failed.
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
    with ipc_kernels() as config:
        try:
            return papermill.execute_notebook(
                str(path), str(path), values, kernel_name="python3", cwd=str(text.parent),
                progress_bar=bar and {"desc": text.stem, "disable": None}, config=config,
                extra_arguments=["--IPKernelApp.log_level=50"],  # the interrupt that ends a kernel is no error
            )  # fmt: skip
        except PapermillExecutionError as error:
            raise NotebookError(
                f"{text.name}, cell {error.exec_count}: {error.ename}: {' '.join(error.evalue.split())} "
                f"(executed so far: {path})"
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
