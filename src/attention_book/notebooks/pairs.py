"""The .ipynb side of each text, for whoever wants to open it; the text stays the source.

One way only, and by content: what an .ipynb was written from is noted in it, so that an edit of its own is seen.
"""

import hashlib
import json
import os

import jupytext
import nbformat
from jupytext.combine import combine_inputs_with_outputs

from attention_phases.errors import NotebookError

NOTE = "written_from"


def write_pair(text):
    """Write the .ipynb beside a text, unless it has the text's cells already; outputs of unchanged cells stay.

    Parameters
    ----------
    text : Path

    Returns
    -------
    bool
        Whether it was written.

    Raises
    ------
    NotebookError
        The .ipynb has edits that the text lacks.
    """
    path = text.with_suffix(".ipynb")
    source = jupytext.read(text)
    if path.exists():
        present = nbformat.read(path, 4)
        if _content(present) == _content(source):
            _date(path, text)
            return False
        if present.metadata.get(NOTE) != _content(present):
            raise NotebookError(
                f"{path} has edits that {text.name} lacks: keep them with `jupytext --to md:myst {path.name}`, "
                "or remove the file"
            )
        source = combine_inputs_with_outputs(source, present)
    source.metadata[NOTE] = _content(source)
    nbformat.write(source, path)
    _date(path, text)
    return True


def _date(path, text):
    """Date a pair like its text: jupytext refuses to open a pair of which the .ipynb is newer."""
    os.utime(path, ns=(text.stat().st_mtime_ns,) * 2)


def _content(notebook):
    """Hash of the cells, as far as a text has them."""
    cells = [
        (
            cell.cell_type,
            cell.source,
            {name: cell.metadata[name] for name in ("tags", "mystnb", "explorer") if name in cell.metadata},
        )
        for cell in notebook.cells
    ]
    return hashlib.sha256(json.dumps(cells, sort_keys=True).encode()).hexdigest()
