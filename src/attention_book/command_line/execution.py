"""Execute a text notebook with given parameters, for the book or alone; nothing stale, nothing half-done."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import jupytext
import nbformat
import papermill
import yaml
from papermill.exceptions import PapermillExecutionError
from traitlets.config import Config

from attention_phases.errors import BadInput, NotebookError, check_choice

from .. import paths
from ..experiments import PROFILES
from ..experiments.results import stored_in
from .parameters import as_value, assigned, checked, marked, of_profile

KEPT = paths.ROOT / "_build" / "executed"  # a folder for each profile
PAGE = "page"  # folder of the page of one notebook alone, and of what it needs
FIGURES = "figures"  # folder of the files of figures, beside the notebooks that a page is built from
NAMED = re.compile(r"""(?:href|src|srcset|action)="([^"#?:]+)|url\(["']?([^"')#?:]+)""")  # files of a page, of a style
SHAPES = ("-wide", "-readout")  # of a figure, which only its page shows
ALONE = ("behind", "offline", "figures", "download")  # the book's extensions that such a page needs


@contextmanager
def kernels_apart():
    """Options of papermill for kernels that nothing reaches: neither others nor a user's settings of IPython.

    They talk over sockets in a folder of their own, not over ports, and look there for start-up files. One port of the
    loopback remains: ipykernel opens it for what forked processes print, and asks for a secret there.
    """
    with tempfile.TemporaryDirectory(prefix="kernel-") as folder:
        config = Config({"KernelManager": {"transport": "ipc", "connection_file": f"{folder}/kernel.json"}})
        quiet = "--IPKernelApp.log_level=50"  # the interrupt that ends a kernel is no error
        yield {"config": config, "extra_arguments": [quiet, f"--IPKernelApp.ipython_dir={folder}"]}


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
    done.with_suffix(".seconds").write_text(f"{seconds:.1f}", encoding="utf-8")
    partial.replace(done)


def _run(path, text, values, bar):
    """Execute the notebook at `path` in place, its kernel beside the text."""
    progress = bar and {"desc": text.stem, "disable": None}
    options = {"kernel_name": "python3", "cwd": str(text.parent), "progress_bar": progress}
    with kernels_apart() as apart:
        try:
            return papermill.execute_notebook(str(path), str(path), values, **options, **apart)
        except PapermillExecutionError as error:
            message = " ".join(error.evalue.split())
            refused = re.fullmatch(r"(\w+) = (.*): must be (.*)", message)
            if error.ename == BadInput.__name__ and refused:
                name, value, allowed = refused.groups()
                raise BadInput(name, as_value(value), allowed) from error
            raise NotebookError(
                f"{text.name}, cell {error.exec_count}: {error.ename}: {message} (executed so far: {path})"
            ) from error


def fingerprint(text, values):
    """Hash of everything an executed notebook depends on."""
    digest = hashlib.sha256(json.dumps(values, sort_keys=True).encode())
    library = sorted((paths.ROOT / "src").rglob("*.py"))
    folders = {paths.DATA, *filter(None, map(stored_in, PROFILES))}
    stored = sorted(path for folder in folders for path in folder.glob("*.parquet"))
    for path in [text, *library, *stored, paths.ROOT / "constraints.txt"]:
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


# One figure: its notebook with the parameters asked for, as notebook, page, pictures and numbers


def run_figure(name, profile, settings, folder, quiet):
    """Execute the notebook of a figure, a table or another page, by its name or its file's, and write what it shows.

    settings: parameters, "name=value", that differ from those of the profile.
    folder: where the notebook NAME.ipynb, its script NAME.py, the page page/NAME.html, and FIGURE.svg, FIGURE.csv and
        FIGURE.json of each picture go.
    quiet: no progress on stderr.

    Returns `notebook`, `page`, `svg`, `csv`: paths, and `parameters`: what was set.
    """
    texts = paths.notebooks()
    by_file = {text.stem: short for short, text in texts.items()}
    text = texts[check_choice("figure", by_file.get(name, name), tuple(texts))]
    sizes, changes = of_profile(text, profile), assigned(text, settings)
    done = folder / f"{text.stem}.ipynb"
    try:
        execute(text, folder, sizes, changes, bar=not quiet)
        if not quiet and sys.stderr.isatty():
            print("building the page", file=sys.stderr)
        page, pictures = build_page(done, folder)
    except OSError as error:
        raise NotebookError(f"{text.stem} could not be written to {folder}: {error}") from error
    return {"parameters": {**sizes, **changes}, "notebook": str(done), "page": str(page), **pictures}


def build_page(done, folder):
    """Build the page of one executed notebook as the book would; return its path, and those of its pictures by kind.

    The page goes to a folder `PAGE` of `folder`, what is taken away of its figures beside that.
    """
    with tempfile.TemporaryDirectory() as place:
        source = Path(place) / done.name
        shutil.copy(done, source)
        (source.parent / "_toc.yml").write_text(f"format: jb-book\nroot: {done.name}\n", encoding="utf-8")
        (source.parent / "_config.yml").write_text(yaml.safe_dump(_configuration()), encoding="utf-8")
        program = "from jupyter_book.cli.main import main; main()"
        command = [sys.executable, "-c", program, "build", place, "--all", "--quiet"]
        built = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace")
        page = source.parent / "_build" / "html" / f"{done.stem}.html"
        if built.returncode or not page.exists():
            raise NotebookError(f"no page from {done}: {' '.join(built.stderr.split())[-300:]}")
        for path in _needed(page):
            target = folder / PAGE / path.relative_to(page.parent)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
        files = [path for path in sorted((source.parent / FIGURES).iterdir()) if not path.stem.endswith(SHAPES)]
        taken = [Path(shutil.copy(path, folder)) for path in files]
    pictures = {kind: [str(path) for path in taken if path.suffix == f".{kind}"] for kind in ("svg", "csv")}
    return folder / PAGE / page.name, pictures


def _needed(page):
    """The files that a built page shows or leads to: of the theme's ten megabytes about half."""
    needed, waiting = set(), [page, *(page.parent / FIGURES).iterdir()]
    while waiting:
        path = Path(os.path.normpath(waiting.pop()))
        if path not in needed and path.is_file() and path.suffix != ".ttf":  # beside it is what browsers take
            needed.add(path)
            if path.suffix in (".html", ".css"):
                named = NAMED.findall(path.read_text(encoding="utf-8"))
                waiting += [path.parent / (in_page or in_style) for in_page, in_style in named]
    return needed


def _configuration():
    """The book's, with its own files named from anywhere."""
    whole = yaml.safe_load((paths.ROOT / "_config.yml").read_text(encoding="utf-8"))
    whole["bibtex_bibfiles"] = [str(paths.ROOT / path) for path in whole["bibtex_bibfiles"]]
    extra = whole["sphinx"]
    extensions = extra["local_extensions"].items()
    extra["local_extensions"] = {name: str(paths.ROOT / path) for name, path in extensions if name in ALONE}
    for name in ("html_static_path", "templates_path"):
        extra["config"][name] = [str(paths.ROOT / path) for path in extra["config"][name]]
    extra["config"]["html_search_scorer"] = str(paths.ROOT / extra["config"]["html_search_scorer"])
    return whole
