"""One figure: its notebook executed with the parameters asked for, as notebook, page, pictures and numbers."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat
import yaml

from ..errors import NotebookError, check_choice
from ..paths import NOTEBOOKS, ROOT, figure_texts
from .execution import execute
from .parameters import assigned, of_profile

PAGE = "page"  # folder of the HTML page and of what it needs


def run_figure(name, profile, settings, folder, quiet=True):
    """Execute a figure's notebook and write what it shows.

    Parameters
    ----------
    name : str
        A figure or table of the paper (`paths.figure_texts`), or the name of a notebook.
    profile : {"paper", "laptop", "smoke"}
    settings : sequence of str
        Parameters, "name=value", that differ from those of the profile.
    folder : Path
        Where the notebook NAME.ipynb, the page page/NAME.html, and FIGURE.svg and FIGURE.csv of each picture go.
    quiet : bool
        No progress on stderr.

    Returns
    -------
    dict
        `notebook`, `page`, `svg`, `csv`: paths; `parameters`: what was set.

    Raises
    ------
    BadInput
        A name or value is not allowed.
    NotebookError
        A cell failed, or the page could not be built.
    """
    texts = figure_texts() | {path.stem: path for path in sorted(NOTEBOOKS.glob("*.md"))}
    text = texts[check_choice("figure", name, tuple(texts))]
    sizes, changes = of_profile(text, profile), assigned(text, settings)
    execute(text, folder, sizes, changes, bar=not quiet)
    done = folder / f"{text.stem}.ipynb"
    notebook = nbformat.read(done, 4)
    return {
        "parameters": {**sizes, **changes},
        "notebook": str(done),
        "page": str(build_page(done, folder / PAGE)),
        **write_pictures(notebook, folder),
    }


def write_pictures(notebook, folder):
    """Write each figure of an executed notebook as FIGURE.svg, and what it draws as FIGURE.csv; return the paths."""
    written = {"svg": [], "csv": []}
    for cell in notebook.cells:
        figure = cell.metadata.get("mystnb", {}).get("figure", {}).get("name")
        for output in cell.get("outputs", []) if figure else []:
            for kind, mime in (("svg", "image/svg+xml"), ("csv", "text/csv")):
                if mime in output.get("data", {}):
                    path = folder / f"{figure}.{kind}"
                    path.write_text(output.data[mime])
                    written[kind].append(str(path))
    return written


def build_page(done, folder):
    """Build the page of one executed notebook as the book would, and return its path; it needs no network."""
    with tempfile.TemporaryDirectory() as place:
        source = Path(place) / done.name
        shutil.copy(done, source)
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
    whole["bibtex_bibfiles"] = [str(ROOT / each) for each in whole["bibtex_bibfiles"]]
    extra = whole["sphinx"]
    extra["local_extensions"] = {"offline": str(ROOT / extra["local_extensions"]["offline"])}  # others read the book
    extra["config"]["html_static_path"] = [str(ROOT / each) for each in extra["config"]["html_static_path"]]
    return whole
