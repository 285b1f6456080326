"""Update the descriptions of the stored results: in the tables, in the Data Package and in the list of tables.

python data/metadata.py          (make metadata)

Titles, licences and persons are written into these files by hand. Columns, sizes and hashes come from the tables.
"""

import json
import re
import sys
from hashlib import sha256

import authors_tables
import pyarrow as pa
import pyarrow.parquet as pq
from columns import abouts, column_of, own_columns

from attention_book.experiments import GRIDS, grid
from attention_book.paths import ROOT
from attention_book.store.parquet import describe
from attention_phases import __version__
from attention_phases.errors import ResultError

STORED_TABLES = sorted((ROOT / "data").glob("*.parquet"))
ROWS = re.compile(r"(?<=\|---\|--:\|--:\|---\|\n)(\|.*\n)+")  # the list of tables in data/README.md
# One table is not an experiment, because it is computed from other tables.
ABOUTS = {authors_tables.NAME: authors_tables.__doc__.splitlines()[0], **abouts()}
TYPES = (  # tests for types of Arrow, and the names of these types in Data Packages
    (pa.types.is_boolean, "boolean"),
    (pa.types.is_integer, "integer"),
    (pa.types.is_floating, "number"),
    (lambda kind: pa.types.is_dictionary(kind) or pa.types.is_string(kind), "string"),
)


def texts():
    """Return the updated texts by their path in the repository."""
    resources = [resource(path) for path in STORED_TABLES]
    package = json.loads((ROOT / "data/datapackage.json").read_text(encoding="utf-8"))
    package |= {"version": __version__, "resources": resources}
    readme = (ROOT / "data/README.md").read_text(encoding="utf-8")
    return {
        "data/README.md": ROWS.sub(lambda _: "".join(map(line, resources)), readme),
        "data/datapackage.json": json.dumps(package, indent=1, ensure_ascii=False, allow_nan=False) + "\n",
    }


def line(table):
    """Return a row of the list of tables: file, number of rows, size and description."""
    about, size = table["description"].rstrip("."), (ROOT / "data" / table["path"]).stat().st_size
    return f"| `{table['path']}` | {table['rows']:,} | {size / 1000:,.0f} | {about} |\n"


def resource(path):
    """Return the entry of a table in Data Package 2.0.

    Beyond the standard, a field has its `unit`, and the table has its number of `rows`.
    """
    content, parquet = path.read_bytes(), pq.ParquetFile(path)
    about = ABOUTS.get(path.stem)
    if about is None:
        raise ResultError(f'{path.stem}: describe it under "Experiments:" in the docstring of its file')
    return {
        "name": path.stem,
        "type": "table",
        "path": path.name,
        "description": about,
        "format": "parquet",
        "mediatype": "application/vnd.apache.parquet",
        "hash": f"sha256:{sha256(content).hexdigest()}",
        "rows": parquet.metadata.num_rows,
        "schema": {
            "fields": fields_of(path),
            "missingValues": ["", "nan"],  # "nan" is for validators that read whole numbers with pandas
        },
    }


def fields_of(path):
    """Return the entries of a table's columns in Data Package 2.0."""
    own = own_columns(type(grid(path.stem, "smoke")[0])) if path.stem in GRIDS else authors_tables.COLUMNS
    return [field(column, own) for column in pq.read_schema(path)]


def field(column, own):
    """Return the entry of a column in Data Package 2.0."""
    about = column_of(column.name, own)
    kind = next(name for matches, name in TYPES if matches(column.type))
    entry = {"name": column.name, "type": kind, "description": about.meaning}
    if about.unit:
        entry["unit"] = about.unit
    if about.names:
        entry["categories"] = [{"value": name, "label": label or name} for name, label in about.names.items()]
    return entry


if __name__ == "__main__":
    try:
        for path in STORED_TABLES:
            describe(path, {field["name"]: field for field in fields_of(path)})
        updates = texts()
    except ResultError as error:
        sys.exit(str(error))
    for name, text in updates.items():
        (ROOT / name).write_text(text, encoding="utf-8")
