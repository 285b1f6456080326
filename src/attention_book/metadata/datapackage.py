"""The stored results as a Data Package: every file with its size and hash, every column with its meaning and unit."""

import inspect
from hashlib import sha256

import pyarrow as pa
import pyarrow.parquet as pq

from attention_phases import __version__

from ..experiments import GRIDS, grid
from .columns import described

LICENCE = {
    "name": "CC-BY-4.0",
    "title": "Creative Commons Attribution 4.0 International",
    "path": "https://creativecommons.org/licenses/by/4.0/",
}
TITLE = "Positional or semantic? Computed results"
ABOUT = (
    "Trained students and converged theory for every figure and the table of the paper, and for what it leaves open."
    " A row is one student, or one solution or threshold of theory. A column is empty in rows to which it does not"
    " apply."
)
KINDS = (  # of Arrow, and what Data Packages call it
    (pa.types.is_boolean, "boolean"),
    (pa.types.is_integer, "integer"),
    (pa.types.is_floating, "number"),
    (lambda kind: pa.types.is_dictionary(kind) or pa.types.is_string(kind), "string"),
)


def datapackage(folder, paper):
    """Descriptor of the Parquet files of a folder, in the form of `datapackage.json`.

    Parameters
    ----------
    folder : Path
        Each file is named after its experiment.
    paper : dict
        The reference to the paper, from CITATION.cff.

    Returns
    -------
    dict
        As Data Package 2.0 has it. Beside that a field has its `unit`, and a resource its number of `rows`.
    """
    return {
        "$schema": "https://datapackage.org/profiles/2.0/datapackage.json",
        "name": "positional-or-semantic",
        "title": TITLE,
        "description": ABOUT,
        "version": __version__,
        "licenses": [LICENCE],
        "contributors": [{"title": "the contributors", "roles": ["author"]}],
        "sources": [{"title": paper["title"], "path": paper["url"]}],
        "resources": [_resource(path) for path in sorted(folder.glob("*.parquet"))],
    }


def summary(name):
    """What an experiment computes, in a line: the first one of its function's docstring."""
    return inspect.getdoc(GRIDS[name]).splitlines()[0]


def _resource(path):
    content = path.read_bytes()
    parquet = pq.ParquetFile(path)
    cell_type = type(grid(path.stem, "smoke")[0])
    return {
        "name": path.stem,
        "type": "table",
        "path": path.name,
        "description": summary(path.stem),
        "format": "parquet",
        "mediatype": "application/vnd.apache.parquet",
        "bytes": len(content),
        "hash": f"sha256:{sha256(content).hexdigest()}",
        "rows": parquet.metadata.num_rows,
        "schema": {"fields": [_field(each, cell_type) for each in parquet.schema_arrow]},
    }


def _field(column, cell_type):
    about = described(column.name, cell_type)
    kind = next(name for matches, name in KINDS if matches(column.type))
    categories = [{"value": name, "label": said or name} for name, said in about.names.items()]
    return {
        "name": column.name,
        "type": kind,
        "description": about.meaning,
        **({"unit": about.unit} if about.unit else {}),
        **({"categories": categories} if categories else {}),
    }
