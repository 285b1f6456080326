"""The store of results and its Parquet files: nothing is lost or changed, and errors are clear."""

import contextlib
import errno
import os
import re
import sqlite3
import subprocess
from ast import literal_eval
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from hashlib import sha256
from itertools import pairwise
from operator import itemgetter
from types import SimpleNamespace
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cases import cases, write_files
from papermill.engines import NotebookExecutionManager
from toy_sweep import Cell, grid, work

from attention_book import experiments, paths
from attention_book.experiments import GRIDS, results
from attention_book.experiments.students import StudentCell
from attention_book.store import provenance, sweep
from attention_book.store.parquet import export, items, load
from attention_book.store.provenance import key, restore
from attention_book.store.sweep import Store, run
from attention_phases import BadInput, Task, records
from attention_phases.errors import StoreError, SweepError
from attention_phases.records import canonical, seed_sequence

ORIGIN = {**provenance.environment(), "cell_seconds": 0.1, "finished": "2000-01-01T00:00:00+00:00"}


@pytest.fixture
def full(tmp_path):
    """Return the path of a store with all cells."""
    with Store(tmp_path / "full.sqlite") as opened:
        fill(opened, grid())
    return opened.path


def fill(store, cells):
    """Store the results of the cells."""
    for cell in cells:
        store.put(cell, work(cell), ORIGIN)


# Names and seeds


def test_structure_changes_the_seed_and_where_there_is_none_it_stays_what_it_was():
    plain = StudentCell("toy", Task(omega=0.4), 2, 10, 3, "gd")
    for name, value in cases("structures"):
        cell = replace(plain, task=replace(plain.task, **{name: literal_eval(value)}))
        assert cell.rng().random() != plain.rng().random()
    # The record of a stored cell.
    task = {"omega": 0.4, "sigma": 0.5, "lam": 0.01, "matrix": ((0.6, 0.4), (0.4, 0.6))}
    assert plain.sentences() == {"task": task, "alpha": 2, "d": 10, "seed": 3}


@pytest.mark.parametrize("name", GRIDS)
def test_cells_come_back_from_their_text(name):
    for cell in experiments.grid(name, "smoke"):
        assert restore(type(cell), canonical(cell)) == cell


def test_key_and_seed_depend_on_the_record_alone():
    assert canonical(Cell(2)) == canonical(Cell(2.0))
    # These values must never change, because another rule would change every stored result.
    digest = sha256(b'{"alpha":1.5,"seed":1}').hexdigest()
    assert seed_sequence({"seed": 1, "alpha": 1.5}).entropy == int(digest, 16)
    assert key("{}") == "44136fa355b3678a1146ad16f7e8649e"  # with another key no store would recognise its cells


# Guarantees


def test_a_result_is_on_the_disk_before_it_is_told_of(store):
    assert store._pragma("synchronous") == 2  # FULL: the log is synchronised with every result
    assert store._pragma("journal_mode") == "wal" and store._pragma("locking_mode") == "exclusive"


def test_a_table_is_on_the_disk_before_it_has_its_name(tmp_path, store, monkeypatch):
    order = []
    fill(store, grid()[:2])
    for name in ("fsync", "replace"):
        done = getattr(os, name)

        def note(*arguments, name=name, done=done):
            order.append((name, os.fstat(arguments[0]).st_size if name == "fsync" else os.stat(arguments[0]).st_size))
            return done(*arguments)

        monkeypatch.setattr(os, name, note)
    (path,) = export(store, tmp_path)
    size = path.stat().st_size
    assert order == [("fsync", size), ("replace", size)]  # the complete file


@pytest.mark.parametrize(("changed", "end"), [("", ""), ("attention_phases/__init__.py", "+changes")])
def test_a_result_says_whether_its_code_is_that_of_the_commit(tmp_path, monkeypatch, changed, end):
    (tmp_path / "src/attention_phases").mkdir(parents=True)
    (tmp_path / "src/attention_phases/__init__.py").touch()
    monkeypatch.setattr(records, "SOURCE", tmp_path / "src")
    assert records._commit() is None  # outside a checkout
    git = ["git", "-C", tmp_path, "-c", "user.name=A", "-c", "user.email=a@b.c"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], check=True)
    if changed:
        (tmp_path / "src" / changed).write_text("# another\n", encoding="utf-8")
    (tmp_path / "results.txt").write_text("no code\n", encoding="utf-8")
    head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, encoding="utf-8").stdout.strip()
    assert len(head) == 40 and records._commit() == head + end


def test_the_digest_is_that_of_all_code_that_makes_results_and_of_no_other(tmp_path, monkeypatch):
    monkeypatch.setattr(provenance, "ROOT", tmp_path)
    folders = ("attention_phases", "attention_book/experiments", "attention_book/store", "attention_book/render")
    files = [f"{folder}/{name}" for folder in folders for name in ("a.py", "deeper/b.py")]
    write_files(tmp_path / "src", {name: name for name in files})
    seen = [provenance.source_digest.__wrapped__()]
    for name in files:
        (tmp_path / "src" / name).write_text("another", encoding="utf-8")
        seen.append(provenance.source_digest.__wrapped__())
    (tmp_path / "src/attention_phases/a.py").rename(tmp_path / "src/attention_phases/c.py")
    seen.append(provenance.source_digest.__wrapped__())
    changes = [before != after for before, after in pairwise(seen)]
    assert changes == [not name.startswith("attention_book/render") for name in files] + [True]


def test_a_cell_has_the_seconds_of_a_clock(store, monkeypatch):
    clock = iter((10.0, 12.5))
    monkeypatch.setattr(sweep.time, "perf_counter", lambda: next(clock))
    with ThreadPoolExecutor(1) as executor:
        run([Cell(1.0)], lambda cell: [{"q": 1.0}], store, executor, quiet=True)
    ((_, _, origin),) = store.items()
    assert origin["cell_seconds"] == 2.5 and origin["finished"].endswith("+00:00")


def test_a_stored_cell_took_little_longer_than_its_trainings():
    """For all experiments of students, training takes at least a twentieth of the time of a cell."""
    compared = 0
    for name in GRIDS:
        path = paths.DATA / f"{name}.parquet"
        if "seconds" in pq.read_schema(path).names:
            rows = pd.read_parquet(path, columns=["cell", "seconds", "cell_seconds"])
            used = rows.groupby("cell", observed=True).agg({"seconds": "sum", "cell_seconds": "first"})
            assert (used["seconds"] <= used["cell_seconds"]).all()
            assert (used["seconds"] / used["cell_seconds"]).median() > 0.05, name
            compared += 1
    assert compared > 20


# Errors


UNSTORABLE = [
    *(([{"q": value}], "q") for value in (float("nan"), [1.0], None)),
    ([{"q": 1.0}, {"q": 1.0, "m": np.float32("inf")}], "m"),
    ([{"steps": 2**63}], "steps"),
    ([{"alpha": 1.0}], "column name 'alpha' is taken"),
    ([{"commit": "abc"}], "column name 'commit' is taken"),
    ([], "rows"),
]


@pytest.mark.parametrize(("rows", "named"), UNSTORABLE, ids=str)
def test_bad_results_are_refused_by_name(store, rows, named):
    with pytest.raises(BadInput, match=rf"^{named}\b"):
        store.put(Cell(1.0), rows, ORIGIN)
    assert not store.keys()


DAMAGED, OTHER = "damaged|malformed|not a database", "no results of schema 1, .* but of"
NO_STORES = {
    **{f"{n} of it": (lambda whole, n=n: whole[: int(n * len(whole))], DAMAGED) for n in (0.05, 0.5, 0.99)},
    **{f"all but {n} bytes": (lambda whole, n=n: whole[:-n], DAMAGED) for n in (4096, 1)},
    **{f"{n} lines": (lambda _, n=n: b"alpha,q\n" * n, "not a database") for n in (1, 1000)},
    **{f"schema {n}": (lambda whole, n=n: whole[:60] + n.to_bytes(4) + whole[64:], f"{OTHER} {n}") for n in (0, 99)},
}


@pytest.mark.parametrize(("spoil", "reason"), NO_STORES.values(), ids=NO_STORES)
def test_what_is_no_store_is_refused_in_a_line_and_stays_as_it_is(full, spoil, reason):
    """The file is a part of a store, another file, or a database whose user version is not 0."""
    full.write_bytes(spoiled := spoil(full.read_bytes()))
    with pytest.raises(StoreError, match=reason) as caught:
        Store(full)
    assert "\n" not in str(caught.value) and str(full) in str(caught.value)
    assert full.read_bytes() == spoiled


@pytest.mark.parametrize(("place", "why"), cases("places"))
def test_unusable_path_is_one_line_that_says_why(tmp_path, place, why):
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=f"^store {re.escape(str(tmp_path / place))}: {why}$"):
        Store(tmp_path / place)


# Contents of the store


def test_a_cell_is_stored_once_and_comes_back_as_it_was(tmp_path):
    cell = Cell(0.1 + 0.2, seed=2**62)
    with Store(tmp_path / "s.sqlite") as opened:
        fill(opened, [cell])
    with Store(tmp_path / "s.sqlite") as opened:
        with pytest.raises(StoreError, match="UNIQUE"):
            opened.put(cell, [{"q": 1.0}], ORIGIN)
        ((text, rows, origin),) = opened.items()
        assert opened.keys() == {key(text)}
    assert restore(Cell, text) == cell
    assert [{**row, "seconds": 0} for row in rows] == [{**row, "seconds": 0} for row in work(cell)]
    assert origin == ORIGIN


def test_file_left_by_a_kill_while_it_was_made_is_a_new_store(tmp_path):
    db = sqlite3.connect(tmp_path / "s.sqlite")
    db.execute("PRAGMA journal_mode = WAL")
    db.close()
    with Store(tmp_path / "s.sqlite") as opened:
        fill(opened, [Cell(1.0)])
        assert len(opened.keys()) == 1


# Tables


def test_a_full_disk_leaves_the_old_table(tmp_path, store, monkeypatch):
    fill(store, grid()[:5])
    (path,) = export(store, tmp_path / "data")
    before = path.read_bytes()

    monkeypatch.setattr(pq, "write_table", Mock(side_effect=OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))))
    with pytest.raises(StoreError, match=r"toy\.parquet: .*No space left") as caught:
        export(store, tmp_path / "data")
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == before and list(path.parent.iterdir()) == [path]


def test_export_is_sorted_typed_and_the_same_in_any_order(tmp_path, full, store):
    with Store(full) as results:
        for text, rows, origin in reversed(list(results.items())):
            store.put(restore(Cell, text), rows, origin)
        assert export(results, tmp_path / "a") == [tmp_path / "a" / "toy.parquet"]
    export(store, tmp_path / "b")
    first, second = (tmp_path / name / "toy.parquet" for name in "ab")
    assert first.read_bytes() == second.read_bytes()
    assert os.listdir(tmp_path / "a") == ["toy.parquet"]
    frame = load(first)
    assert frame["alpha"].tolist() == sorted([0.1, 0.2, 0.1 + 0.2] * 40)
    assert frame["start"].tolist() == ["semantic", "positional"] * 60
    assert set(frame["matrix"]) == {"[[0.6,0.4],[0.4,0.6]]"}
    assert frame["q"].dtype == np.float64 and frame["steps"].dtype == np.int64
    assert set(provenance.ORIGIN) < set(frame.columns)
    assert set(frame["version"]) == {ORIGIN["version"]} and set(frame["cpu"]) == {ORIGIN["cpu"]}
    assert b'"schema": 1' in pq.read_schema(first).metadata[b"attention_phases"]


def test_a_table_gives_back_every_bit_and_loses_nothing(tmp_path, full, store):
    with Store(full) as results:
        (path,) = export(results, tmp_path)
        assert sorted(items(path), key=itemgetter(0)) == sorted(results.items(), key=itemgetter(0))
    fill(store, [Cell(0.1, seed=100), Cell(1.0, experiment="toy_2")])
    # The existing files remain.
    assert [path.name for path in export(store, tmp_path)] == ["toy.parquet", "toy_2.parquet"]
    assert len(load(path)) == 122


@pytest.mark.parametrize(
    ("failure", "lost"), [(None, 0), (ArithmeticError("no fixed point"), 1), (SweepError("the cluster was lost"), 2)]
)
def test_of_table_store_and_worker_each_gives_what_the_ones_before_lack(tmp_path, monkeypatch, failure, lost):
    """Each row records its origin: the table comes first, then a store that has some of the same cells, then the
    worker.
    """
    every, failures = grid()[:7], [failure] if failure else []

    def rows_of(cell, maker):
        return [{"start": start, "q": 100 * cell.seed + k, "maker": maker} for k, start in enumerate(cell.starts)]

    def worker(cell):
        if cell == every[5] and failures:
            raise failures.pop()
        return rows_of(cell, "worker")

    monkeypatch.setattr(results, "compute_rows", worker)
    tables = tmp_path / "data"
    for maker, some in (("table", every[:4]), ("store", every[2:5])):
        with Store(tmp_path / f"{maker}.sqlite") as opened:
            for cell in some:
                opened.put(cell, rows_of(cell, maker), ORIGIN | {"cell_seconds": float(len(maker) + cell.seed)})
            if maker == "table":
                (path,) = export(opened, tables)
    arguments = every, tmp_path / "store.sqlite", tables, None, True
    with pytest.raises(SweepError, match=r"1 of 7 cells failed|lost") if failure else contextlib.nullcontext():
        assert results.compute(*arguments, in_process=True) == (2, 5, {}, 2)
    makers = ["table"] * 2 + ["store"] * 3 + ["worker"] * 2
    known = {canonical(cell): rows_of(cell, maker) for cell, maker in zip(every, makers)}
    for cell in every[5 : 5 + lost]:
        del known[canonical(cell)]
    assert {text: rows for text, rows, _ in items(path)} == known
    seconds = {text: origin["cell_seconds"] for text, _, origin in items(path)}
    assert [seconds[canonical(cell)] for cell in every[:5]] == [5.0, 6.0, 7.0, 8.0, 9.0]
    (tmp_path / "store.sqlite").unlink()
    assert results.compute(*arguments, in_process=True) == (lost, 7 - lost, {}, 7 - lost)
    rows = results.cell_rows(path, every[1:3])
    assert rows["maker"].tolist() == ["table"] * 2 + ["store"] * 2
    assert set(rows["cell"]) == {*map(canonical, every[1:3])}
    assert results.cell_rows(path, [Cell(9.0)]) is None


def test_results_of_different_shape_share_a_file(tmp_path, store):
    store.put(Cell(1.0), [{"q": 1, "converged": True}], ORIGIN)
    smallest = [{"q": 5e-324, "note": "the smallest float"}]
    store.put(Cell(3.0), smallest, ORIGIN)
    store.put(Cell(2.0), [{"q": 0.5, "note": "a"}], ORIGIN)
    (path,) = export(store, tmp_path)
    known = [[{"q": 1.0, "converged": True}], [{"q": 0.5, "note": "a"}], smallest]
    assert [rows for _, rows, _ in items(path)] == known


@pytest.mark.parametrize(("one", "other"), [(1.0, "text"), (0.5, 2**53 + 1), (True, 2)])
def test_column_that_no_type_holds_exactly_is_one_clear_error(tmp_path, store, one, other):
    store.put(Cell(1.0), [{"q": one}], ORIGIN)
    store.put(Cell(2.0), [{"q": other}], ORIGIN)
    with pytest.raises(StoreError, match=r"toy\.parquet"):
        export(store, tmp_path)
    assert not list(tmp_path.glob("*.parquet*"))


@pytest.mark.parametrize("share", [0.0, 0.3, 0.5, 0.9, 0.999])
def test_damaged_or_foreign_table_is_one_line_that_names_it(tmp_path, store, share):
    fill(store, grid()[:9])
    (path,) = export(store, tmp_path)
    os.truncate(path, int(share * path.stat().st_size))
    before = path.read_bytes()
    for read in (load, lambda path: list(items(path)), lambda path: export(store, path.parent)):
        with pytest.raises(StoreError) as caught:
            read(path)
        assert str(caught.value).startswith(f"{path}: ") and "\n" not in str(caught.value)
    assert path.read_bytes() == before
    pq.write_table(pa.table({"q": [1.0]}), path)
    with pytest.raises(StoreError, match="schema None"):
        load(path)
    with pytest.raises(StoreError, match="missing"):
        load(tmp_path / "missing.parquet")
    with pytest.raises(StoreError, match="is a directory"):
        load(tmp_path)


def test_a_missing_table_says_how_it_is_computed(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "DATA", tmp_path)
    with pytest.raises(StoreError, match="attention-phases sweep fig02 --profile paper"):
        paths.stored_table("fig02")
    (tmp_path / "fig02.parquet").touch()
    assert paths.stored_table("fig02") == tmp_path / "fig02.parquet"


# Messages for users who wait or stop


@pytest.mark.parametrize(("known", "elsewhere"), [(0, ""), (2, ", 2 more in the table")])
def test_a_stop_says_how_many_cells_are_kept_and_where(tmp_path, known, elsewhere):
    class Stopped(Store):
        def put(self, cell, *results):
            super().put(cell, *results)
            if cell == grid()[known + 2]:  # stored, and not yet counted
                raise KeyboardInterrupt

    there = {canonical(cell) for cell in [*grid()[:known], Cell(7.0)]}
    said = f"stopped: 3 of {len(grid())} cells are kept in {tmp_path / 's.sqlite'}{elsewhere}; run again to go on"
    with Stopped(tmp_path / "s.sqlite") as store, ThreadPoolExecutor(1) as pool:
        with pytest.raises(KeyboardInterrupt, match=re.escape(said)):
            run(grid(), work, store, pool, known=there)
        assert run(grid(), work, store, pool, known=there).skipped == 3 + known


def test_a_stop_after_the_last_cell_says_so_too(tmp_path, monkeypatch, in_this_process):
    monkeypatch.setattr(results, "export", Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt, match=f"^stopped: cells .* are kept in {tmp_path}/s.sqlite; run again"):
        results.sweep({"alpha": 1.0, "d": 20, "seeds": 1}, tmp_path / "s.sqlite", workers=1, quiet=True)


def of_notebook():
    return NotebookExecutionManager(SimpleNamespace(cells=[0] * 640), progress_bar=sweep.bar_or_lines("{elapsed} long"))


LOGS = [(lambda: sweep.progress(640, "cell"), "left", 9, 8), (of_notebook, "long", 1, 2)]


@pytest.mark.parametrize(("start", "word", "first", "second"), LOGS)
def test_a_log_has_at_most_a_line_a_minute_of_what_takes_longer(capsys, start, word, first, second):
    work, told = start(), []
    bar = getattr(work, "pbar", work)
    for done, passed in ((1, 0.0), (63, 61.0), (1, 1.0), (63, 60.0)):
        bar.start_t, bar.last_print_t = bar.start_t - passed, bar.last_print_t - passed
        bar.update(done)
        told.append(capsys.readouterr().err.strip())
    assert told[0] == told[2] == "" and re.fullmatch(rf".*cell 64 of 640, 0{first}:0\d {word}", told[1])
    assert re.fullmatch(rf".*cell 128 of 640, 0{second}:0\d {word}", told[3])
