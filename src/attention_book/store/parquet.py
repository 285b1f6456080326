"""Results in Parquet files, with one file per experiment and one row per cell and start."""

import base64
import json
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from attention_phases import __version__
from attention_phases.errors import StoreError

from . import provenance
from .provenance import Row
from .sweep import Store

FILE_SCHEMA = 1
METADATA_KEYS = ("description", "unit", "usual")  # entries of a column's metadata


def export(store: Store, folder: os.PathLike | str, meanings: Mapping = {}) -> list[Path]:
    """Write a Parquet file for each experiment in the store, and return the paths.

    The file of an experiment is `folder`/EXPERIMENT.parquet. It has one row per cell and start, sorted by the fields of
    the cell. Its columns are the fields (nested fields as JSON), the results, the provenance, and "cell", the canonical
    JSON of the cell. Cells that are in an existing file but not in the store remain in the file. Equal contents give
    equal bytes. A file is replaced whole or not at all.

    meanings: for the name of a column its `description` and `unit`, which are written into the file's metadata, and
    `usual`, the value of a field in cells that do not name it.
    """
    by_experiment = defaultdict(dict)
    for text, rows, origin in store.items():
        by_experiment[json.loads(text)["experiment"]][text] = rows, origin
    paths = []
    for experiment, computed in sorted(by_experiment.items()):
        path = Path(folder) / f"{experiment}.parquet"
        kept = {text: (rows, origin) for text, rows, origin in items(path)} if path.exists() else {}
        write(path, kept | computed, meanings)
        paths.append(path)
    return paths


def write(path: Path, by_text: dict[str, tuple[list[Row], Row]], meanings: Mapping = {}) -> None:
    """Write the rows and the provenance of several cells to a Parquet file.

    by_text: rows and provenance by the canonical JSON of the cell.
    meanings: as for `export`.
    """
    cells = [(json.loads(text), text, rows, origin) for text, (rows, origin) in by_text.items()]
    fields = sorted({name for cell, *_ in cells for name in cell})
    usual = {name: meanings[name]["usual"] for name in fields if "usual" in meanings.get(name, {})}
    cells.sort(key=lambda item: [_order(item[0].get(name)) for name in fields])
    records = [
        {**{name: column_value(value) for name, value in {**usual, **cell}.items()}, **row, **origin, "cell": text}
        for cell, text, rows, origin in cells
        for row in rows
    ]
    results = list(dict.fromkeys(name for *_, rows, _ in cells for row in rows for name in row))
    columns = [*fields, *results, *provenance.ORIGIN, "cell"]
    about = json.dumps({"schema": FILE_SCHEMA, "version": __version__})
    with _refusing(path):
        table = pa.table({name: _column([record.get(name) for record in records]) for name in columns})
        _replace(path, table.replace_schema_metadata({"attention_phases": about}), meanings)


def describe(path: Path, meanings: Mapping) -> None:
    """Update the descriptions of a file's columns without changing its rows.

    meanings: as for `export`.
    """
    table = _read(path)
    if not _add_meanings(table.schema, meanings).equals(table.schema, check_metadata=True):
        with _refusing(path):
            _replace(path, table, meanings)


def _add_meanings(schema: pa.Schema, meanings: Mapping) -> pa.Schema:
    said = {name: {key: str(field[key]) for key in METADATA_KEYS if key in field} for name, field in meanings.items()}
    return pa.schema([column.with_metadata(said.get(column.name, {})) for column in schema], metadata=schema.metadata)


def _replace(path: Path, table: pa.Table, meanings: Mapping) -> None:
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(partial, "wb") as file:
            pq.write_table(table.cast(_add_meanings(table.schema, meanings)), file, compression="zstd")
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    finally:
        with suppress(OSError):  # after success the partial file is gone, and after a failure its folder may be missing
            partial.unlink()


@contextmanager
def _refusing(path: os.PathLike | str):
    """Convert errors of reading or writing a file to a `StoreError` with a one-line message."""
    try:
        yield
    except (OSError, ValueError, pa.ArrowException) as error:
        raise StoreError(f"{path}: {str(error).splitlines()[0]}") from error


def _order(value: Any) -> tuple:
    """Return a sort key that orders numbers by size and other values by their JSON."""
    number = isinstance(value, (int, float))
    return (0, value, "") if number else (1, 0, json.dumps(value))


def column_value(value: Any) -> Any:
    """Convert an attribute of a cell to its value in a table column: tuples and lists become JSON."""
    return json.dumps(value, separators=(",", ":")) if isinstance(value, (list, tuple)) else value


def encode(array: np.ndarray) -> str:
    """Encode an array of numbers as a base64 string of little-endian float32."""
    return base64.b64encode(np.asarray(array, "<f4").tobytes()).decode()


def decode(text: str) -> np.ndarray:
    """Decode a string returned by `encode` into an array of numbers."""
    return np.frombuffer(base64.b64decode(text), "<f4").astype(np.float32)


def _column(values: list) -> pa.Array:
    column = pa.array(values, pa.string() if all(v is None for v in values) else None)
    return column.dictionary_encode() if pa.types.is_string(column.type) else column


def _read(path: os.PathLike | str) -> pa.Table:
    with _refusing(path):
        table = pq.ParquetFile(path).read()  # `read_table` would accept a folder as a data set of many files
        about = json.loads((table.schema.metadata or {}).get(b"attention_phases", b"{}"))
    if about.get("schema") != FILE_SCHEMA:
        raise StoreError(f"{path}: results of schema {about.get('schema')}, this version reads {FILE_SCHEMA}")
    return table


def items(path: os.PathLike | str) -> Iterator[tuple[str, list[Row], Row]]:
    """Yield the cells of an exported file, with their rows and their provenance.

    They are equal bit for bit to what `Store.items` yielded when the file was written, but in the order of the file.
    """
    table = _read(path)
    filled = {column.name for column in table.schema if b"usual" in (column.metadata or {})}
    for text, group in groupby(table.to_pylist(), lambda record: record["cell"]):
        records, known = list(group), {"cell", *provenance.ORIGIN, *json.loads(text), *filled}
        rows = [
            {name: value for name, value in record.items() if name not in known and value is not None}
            for record in records
        ]
        yield text, rows, {name: records[0][name] for name in provenance.ORIGIN}


def load(path: os.PathLike | str) -> pd.DataFrame:
    """Return an exported file as a data frame, with strings as categories."""
    return _read(path).to_pandas()
