"""What is behind each figure of an executed notebook: its code, the data that it reads, and files to take away.

Everything is read off the executed notebook and the stored results, so that the notebooks say none of it themselves.
"""

import ast
import json
from collections import Counter
from dataclasses import replace
from functools import cache
from hashlib import sha256
from html import escape
from importlib.metadata import version

from .. import paths
from ..experiments import grid
from ..experiments.results import folder_of
from ..store.identity import canonical
from ..store.parquet import load
from ..store.provenance import environment
from .needs import as_program, experiments, functions, needed
from .parameters import declared, of_profile

FIGURES = "figures"  # folder of the files, beside the notebooks in the book's sources
AGAIN = "--store again.sqlite --data again"  # with a store of its own a sweep computes what is stored elsewhere too
COLUMNS = {  # of the CSV
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
SVG, CSV = "image/svg+xml", "text/csv"
UNITS = "pure numbers, unless an axis names another unit"


def write_figures(notebook, text, folder):
    """Write FIGURE.svg, FIGURE.csv and FIGURE.json of each figure of an executed notebook.

    Parameters
    ----------
    notebook : nbformat.NotebookNode
    text : Path
        The text that it was read from.
    folder : Path

    Returns
    -------
    dict
        `svg`, `csv` and `json`: lists of paths. A figure that is not drawn to scale has no CSV.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = {"svg": [], "csv": [], "json": []}
    for found in behind(notebook, text):
        contents = found.pop("contents")
        contents["svg"] = _signed(contents["svg"], found)
        found["files"] = {
            f"{found['figure']}.{kind}": sha256(each.encode()).hexdigest() for kind, each in contents.items()
        }
        contents["json"] = json.dumps(found, indent=1, ensure_ascii=False) + "\n"
        for kind, content in contents.items():
            path = folder / f"{found['figure']}.{kind}"
            path.write_text(content)
            written[kind].append(str(path))
    return written


def behind(notebook, text):
    """What is behind each figure of an executed notebook.

    Parameters
    ----------
    notebook, text
        As for `write_figures`.

    Returns
    -------
    list of dict
        Names, caption, code, functions, commands, parameters, data with their provenance; under `contents` the picture
        and what it draws.
    """
    drawing = [(number, output["data"]) for number, cell in enumerate(notebook.cells)
               for output in cell.get("outputs", ()) if SVG in output.get("data", {})
               and "figure" in cell.metadata.get("mystnb", {})]  # fmt: skip
    return [_behind(notebook, number, data, *_parameters(notebook, text)) for number, data in drawing]


def _behind(notebook, number, data, values, command):
    options, cells = notebook.cells[number].metadata["mystnb"], needed(notebook.cells, number)
    read, profile = experiments(cells, values), values["profile"]
    again = [f"attention-phases sweep {name} --profile {profile} {AGAIN}" for name in read]
    return {
        "figure": options["figure"]["name"],
        "page": next(line[2:] for line in notebook.cells[0].source.splitlines() if line.startswith("# ")),
        "caption": options["figure"]["caption"],
        "description": options.get("image", {}).get("alt"),
        "explorer": notebook.cells[number].metadata.get("explorer"),  # a view of it, where one shows the same
        "code": as_program(notebook.cells, cells),
        "functions": functions(cells),
        "commands": [command, *again],
        "parameters": values,
        "data": [_provenance(name, profile, json.dumps(changes)) for name, changes in read.items()],
        "drawn with": {**environment(), "matplotlib": version("matplotlib")},
        "columns": COLUMNS if CSV in data else {},
        "units": UNITS,
        "contents": {kind: data[mime] for kind, mime in (("svg", SVG), ("csv", CSV)) if mime in data},
    }


def _parameters(notebook, text):
    """Values that a notebook was executed with, and the command that executes it so."""
    values = {name: each.value for name, each in declared(text).items()}
    for cell in notebook.cells:
        if "injected-parameters" in cell.metadata.get("tags", ()):
            values |= {node.targets[0].id: ast.literal_eval(node.value) for node in ast.parse(cell.source).body}
    usual = {name: each.value for name, each in declared(text).items()} | of_profile(text, values["profile"])
    name = next((name for name, path in paths.figure_texts().items() if path.stem == text.stem), text.stem)
    changes = [f" --set '{each}={json.dumps(value)}'" for each, value in values.items() if value != usual[each]]
    return values, f"attention-phases figure {name} --profile {values['profile']}{''.join(changes)}"


@cache
def _provenance(name, profile, changes):
    """Where an experiment's results are, how many they are, by which code and machine, and how long they took."""
    cells = grid(name, profile, **json.loads(changes))
    wanted = {canonical(cell) for cell in cells}
    for path in (paths.DATA / f"{name}.parquet", folder_of(profile) / f"{name}.parquet"):
        rows = load(path) if path.exists() else None
        if rows is not None and wanted <= set(rows["cell"]):
            break
    else:
        return {"experiment": name, "cells": len(wanted)}
    rows = rows[rows["cell"].isin(wanted)]
    firsts = rows.drop_duplicates("cell")
    return {
        "experiment": name,
        "file": path.relative_to(paths.ROOT).as_posix() if path.is_relative_to(paths.ROOT) else path.name,
        "cells": len(wanted),
        "data sets of a point": _data_sets(cells) if hasattr(cells[0], "sentences") else None,
        "computing seconds": round(float(firsts["cell_seconds"].sum()), 1),
        "finished": max(map(str, firsts["finished"])),
        **{column: sorted(map(str, firsts[column].dropna().unique()))
           for column in ("version", "commit", "python", "numpy", "torch", "cpu")},
    }  # fmt: skip


def _data_sets(cells):
    """Least and most number of cells that differ in their seed alone."""
    counts = Counter(canonical(replace(cell, seed=0)) for cell in cells).values()
    return [min(counts), max(counts)]


def _signed(svg, found):
    """A picture that says in its metadata which page it is of, and by which code it was drawn."""
    said = {
        "dc:title": f"{found['figure']}: {found['page']}",
        "dc:source": found["commands"][0],
        "dc:identifier": f"{found['figure']} {found['drawn with']['version']} {found['drawn with']['commit']}",
    }
    lines = "".join(f"    <{tag}>{escape(text)}</{tag}>\n" for tag, text in said.items())
    return svg.replace("   <cc:Work>\n", f"   <cc:Work>\n{lines}", 1)
