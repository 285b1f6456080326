"""Results of a sweep: an SQLite file while it runs, Parquet files to keep and to share.

The store holds one row per cell, written in one transaction by one process. After a kill at any moment
every cell that was reported is there. The Parquet files hold one row per cell and start; a sweep continues
from them as well as from the store.
"""

import json
import os
import re
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attention_phases.errors import BadInput, StoreError

from . import provenance
from .identity import Row, canonical, check_rows, key
from .parquet import export, import_parquet, load

__all__ = ["Store", "StoreError", "export", "import_parquet", "load"]

SCHEMA = 1
APPLICATION = 0x41545048  # "ATPH", marks the SQLite file as ours
SMALLEST = 512  # bytes of an SQLite file: its smallest page
TABLE = "CREATE TABLE cells (key TEXT PRIMARY KEY, cell TEXT, results TEXT, provenance TEXT) WITHOUT ROWID"
RESERVED = {"cell", *provenance.COLUMNS}


class Store:
    """Results by cell in an SQLite file, held by one process from opening to closing.

    Parameters
    ----------
    path : path-like
        The file; made if missing.

    Raises
    ------
    StoreError
        The file is in use, damaged, no results store, of another schema, or cannot be written.
        It is then left as it was.
    """

    def __init__(self, path: os.PathLike | str):
        self.path = Path(path)
        with self._reporting():
            self._db = sqlite3.connect(self.path, timeout=0)  # a held lock is an error at once
        try:
            with self._reporting():
                self._open()
        except BaseException:
            self._db.close()
            raise

    def _open(self) -> None:
        if 0 < self.path.stat().st_size < SMALLEST:  # SQLite takes one of a few bytes for an empty database
            raise StoreError(f"store {self.path}: not a results store; it was left as it is")
        # Exclusive: the lock lasts until close, and no shared memory is needed (network file systems).
        self._db.execute("PRAGMA locking_mode = EXCLUSIVE")
        application, schema = (
            self._db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
        )
        empty = not self._db.execute("SELECT 1 FROM sqlite_master").fetchone()
        if application != APPLICATION and not (empty and application == schema == 0):
            raise StoreError(f"store {self.path}: not a results store; it was left as it is")
        if application and schema != SCHEMA:
            age = "an older" if schema < SCHEMA else "a newer"
            raise StoreError(
                f"store {self.path}: schema {schema} was written by {age} version of this "
                f"package, this one reads schema {SCHEMA}; it was left as it is"
            )
        found = self._db.execute("PRAGMA quick_check(1)").fetchone()[0]
        if found == "ok" and not self._whole():
            found = "the file is too short"
        if found != "ok":
            raise StoreError(f"store {self.path}: damaged ({found.splitlines()[0]}); it was left as it is")
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")  # a reported result survives a power cut too
        with self._db:
            self._db.execute("BEGIN IMMEDIATE")  # takes the lock; all of the schema or nothing
            if empty:
                self._db.execute(TABLE)
                self._db.execute(f"PRAGMA application_id = {APPLICATION}")
                self._db.execute(f"PRAGMA user_version = {SCHEMA}")

    def _whole(self) -> bool:
        """Whether the file has all its pages; SQLite reads the cut end of a last page as zeros."""
        log = Path(f"{self.path}-wal")
        if log.exists() and log.stat().st_size:  # left by a kill: pages may still be in there
            return True
        pages, size = (self._db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
        return self.path.stat().st_size >= pages * size

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            reason = str(error).splitlines()[0]
            if code == sqlite3.SQLITE_BUSY:
                reason = "in use by another process"
            elif code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
                reason = f"damaged or not a results store ({reason}); it was left as it is"
            raise StoreError(f"store {self.path}: {reason}") from error

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the file."""
        self._db.close()

    def keys(self) -> set[str]:
        """Return the set of keys (`identity.key`) of all stored cells."""
        with self._reporting():
            return {found for (found,) in self._db.execute("SELECT key FROM cells")}

    def put(self, cell: Any, rows: Iterable[Row], origin: Row) -> None:
        """Store the results of a cell, durable on return.

        Parameters
        ----------
        cell : dataclass instance or mapping
        rows : list of dict
            One flat dict per start: strings, booleans, integers and finite floats.
        origin : dict
            Values for `provenance.COLUMNS`.

        Raises
        ------
        BadInput
            A value is NaN, infinite or no scalar, a name is taken by the cell, or there is no row; or the
            cell's field `experiment`, which names a file, is no plain name.
        StoreError
            The cell is stored already, or the file cannot be written (disk full); nothing is stored then.
        """
        text = canonical(cell)
        fields = json.loads(text)
        if not re.fullmatch(r"[\w-]+", str(fields.get("experiment", ""))):
            raise BadInput("experiment", fields.get("experiment"), "a name of letters, digits, - and _")
        results = json.dumps(check_rows(rows, taken=RESERVED | fields.keys()))
        with self._reporting(), self._db:
            self._db.execute("INSERT INTO cells VALUES (?, ?, ?, ?)", (key(text), text, results, json.dumps(origin)))

    def experiments(self) -> list[str]:
        """Return the sorted names of the experiments that stored cells belong to."""
        with self._reporting():
            found = self._db.execute("SELECT DISTINCT json_extract(cell, '$.experiment') FROM cells")
            return sorted(name for (name,) in found)

    def items(self, experiment: str) -> Iterator[tuple[str, list[Row], Row]]:
        """Yield (canonical JSON of the cell, list of its rows, provenance dict), in order of the keys."""
        with self._reporting():
            for text, rows, origin in self._db.execute(
                "SELECT cell, results, provenance FROM cells WHERE json_extract(cell, '$.experiment') = ?",
                (experiment,),
            ):
                yield text, json.loads(rows), json.loads(origin)

    def add(self, items: Iterable[tuple[str, list[Row], Row]]) -> None:
        """Store those of `items` (as from `Store.items`) whose cell is missing, in one transaction."""
        with self._reporting(), self._db:
            self._db.executemany(
                "INSERT OR IGNORE INTO cells VALUES (?, ?, ?, ?)",
                ((key(text), text, json.dumps(rows), json.dumps(origin)) for text, rows, origin in items),
            )
