"""One figure: its notebook executed with the parameters asked for, as notebook, page, pictures and numbers."""

import itertools
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat
import yaml

from attention_phases.errors import NotebookError, check_choice

from ..paths import ROOT, notebooks
from .behind import FIGURES, write_figures
from .execution import execute
from .parameters import assigned, of_profile

PAGE = "page"  # folder of the HTML page and of what it needs
ALONE = ("offline", "figures")  # the book's extensions that a page outside of it needs; others read the book


def run_figure(name, profile, settings, folder, quiet=True):
    """Execute the notebook of a figure, a table or another page, by its name or its file's, and write what it shows.

    settings: parameters, "name=value", that differ from those of the profile.
    folder: where the notebook NAME.ipynb, the page page/NAME.html, and FIGURE.svg, FIGURE.csv, FIGURE.py and
        FIGURE.json of each picture go.
    quiet: no progress on stderr.

    Returns `notebook`, `page`, `svg`, `csv`: paths, and `parameters`: what was set.
    """
    texts = notebooks()
    by_file = {text.stem: short for short, text in texts.items()}
    text = texts[check_choice("figure", by_file.get(name, name), tuple(texts))]
    sizes, changes = of_profile(text, profile), assigned(text, settings)
    done = folder / f"{text.stem}.ipynb"
    try:
        execute(text, folder, sizes, changes, bar=not quiet)
        pictures = write_figures(nbformat.read(done, 4), text, folder)
        if not quiet and sys.stderr.isatty():
            print("building the page", file=sys.stderr)
        page = build_page(done, folder / PAGE, itertools.chain(*pictures.values()))
    except OSError as error:
        raise NotebookError(f"{text.stem} could not be written to {folder}: {error}") from error
    return {
        "parameters": {**sizes, **changes},
        "notebook": str(done),
        "page": str(page),
        **{kind: pictures[kind] for kind in ("svg", "csv")},
    }


def build_page(done, folder, pictures=()):
    """Build the page of one executed notebook as the book would, with the files of its figures; return its path."""
    with tempfile.TemporaryDirectory() as place:
        source = Path(place) / done.name
        shutil.copy(done, source)
        (source.parent / FIGURES).mkdir()
        for path in pictures:
            shutil.copy(path, source.parent / FIGURES)
        (source.parent / "_toc.yml").write_text(f"format: jb-book\nroot: {done.name}\n")
        (source.parent / "_config.yml").write_text(yaml.safe_dump(_configuration()))
        program = "from jupyter_book.cli.main import main; main()"
        command = [sys.executable, "-c", program, "build", place, "--all", "--quiet"]
        built = subprocess.run(command, capture_output=True, text=True)
        page = source.parent / "_build" / "html" / f"{done.stem}.html"
        if built.returncode or not page.exists():
            raise NotebookError(f"no page from {done}: {' '.join(built.stderr.split())[-300:]}")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.move(page.parent, folder)
    return folder / page.name


def _configuration():
    """The book's, with its own files named from anywhere."""
    whole = yaml.safe_load((ROOT / "_config.yml").read_text())
    whole["bibtex_bibfiles"] = [str(ROOT / path) for path in whole["bibtex_bibfiles"]]
    extra = whole["sphinx"]
    extensions = extra["local_extensions"].items()
    extra["local_extensions"] = {name: str(ROOT / path) for name, path in extensions if name in ALONE}
    for name in ("html_static_path", "templates_path"):
        extra["config"][name] = [str(ROOT / path) for path in extra["config"][name]]
    extra["config"]["html_search_scorer"] = str(ROOT / extra["config"]["html_search_scorer"])
    return whole
