"""What is behind each figure of an executed notebook: commands, data with their provenance, and files to take away.

Everything is read off the executed notebook and the stored results, so that the notebooks say none of it themselves.
"""

import ast
import dis
import json
import re
from collections import Counter
from dataclasses import replace
from functools import cache
from hashlib import sha256
from html import escape
from importlib.metadata import version

from attention_phases.records import canonical

from .. import paths
from ..experiments import grid
from ..experiments.results import folder_of, stored_in
from ..render.drawn import READOUT
from ..render.style import BEHIND, SVG
from ..render.wide import WIDE
from ..store.parquet import load
from ..store.provenance import environment
from .parameters import as_typed, assignments, declared, of_profile

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
CSV = "text/csv"
UNITS = "pure numbers, unless an axis names another unit"
SPENT = {"rng"}  # each use of it changes what the next one gives
STYLED = "use_book_output()"
CHANGING = {"append", "extend", "update"}  # methods


def write_figures(notebook, text, folder):
    """Write what is taken away of each figure of a notebook executed from a text (a Path).

    Returns lists of paths by kind: `svg`; `csv` and `readout`, unless it is not drawn to scale; `py`; `json`; and
    `wide`, for figures of several rows.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = {kind: [] for kind in ("svg", "csv", "py", "json", "wide", "readout")}
    for number, cell in enumerate(notebook.cells):
        for output in cell.get("outputs", ()) if "figure" in cell.metadata.get("mystnb", {}) else ():
            drawn = output.get("data", {})
            if SVG not in drawn:
                continue
            about = _behind(notebook, number, text, output.metadata[SVG][BEHIND], CSV in drawn)
            files = {f"{about['figure']}.svg": _signed(drawn[SVG], about)}
            if CSV in drawn:
                files[f"{about['figure']}.csv"] = drawn[CSV]
            code = [before.source for before in notebook.cells[: number + 1] if before.cell_type == "code"]
            files[f"{about['figure']}.py"] = script(code, about["figure"])
            about["files"] = {name: sha256(content.encode()).hexdigest() for name, content in files.items()}
            files[f"{about['figure']}.json"] = json.dumps(about, indent=1, ensure_ascii=False) + "\n"
            for name, content in files.items():
                (folder / name).write_text(content, encoding="utf-8")
                written[name.rpartition(".")[2]].append(str(folder / name))
            for kind, mime, suffix in (("wide", WIDE, "svg"), ("readout", READOUT, "json")):
                if mime in drawn:
                    path = folder / f"{about['figure']}-{kind}.{suffix}"
                    path.write_text(drawn[mime], encoding="utf-8")
                    written[kind].append(str(path))
    return written


def _behind(notebook, number, text, read, to_scale):
    """What is behind the figure that the cell of a number draws, from experiments read: everything but its files."""
    metadata = notebook.cells[number].metadata
    options, (values, command) = metadata["mystnb"], parameters(notebook, text)
    profile = values["profile"]
    again = [f"attention-phases sweep {name} --profile {profile} {AGAIN}" for name in dict(read)]
    return {
        "figure": options["figure"]["name"],
        "page": paths.title(notebook.cells[0].source),
        "caption": options["figure"]["caption"],
        "description": options.get("image", {}).get("alt"),
        "explorer": metadata.get("explorer"),  # a view of it, where one shows the same
        "notebook": f"notebooks/{text.name}",
        "commands": [command, *again],
        "parameters": values,
        "data": [_provenance(name, profile, json.dumps(changes)) for name, changes in read],
        "drawn with": {**environment(), "matplotlib": version("matplotlib")},
        "columns": COLUMNS if to_scale else {},
        "units": UNITS,
    }


def parameters(notebook, text):
    """Values that a notebook was executed with, and the command that executes it so."""
    values = declared(text)
    for cell in notebook.cells:
        if "injected-parameters" in cell.metadata.get("tags", ()):
            values |= assignments(cell.source)
    usual = declared(text) | of_profile(text, values["profile"])
    changes = [f" --set '{name}={as_typed(value)}'" for name, value in values.items() if value != usual[name]]
    return (
        values,
        f"attention-phases figure {paths.notebook_name(text)} --profile {values['profile']}{''.join(changes)}",
    )


@cache
def _provenance(name, profile, changes):
    """Where an experiment's results are, how many they are, by which code and machine, and how long they took."""
    cells = grid(name, profile, **json.loads(changes))
    wanted = {canonical(cell) for cell in cells}
    for folder in filter(None, (stored_in(profile), folder_of(profile))):
        path = folder / f"{name}.parquet"
        rows = load(path) if path.exists() else None
        if rows is not None and wanted <= set(rows["cell"]):
            break
    else:
        return {"experiment": name, "cells": len(wanted)}
    rows = rows[rows["cell"].isin(wanted)]
    firsts = rows.drop_duplicates("cell")
    versions = ("version", "commit", "python", "numpy", "torch", "cpu")
    return {
        "experiment": name,
        "file": path.relative_to(paths.ROOT).as_posix() if path.is_relative_to(paths.ROOT) else path.name,
        "cells": len(wanted),
        "data sets of a point": _data_sets(cells) if hasattr(cells[0], "sentences") else None,
        "computing seconds": round(float(firsts["cell_seconds"].sum()), 1),
        "finished": max(map(str, firsts["finished"])),
        **{column: sorted(map(str, firsts[column].dropna().unique())) for column in versions},
    }


def _data_sets(cells):
    """Least and most number of cells that differ in their seed alone."""
    counts = Counter(canonical(replace(cell, seed=0)) for cell in cells).values()
    return [min(counts), max(counts)]


def _signed(svg, about):
    """A picture that says in its metadata which page it is of, and by which code it was drawn."""
    drawn = about["drawn with"]
    code = [drawn["version"], *filter(None, [drawn["commit"]])]  # there is none outside of a checkout
    tags = {
        "dc:title": f"{about['figure']}: {about['page']}",
        "dc:source": about["commands"][0],
        "dc:identifier": " ".join([about["figure"], *code]),
    }
    lines = "".join(f"    <{tag}>{escape(text)}</{tag}>\n" for tag, text in tags.items())
    return svg.replace("   <cc:Work>\n", f"   <cc:Work>\n{lines}", 1)


# The code of one figure: the statements of its page that it needs


def script(cells, figure):
    """Python that draws the `figure` of the last of code cells, and saves it: all of that cell, and what it needs.

    cells: sources, in the order of the page.
    figure: its name, which becomes that of the file.
    """
    kept, needed = [], {"figure"}
    statements = [(source, statement) for source in cells for statement in ast.parse(source).body]
    for source, statement in reversed(statements):
        used, bound, changed = _names(statement)
        is_needed = (bound | changed | used & SPENT) & needed or ast.unparse(statement).endswith(STYLED)
        if source is not cells[-1] and not is_needed:
            continue
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            statement.names = [alias for alias in statement.names if (alias.asname or alias.name) in needed]
            kept.append(ast.unparse(statement))
        else:
            kept.append(ast.get_source_segment(source, statement))
        if isinstance(statement, (ast.Assign, ast.Import, ast.ImportFrom, ast.FunctionDef)):
            needed -= bound
        needed |= used
    return "\n".join([*reversed(kept), f'figure.savefig("{figure}.svg")', ""])


def _names(statement):
    """Global names that a statement uses, those that it binds, and those of objects that it changes."""
    parts = list(ast.walk(statement))
    code = compile(ast.Module([statement], []), "cell", "exec")
    texts = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    used = _operands(code, "LOAD_NAME", "LOAD_GLOBAL")
    used |= {name for text in texts for name in re.findall(r"@(\w+)", text)}  # as pandas names them in a query
    targets = [target for part in parts if isinstance(part, ast.Assign) for target in part.targets]
    items = [target.value for target in targets if isinstance(target, (ast.Subscript, ast.Attribute))]
    items += [part.value for part in parts if isinstance(part, ast.Attribute) and part.attr in CHANGING]
    return used, _operands(code, "STORE_NAME"), {item.id for item in items if isinstance(item, ast.Name)}


def _operands(code, *operations):
    """What operations of compiled code, and of the functions within it, act on."""
    names = {step.argval for step in dis.get_instructions(code) if step.opname in operations}
    within = [constant for constant in code.co_consts if hasattr(constant, "co_code")]
    return names.union(*(_operands(part, *operations) for part in within))
