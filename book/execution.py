"""The execution of MyST Markdown notebooks with given parameters, for the whole book or for a single page.

A notebook is executed anew if anything that it depends on has changed. An executed notebook is written whole or not at
all.
"""

import hashlib
import json
import logging
import os
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager

import nbformat
import papermill
from papermill.exceptions import PapermillExecutionError
from parameters import check_values, notebook_of, notebooks, profile_values, shell_values, with_banner
from traitlets.config import Config

from attention_book import paths
from attention_book.experiments import PROFILES
from attention_book.experiments.results import stored_folder
from attention_book.store.sweep import bar_or_lines, one_line
from attention_phases.errors import BadInput, NotebookError, check_choice

KEPT_FOLDER = paths.ROOT / "_build" / "executed"  # contains a folder for each profile
# This is the largest number of bytes in the name of the temporary folder for sockets, because some systems allow only
# 103 bytes for the path of a socket.
LONGEST_FOLDER = 70


@contextmanager
def isolated_kernels():
    """Yield papermill's options for kernels isolated from other processes and from the user's IPython settings.

    These kernels communicate over sockets in a folder of their own, not over ports, and they look for start-up files in
    this folder. One port of the loopback interface remains open: ipykernel opens it for the output of forked processes
    and protects it with a secret.
    """
    short = len(os.fsencode(tempfile.gettempdir())) <= LONGEST_FOLDER
    warnings = os.environ.pop("PYTHONWARNINGS", "")  # may turn warnings of ipykernel into errors
    with tempfile.TemporaryDirectory(prefix="kernel-", dir=None if short else "/tmp") as folder:
        config = Config({"KernelManager": {"transport": "ipc", "connection_file": f"{folder}/kernel.json"}})
        quiet = "--IPKernelApp.log_level=50"  # hides the message about the interrupt that ends a kernel
        arguments = [quiet, f"--IPKernelApp.ipython_dir={folder}"]
        try:
            # The kernel is killed after the last cell, because ZeroMQ may print a message on stderr when a kernel
            # closes its own sockets.
            yield {"config": config, "extra_arguments": arguments, "shutdown_kernel": "immediate"}
        finally:
            os.environ["PYTHONWARNINGS"] = warnings


def execute(text, folder, values, changes=None, force=False, bar=False):
    """Execute a MyST Markdown notebook if its inputs have changed, and return whether it was executed.

    text: Path of the notebook, a file in MyST Markdown.

    folder: the folder of the executed notebook, "NAME.ipynb", and of its time in seconds, "NAME.seconds". While a
    notebook runs it is called "NAME.failed.ipynb", and it keeps this name if a cell fails.
    values: parameters that a profile sets.
    changes: parameters that the reader sets. If they differ from the text's own values, the page says so in a banner.
    force: execute even if nothing has changed.
    bar: show the progress by cell on stderr.

    A cell that fails raises `NotebookError`. It raises `BadInput` if a parameter has a value that it cannot use.
    """
    sizes, changes = check_values(text, values), check_values(text, changes or {})
    done, failed = folder / f"{text.stem}.ipynb", folder / f"{text.stem}.failed.ipynb"
    inputs = fingerprint(text, [sizes, changes])
    if not force and done.exists() and nbformat.read(done, 4).metadata.get("inputs") == inputs:
        return False
    folder.mkdir(parents=True, exist_ok=True)
    nbformat.write(with_ids(notebook_of(text, changes)), failed)
    began = time.perf_counter()
    try:
        executed = _run(failed, text, {**sizes, **changes}, bar)
    except KeyboardInterrupt:
        failed.unlink()
        raise
    keep(with_banner(executed, text, sizes, changes), done, inputs, time.perf_counter() - began)
    failed.unlink()
    return True


def keep(notebook, done, inputs, seconds):
    """Write an executed notebook atomically, with the fingerprint of its inputs and its run time.

    done: the file of the notebook. The time in seconds is written to a second file.
    """
    done.parent.mkdir(parents=True, exist_ok=True)
    partial = done.with_suffix(".partial")
    nbformat.write(_strip_run(notebook, inputs), partial)
    done.with_suffix(".seconds").write_text(f"{seconds:.1f}", encoding="utf-8")
    partial.replace(done)


def _run(path, text, values, bar):
    """Execute the notebook file `path` in place, with the folder of its source file as working directory."""
    # The remaining time is not shown, because one cell may take nearly all of the time.
    progress = bar and {"desc": text.stem, **bar_or_lines("{elapsed} so far")}
    options = {"kernel_name": "python3", "cwd": str(text.parent), "progress_bar": progress}
    for name in ("asyncio", "papermill"):  # the one-line error below replaces their messages
        logging.getLogger(name).disabled = True
    with isolated_kernels() as apart:
        try:
            return papermill.execute_notebook(str(path), str(path), values, **options, **apart)
        except PapermillExecutionError as error:
            message = " ".join(error.evalue.split())
            if error.ename == BadInput.__name__:
                raise BadInput(message) from error
            where = f"{text.name}, cell {error.exec_count}"
            raise NotebookError(f"{where}: {error.ename}: {message} (executed so far: {path})") from error
        except KeyboardInterrupt:
            raise KeyboardInterrupt("stopped: results stored so far are kept; run again to go on") from None
        except OSError:  # for example, the disk is full
            raise
        except Exception as error:  # several packages raise errors about a kernel that dies or does not start
            raise NotebookError(f"{text.name}: the Jupyter kernel did not start or died: {one_line(error)}") from error


def fingerprint(text, values):
    """Return a hash of everything that an executed notebook depends on."""
    digest = hashlib.sha256(json.dumps(values, sort_keys=True).encode())
    scripts = [paths.ROOT / "book" / name for name in ("execution.py", "parameters.py")]
    code = [*scripts, *sorted((paths.ROOT / "src").rglob("*.py")), *sorted((paths.ROOT / "src").rglob("*.pyi"))]
    folders = {paths.DATA, *filter(None, map(stored_folder, PROFILES))}
    stored = sorted(path for folder in folders for path in folder.glob("*.parquet"))
    for path in [text, *code, *stored, paths.ROOT / "constraints.txt"]:
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def with_ids(notebook):
    """Number the cells of a notebook, set the kernel that papermill needs, and return the notebook."""
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook.nbformat_minor = 5
    return notebook


def _strip_run(notebook, inputs):
    """Remove times and paths from an executed notebook, so that the same inputs give the same file."""
    notebook.metadata.pop("papermill", None)
    notebook.metadata["inputs"] = inputs
    for cell in with_ids(notebook).cells:
        cell.metadata.pop("papermill", None)
        cell.metadata.pop("execution", None)
        if "injected-parameters" in cell.metadata.get("tags", ()):
            cell.metadata.tags.append("remove-cell")
    return notebook


# One figure with requested parameters: its notebook, page, pictures and numbers


def run_figure(name, profile, settings, folder, quiet):
    """Execute one notebook, and write its page, pictures and numbers to a folder.

    name: name or file of a figure, a table or another page.

    settings: parameters, "name=value", that differ from the parameters of the profile.
    folder: the output folder. It receives the notebook NAME.ipynb, its script NAME.py, the page page/NAME.html, and the
    files FIGURE.svg, FIGURE.csv and FIGURE.json of each figure.
    quiet: show no progress on stderr.

    Returns the paths `notebook`, `page`, `svg` and `csv`, and the `parameters` of the run.
    """
    texts = notebooks()
    by_file = {text.stem: short for short, text in texts.items()}
    text = texts[check_choice("figure", by_file.get(name, name), tuple(texts))]
    sizes, changes = profile_values(text, profile), shell_values(text, settings)
    done = folder / f"{text.stem}.ipynb"
    try:
        execute(text, folder, sizes, changes, bar=not quiet)
        if not quiet and sys.stderr.isatty():
            print("building the page", file=sys.stderr)
        silent = "-W", "ignore"  # silences warnings of dependencies even if PYTHONWARNINGS makes them errors
        program = [sys.executable, *silent, paths.ROOT / "book" / "page.py", done, folder]
        built = subprocess.run(program, capture_output=True, encoding="utf-8", errors="replace")
    except OSError as error:
        raise NotebookError(f"{text.stem} could not be written to {folder}: {error}") from error
    if built.returncode:
        raise NotebookError(f"the page of {done} could not be built: {' '.join(built.stderr.split())[-300:]}")
    shown = (cell.metadata.get("mystnb") for cell in nbformat.read(done, 4).cells)
    names = [about["figure"]["name"] for about in shown if about]
    files = {kind: [folder / f"{name}.{kind}" for name in names] for kind in ("svg", "csv")}
    return {
        "parameters": {**sizes, **changes},
        "notebook": str(done),
        "page": str(folder / "page" / f"{text.stem}.html"),
        **{kind: [str(path) for path in some if path.exists()] for kind, some in files.items()},
    }
