"""The provenance of each figure of an executed notebook: commands, data, and files for download.

Everything is read from the executed notebook and from the stored results, so the notebooks need no text about it. The
files are written before Sphinx reads the pages.
"""

import json
import re
import shlex
import sys
from base64 import b64decode
from collections import Counter
from dataclasses import replace
from functools import cache
from hashlib import sha256
from html import escape
from importlib.metadata import version
from pathlib import Path

import jupytext
import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from attention_book import paths
from attention_book.experiments import grid
from attention_book.experiments.results import cell_rows, folder_of, stored_folder
from attention_book.render.figure_data import READOUT
from attention_book.render.layout import WIDE_TYPE
from attention_book.render.style import FIGURE_INFO, PNG, SVG
from attention_book.store.provenance import environment
from attention_phases.records import canonical

sys.path.insert(0, str(Path(__file__).parents[1]))  # the folder of `parameters`
from parameters import assignments, format_value, notebook_name, profile_values, published_values

FIGURES = "figures"  # folder of the files, beside the notebooks in the sources
OUTPUT = "book/_executed"  # folder of the book's notebooks; a single page has its notebook at the top of its sources
STORE = "--store again.sqlite --data again"  # with a new store, a sweep computes results that are stored elsewhere too
COLUMNS = {  # columns of the CSV
    "panel": "number of the panel, from 1; the comments of the file say what its axes show",
    "series": "label of the line, the points or the band",
    "colour": "what the colour stands for, or its hexadecimal code",
    "drawn as": "line, points, band, bar, cell of a map or contour",
    "x": "position on the horizontal axis",
    "y": "position on the vertical axis",
    "low": "lower end of the error bar or band: one standard error, or a range",
    "high": "upper end of it",
    "value": "what a colour or a contour shows",
}
CSV = "text/csv"
UNITS = "pure numbers, unless an axis names another unit"


def setup(app):
    app.connect("config-inited", lambda app, config: write(Path(app.srcdir)), priority=400)  # before the readers
    return {"parallel_read_safe": True}


def write(source):
    """Write the files of all figures of the executed notebooks, in the sources of the book or of a single page."""
    folder = source / OUTPUT if (source / OUTPUT).exists() else source
    for path in sorted(folder.glob("*.ipynb")):
        write_figures(nbformat.read(path, 4), paths.NOTEBOOKS / f"{path.stem}.md", folder / FIGURES)


def write_figures(notebook, text, folder):
    """Write the downloads of each figure of a notebook, which was executed from a text (a Path).

    The files are FIGURE.svg and .png; FIGURE.csv and FIGURE-readout.json, if the figure is drawn to scale; the script
    of the page; FIGURE.json; and FIGURE-wide.svg, if the figure has several rows.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for number, cell in enumerate(notebook.cells):
        for output in cell.get("outputs", ()) if "figure" in cell.metadata.get("mystnb", {}) else ():
            drawn = output.get("data", {})
            if SVG not in drawn:
                continue
            about = _record(notebook, number, text, output.metadata[SVG][FIGURE_INFO], CSV in drawn)
            name = about["figure"]
            files = {f"{name}.svg": _sign(drawn[SVG], about).encode(), f"{name}.png": b64decode(drawn[PNG])}
            if CSV in drawn:
                files[f"{name}.csv"] = drawn[CSV].encode()
            files[f"{text.stem}.py"] = script(notebook, text).encode()
            about["files"] = {file: sha256(content).hexdigest() for file, content in files.items()}
            files[f"{name}.json"] = f"{json.dumps(about, indent=1, ensure_ascii=False)}\n".encode()
            shapes = {f"{name}-wide.svg": WIDE_TYPE, f"{name}-readout.json": READOUT}
            files |= {file: drawn[kind].encode() for file, kind in shapes.items() if kind in drawn}
            for file, content in files.items():
                (folder / file).write_bytes(content)


def _record(notebook, number, text, read, to_scale):
    """Return the provenance of the figure that a cell draws, without the list of its files.

    number: position of the cell.
    read: experiments that were read before the figure, with their changes.
    """
    metadata = notebook.cells[number].metadata
    options, (values, command) = metadata["mystnb"], parameters(notebook, text)
    profile = values["profile"]
    again = [
        f"attention-phases sweep {name} --profile {profile}{_set(_cell_changes(name, profile, changes))} {STORE}"
        for name, changes in read
    ]
    return {
        "figure": options["figure"]["name"],
        "page": paths.title(notebook.cells[0].source),
        "caption": options["figure"]["caption"],
        "description": options.get("image", {}).get("alt"),
        "explorer": metadata.get("explorer"),  # a view of the explorer that shows the same, if there is one
        "notebook": f"notebooks/{text.name}",
        "commands": [command, *again],
        "parameters": values,
        "data": [_provenance(name, profile, json.dumps(changes)) for name, changes in read],
        "drawn with": {**environment(), "matplotlib": version("matplotlib")},
        "columns": COLUMNS if to_scale else {},
        "units": UNITS,
    }


def parameters(notebook, text):
    """Return the values with which a notebook was executed, and the command that executes it with them."""
    values = published_values(text)
    for cell in notebook.cells:
        if "injected-parameters" in cell.metadata.get("tags", ()):
            values |= assignments(cell.source)
    usual = published_values(text) | profile_values(text, values["profile"])
    changes = {name: value for name, value in values.items() if value != usual[name]}
    return values, f"attention-phases figure {notebook_name(text)} --profile {values['profile']}{_set(changes)}"


def _cell_changes(name, profile, changes):
    """Return the parameters, among those of a reading, that change the cells of the experiment."""
    cells = grid(name, profile, **changes)
    return {
        changed: value
        for changed, value in changes.items()
        if cells != grid(name, profile, **{other: changes[other] for other in changes if other != changed})
    }


def _set(changes):
    """Return the options of a command that set parameters."""
    return "".join(f" --set {shlex.quote(f'{name}={format_value(value)}')}" for name, value in changes.items())


@cache
def _provenance(name, profile, changes):
    """Return the provenance of an experiment's results: file, number, code, machine and computing time."""
    cells = grid(name, profile, **json.loads(changes))
    for folder in filter(None, (stored_folder(profile), folder_of(profile))):
        path = folder / f"{name}.parquet"
        rows = cell_rows(path, cells)
        if rows is not None:
            break
    else:
        return {"experiment": name, "cells": len({*map(canonical, cells)})}
    firsts = rows.drop_duplicates("cell")
    versions = ("version", "commit", "python", "numpy", "torch", "cpu")
    return {
        "experiment": name,
        "file": path.relative_to(paths.ROOT).as_posix() if path.is_relative_to(paths.ROOT) else path.name,
        "cells": len(firsts),
        "data sets of a point": _data_sets(cells) if hasattr(cells[0], "sentences") else None,
        "computing seconds": round(float(firsts["cell_seconds"].sum()), 1),
        "finished": max(map(str, firsts["finished"])),
        **{column: sorted(map(str, firsts[column].dropna().unique())) for column in versions},
    }


def _data_sets(cells):
    """Return the least and the largest number of cells that differ only in their seed."""
    counts = Counter(canonical(replace(cell, seed=0)) for cell in cells).values()
    return [min(counts), max(counts)]


def _sign(svg, about):
    """Return a picture with metadata that name its page and the version of the code."""
    drawn = about["drawn with"]
    code = [drawn["version"], *filter(None, [drawn["commit"]])]  # a commit is missing outside a checkout
    tags = {
        "dc:title": f"{about['figure']}: {about['page']}",
        "dc:source": about["commands"][0],
        "dc:identifier": " ".join([about["figure"], *code]),
    }
    lines = "".join(f"    <{tag}>{escape(text)}</{tag}>\n" for tag, text in tags.items())
    return svg.replace("   <cc:Work>\n", f"   <cc:Work>\n{lines}", 1)


# A page as a script

INSTALL = "# To install what this imports, in a checkout of the book: make install, or pip install -e '.[book]'\n\n"


def script(notebook, text):
    """Return an executed notebook as a Python script: its headings, and its code with the values of the run.

    The script saves each figure as FIGURE.svg, and its data as FIGURE.csv.
    """
    values, cells = parameters(notebook, text)[0], []
    given = {name: json.dumps(value) for name, value in values.items()}
    for cell in notebook.cells:
        source, tags = cell.source, cell.metadata.get("tags", ())
        if cell.cell_type == "markdown":
            cells += map(new_markdown_cell, re.findall(r"^#+ .*$", source, re.MULTILINE))
        elif "injected-parameters" not in tags:
            if "parameters" in tags:
                source = re.sub(r"(?m)^(\w+) = .+?(?=  #)", lambda line: f"{line[1]} = {given[line[1]]}", source)
            elif figure := cell.metadata.get("mystnb", {}).get("figure"):
                source = source.replace("style.show(figure)", f'style.show(figure, "{figure["name"]}")')
            cells.append(new_code_cell(source))
    filters = {"notebook_metadata_filter": "-all", "cell_metadata_filter": "-all"}
    return INSTALL + jupytext.writes(new_notebook(cells=cells, metadata={"jupytext": filters}), "py:percent")
