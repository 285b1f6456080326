"""The results of a sweep while it runs: an SQLite file with one row a cell, each written in one transaction.

One process writes. After a kill at any moment every cell that was reported is there.
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

SCHEMA = 1
APPLICATION = 0x41545048  # "ATPH", marks the SQLite file as ours
SMALLEST = 512  # bytes of an SQLite file: its smallest page
TABLE = "CREATE TABLE cells (key TEXT PRIMARY KEY, cell TEXT, results TEXT, provenance TEXT) WITHOUT ROWID"
RESERVED = {"cell", *provenance.COLUMNS}


class Store:
    """Results by cell in an SQLite file, made if missing and held by one process from opening to closing.

    A file that is in use, damaged, no results store or of another schema is a `StoreError`, and left as it was.
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
            self._refuse("not a results store")
        # Exclusive: the lock lasts until close, and no shared memory is needed (network file systems).
        self._db.execute("PRAGMA locking_mode = EXCLUSIVE")
        application, schema = self._pragma("application_id"), self._pragma("user_version")
        empty = not self._db.execute("SELECT 1 FROM sqlite_master").fetchone()
        if application != APPLICATION and not (empty and application == schema == 0):
            self._refuse("not a results store")
        if application and schema != SCHEMA:
            age = "an older" if schema < SCHEMA else "a newer"
            self._refuse(f"schema {schema} was written by {age} version of this package, this one reads {SCHEMA}")
        damage = str(self._pragma("quick_check(1)")).splitlines()[0]
        if damage == "ok" and not self._whole():
            damage = "the file is too short"
        if damage != "ok":
            self._refuse(f"damaged ({damage})")
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")  # a reported result survives a power cut too
        with self._db:
            self._db.execute("BEGIN IMMEDIATE")  # takes the lock; all of the schema or nothing
            if empty:
                self._db.execute(TABLE)
                self._db.execute(f"PRAGMA application_id = {APPLICATION}")
                self._db.execute(f"PRAGMA user_version = {SCHEMA}")

    def _pragma(self, name: str) -> Any:
        return self._db.execute(f"PRAGMA {name}").fetchone()[0]

    def _refuse(self, reason: str) -> None:
        raise StoreError(f"store {self.path}: {reason}; it was left as it is")

    def _whole(self) -> bool:
        """Whether the file has all its pages; SQLite reads the cut end of a last page as zeros."""
        log = Path(f"{self.path}-wal")
        if log.exists() and log.stat().st_size:  # left by a kill: pages may still be in there
            return True
        return self.path.stat().st_size >= self._pragma("page_count") * self._pragma("page_size")

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
        """Return the keys (`identity.key`) of all stored cells."""
        with self._reporting():
            return {stored for (stored,) in self._db.execute("SELECT key FROM cells")}

    def put(self, cell: Any, rows: Iterable[Row], origin: Row) -> None:
        """Store the results of a cell, durable on return. A cell that is stored already is a `StoreError`.

        Args:
            cell: its field `experiment` names a file.
            rows: one flat dict a start, see `identity.check_rows`, without the cell's own names.
            origin: values for `provenance.COLUMNS`.
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
            names = self._db.execute("SELECT DISTINCT json_extract(cell, '$.experiment') FROM cells")
            return sorted(name for (name,) in names)

    def items(self, experiment: str) -> Iterator[tuple[str, list[Row], Row]]:
        """Yield the canonical JSON of a cell, its rows and its provenance, in order of the keys."""
        with self._reporting():
            for text, rows, origin in self._db.execute(
                "SELECT cell, results, provenance FROM cells WHERE json_extract(cell, '$.experiment') = ?",
                (experiment,),
            ):
                yield text, json.loads(rows), json.loads(origin)
