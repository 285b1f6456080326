"""The results of a sweep while it runs: an SQLite file with one row a cell, each written in one transaction.

One process writes. After a kill at any moment every cell that was reported is there.
"""

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attention_phases.errors import StoreError

from . import provenance
from .identity import Row, canonical, check_rows, key

SCHEMA = 1
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
        # Exclusive: the lock lasts until close, and no shared memory is needed (network file systems).
        self._db.execute("PRAGMA locking_mode = EXCLUSIVE")
        empty = not self._db.execute("SELECT 1 FROM sqlite_master").fetchone()
        schema = self._pragma("user_version")
        if not empty and schema != SCHEMA:
            self._refuse(f"no results of schema {SCHEMA}, which this version reads, but of {schema}")
        if (damage := self._damage()) != "ok":
            self._refuse(f"damaged ({damage})")
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")  # a reported result survives a power cut too
        with self._db:
            self._db.execute("BEGIN IMMEDIATE")  # takes the lock; all of the schema or nothing
            if empty:
                self._db.execute(TABLE)
                self._db.execute(f"PRAGMA user_version = {SCHEMA}")

    def _pragma(self, name: str) -> Any:
        return self._db.execute(f"PRAGMA {name}").fetchone()[0]

    def _refuse(self, reason: str) -> None:
        raise StoreError(f"store {self.path}: {reason}; it was left as it is")

    def _damage(self) -> str:
        """What is wrong with the file, or "ok"."""
        damage = str(self._pragma("quick_check(1)")).splitlines()[0]
        log = Path(f"{self.path}-wal")
        pages_in_log = log.exists() and log.stat().st_size  # left by a kill
        size = self._pragma("page_count") * self._pragma("page_size")
        # SQLite itself reads the cut end of a last page as zeros.
        too_short = self.path.stat().st_size < size and not pages_in_log
        return "the file is too short" if damage == "ok" and too_short else damage

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            busy = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
            reason = "in use by another process" if busy else str(error).splitlines()[0]
            raise StoreError(f"store {self.path}: {reason}") from error

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *error: object) -> None:
        self._db.close()

    def keys(self) -> set[str]:
        """Return the keys (`identity.key`) of all stored cells."""
        with self._reporting():
            return {stored for (stored,) in self._db.execute("SELECT key FROM cells")}

    def put(self, cell: Any, rows: Iterable[Row], origin: Row) -> None:
        """Store the results of a cell, durable on return. A cell that is stored already is a `StoreError`.

        Args:
            rows: one flat dict a start, see `identity.check_rows`, without the cell's own names.
            origin: values for `provenance.COLUMNS`.
        """
        text = canonical(cell)
        results = json.dumps(check_rows(rows, taken=RESERVED | json.loads(text).keys()))
        with self._reporting(), self._db:
            self._db.execute("INSERT INTO cells VALUES (?, ?, ?, ?)", (key(text), text, results, json.dumps(origin)))

    def items(self) -> Iterator[tuple[str, list[Row], Row]]:
        """Yield the canonical JSON of each cell, its rows and its provenance, in order of the keys."""
        with self._reporting():
            for text, rows, origin in self._db.execute("SELECT cell, results, provenance FROM cells"):
                yield text, json.loads(rows), json.loads(origin)
