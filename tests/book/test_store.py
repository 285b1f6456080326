"""The results store and its Parquet files: nothing lost, nothing altered, clear errors."""

import os
import sqlite3
import struct
import subprocess
import sys
from dataclasses import make_dataclass, replace
from hashlib import sha256

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toy_sweep import Cell, grid, table, work

from attention_book.store import provenance
from attention_book.store.database import Store, export, import_parquet, load
from attention_book.store.identity import canonical, flattened, key, restore, seed_sequence
from attention_phases.errors import BadInput, StoreError

ORIGIN = {**provenance.environment(), "cell_seconds": 0.1, "finished": "2000-01-01T00:00:00+00:00"}


def fill(path, cells):
    """Store the cells' results at `path`."""
    with Store(path) as results:
        for cell in cells:
            results.put(cell, work(cell), ORIGIN)


def items(path):
    """Everything in the store at `path`."""
    with Store(path) as results:
        return list(results.items("toy"))


def refused(path, pattern):
    """Opening `path` raises a one-line `StoreError` that matches, and leaves the file's bytes alone."""
    before = path.read_bytes()
    with pytest.raises(StoreError, match=pattern) as caught:
        Store(path)
    assert "\n" not in str(caught.value) and str(path) in str(caught.value)
    assert path.read_bytes() == before


def test_round_trip(tmp_path):
    cell = Cell(0.1 + 0.2, seed=2**62)
    rows = work(cell)
    with Store(tmp_path / "s.sqlite") as results:
        results.put(cell, rows, ORIGIN)
    with Store(tmp_path / "s.sqlite") as results:
        ((text, stored, origin),) = results.items("toy")
        assert results.keys() == {key(text)}
    assert restore(Cell, text) == cell
    assert stored == rows and origin == ORIGIN


def test_key_does_not_depend_on_field_order_or_hash_seed():
    reordered = make_dataclass("Reordered", reversed([*Cell.__dataclass_fields__]), frozen=True)
    cell = Cell(2.0, seed=3)
    assert canonical(reordered(**flattened(cell))) == canonical(cell)
    script = "from toy_sweep import *; print(key(canonical(Cell(2.0, seed=3))))"
    run = subprocess.run(
        [sys.executable, "-c", script],
        text=True,
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert run.stdout.strip() == key(canonical(cell))


def test_equal_cells_have_one_key_and_different_cells_different_ones():
    assert canonical(Cell(2)) == canonical(Cell(2.0)) == canonical(Cell(np.float64(2)))
    cells = [*grid(), replace(grid()[0], starts=("semantic",)), replace(grid()[0], alpha=np.nextafter(0.1, 1))]
    assert len({key(canonical(cell)) for cell in cells}) == len(cells)


def test_seed_depends_on_the_record_alone():
    state = seed_sequence(Cell(1.5, seed=1)).generate_state(4).tolist()
    assert state == seed_sequence(flattened(Cell(1.5, seed=1))).generate_state(4).tolist()
    assert state != seed_sequence(Cell(1.5, seed=2)).generate_state(4).tolist()
    # As it must stay: another rule would silently change every stored result.
    digest = sha256(b'{"alpha":1.5,"seed":1}').hexdigest()
    assert seed_sequence({"seed": 1, "alpha": 1.5}).entropy == int(digest, 16)


@pytest.mark.parametrize("alpha", [float("nan"), float("inf"), object(), np.int64(1), 2**63])
def test_cell_without_json_form_is_refused(alpha):
    with pytest.raises(BadInput, match="alpha"):
        canonical({"alpha": alpha})


@pytest.mark.parametrize(
    ("rows", "named"),
    [
        ([{"q": float("nan")}], "q"),
        ([{"q": 1.0}, {"q": 1.0, "m": np.float32("inf")}], "m"),
        ([{"q": [1.0]}], "q"),
        ([{"q": None}], "q"),
        ([{"steps": 2**63}], "steps"),
        ([{"alpha": 1.0}], "column = alpha"),
        ([{"commit": "abc"}], "column = commit"),
        ([], "rows"),
    ],
)
def test_bad_results_are_refused_by_name(tmp_path, rows, named):
    with Store(tmp_path / "s.sqlite") as results:
        with pytest.raises(BadInput, match=rf"^{named}\b"):
            results.put(Cell(1.0), rows, ORIGIN)
        assert not results.keys()


@pytest.mark.parametrize("experiment", ["", "../fig02", "a b"])
def test_experiment_must_name_a_file(tmp_path, experiment):
    with Store(tmp_path / "s.sqlite") as results, pytest.raises(BadInput, match="experiment"):
        results.put(Cell(1.0, experiment=experiment), [{"q": 1.0}], ORIGIN)


def test_a_cell_is_stored_once(tmp_path):
    fill(tmp_path / "s.sqlite", [Cell(1.0)])
    before = items(tmp_path / "s.sqlite")
    with pytest.raises(StoreError, match="UNIQUE"):
        fill(tmp_path / "s.sqlite", [Cell(1.0)])
    assert items(tmp_path / "s.sqlite") == before


def test_second_writer_is_refused_at_once(tmp_path):
    path = tmp_path / "s.sqlite"
    script = "import sys; from attention_book.store.database import Store; Store(sys.argv[1])"
    with Store(path) as results:
        with pytest.raises(StoreError, match="in use by another process"):
            Store(path)
        other = subprocess.run(
            [sys.executable, "-c", script, path],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            timeout=30,
        )
        assert "StoreError" in other.stderr and "in use by another process" in other.stderr
        results.put(Cell(1.0), work(Cell(1.0)), ORIGIN)
    assert len(items(path)) == 1


@pytest.mark.parametrize("share", [0.05, 0.5, 0.99, 0.99999])
def test_truncated_store_is_refused(tmp_path, share):
    path = tmp_path / "s.sqlite"
    fill(path, grid())
    os.truncate(path, int(share * path.stat().st_size))
    refused(path, "damaged")


def test_store_that_lost_its_last_page_is_refused(tmp_path):
    path = tmp_path / "s.sqlite"
    fill(path, grid())
    os.truncate(path, path.stat().st_size - 4096)
    refused(path, "damaged")


def test_foreign_files_are_refused(tmp_path):
    text, other = tmp_path / "notes.txt", tmp_path / "other.sqlite"
    text.write_text("alpha,q\n" * 1000)
    refused(text, "not a results store")
    with sqlite3.connect(other) as db:
        db.execute("CREATE TABLE cells (key TEXT)")
    db.close()
    refused(other, "not a results store")


@pytest.mark.parametrize(("schema", "age"), [(0, "an older"), (99, "a newer")])
def test_other_schema_is_refused(tmp_path, schema, age):
    path = tmp_path / "s.sqlite"
    fill(path, grid()[:3])
    with sqlite3.connect(path) as db:
        db.execute(f"PRAGMA user_version = {schema}")
    db.close()
    refused(path, f"schema {schema} was written by {age} version")


def test_file_left_by_a_kill_while_it_was_made_is_a_new_store(tmp_path):
    path = tmp_path / "s.sqlite"
    db = sqlite3.connect(path)
    db.execute("PRAGMA journal_mode = WAL")
    db.close()
    fill(path, [Cell(1.0)])
    assert len(items(path)) == 1


@pytest.mark.parametrize(("pragma", "reason"), [("max_page_count = 4", "full"), ("query_only = 1", "readonly")])
def test_full_or_read_only_disk_loses_nothing(tmp_path, pragma, reason):
    path = tmp_path / "s.sqlite"
    stored = 0
    with Store(path) as results:
        results.put(Cell(0.5), work(Cell(0.5)), ORIGIN)
        results._db.execute(f"PRAGMA {pragma}")  # what a full or read-only disk does, without one
        with pytest.raises(StoreError, match=reason):
            for cell in grid():
                results.put(cell, work(cell), ORIGIN)
                stored += 1
    assert len(items(path)) == 1 + stored


@pytest.mark.parametrize("place", ["missing/s.sqlite", "."])
def test_unusable_path_is_one_line(tmp_path, place):
    with pytest.raises(StoreError, match="unable to open"):
        Store(tmp_path / place)


def test_export_is_sorted_typed_and_the_same_twice(tmp_path):
    fill(tmp_path / "a.sqlite", grid())
    with Store(tmp_path / "a.sqlite") as results, Store(tmp_path / "b.sqlite") as shuffled:
        shuffled.add(reversed(list(results.items("toy"))))
        assert export(results, tmp_path / "a") == [tmp_path / "a" / "toy.parquet"]
        export(shuffled, tmp_path / "b")
    first, second = (tmp_path / name / "toy.parquet" for name in "ab")
    assert first.read_bytes() == second.read_bytes()
    assert os.listdir(tmp_path / "a") == ["toy.parquet"]
    frame = load(first)
    assert frame["alpha"].tolist() == sorted([0.1, 0.2, 0.1 + 0.2] * 40)
    assert frame["start"].tolist() == ["semantic", "positional"] * 60
    assert set(frame["matrix"]) == {"[[0.6,0.4],[0.4,0.6]]"}
    assert frame["q"].dtype == np.float64 and frame["steps"].dtype == np.int64
    assert set(provenance.COLUMNS) < set(frame.columns)
    assert set(frame["version"]) == {ORIGIN["version"]} and set(frame["cpu"]) == {ORIGIN["cpu"]}
    assert b'"schema": 1' in pq.read_schema(first).metadata[b"attention_phases"]


def test_experiments_have_a_file_each(tmp_path):
    fill(tmp_path / "s.sqlite", [Cell(1.0), Cell(1.0, experiment="toy_2")])
    with Store(tmp_path / "s.sqlite") as results:
        assert [path.name for path in export(results, tmp_path)] == ["toy.parquet", "toy_2.parquet"]
    assert len(load(tmp_path / "toy_2.parquet")) == 2


def test_failed_export_keeps_the_old_file(tmp_path, monkeypatch):
    fill(tmp_path / "s.sqlite", [Cell(1.0)])
    with Store(tmp_path / "s.sqlite") as results:
        (path,) = export(results, tmp_path / "data")
        before = path.read_bytes()
        results.put(Cell(2.0), work(Cell(2.0)), ORIGIN)

        def full_disk(*_, **__):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(pq, "write_table", full_disk)
        with pytest.raises(StoreError, match="No space left"):
            export(results, tmp_path / "data")
    assert path.read_bytes() == before
    assert os.listdir(tmp_path / "data") == ["toy.parquet"]


def test_import_gives_back_every_bit(tmp_path):
    fill(tmp_path / "a.sqlite", grid())
    with Store(tmp_path / "a.sqlite") as results:
        (path,) = export(results, tmp_path)
        first = path.read_bytes()
    with Store(tmp_path / "b.sqlite") as results:
        import_parquet(results, path)
        import_parquet(results, path)  # a second time adds nothing
    assert items(tmp_path / "b.sqlite") == items(tmp_path / "a.sqlite")
    with Store(tmp_path / "b.sqlite") as results:
        export(results, tmp_path)
    assert path.read_bytes() == first


def test_export_never_drops_what_the_file_has(tmp_path):
    fill(tmp_path / "a.sqlite", grid()[:40])
    fill(tmp_path / "b.sqlite", grid()[20:])
    with Store(tmp_path / "a.sqlite") as a, Store(tmp_path / "b.sqlite") as b:
        (path,) = export(a, tmp_path)
        earlier = load(path)
        export(b, tmp_path)
    union = load(path)
    assert len(union) == 120
    ours = union[union["cell"].isin([canonical(cell) for cell in grid()[:20]])]
    before = earlier[earlier["cell"].isin([canonical(cell) for cell in grid()[:20]])]
    assert table(ours).astype(str).values.tolist() == table(before).astype(str).values.tolist()


def test_results_of_different_shape_share_a_file(tmp_path):
    with Store(tmp_path / "s.sqlite") as results:
        results.put(Cell(1.0), [{"q": 1, "converged": True}], ORIGIN)
        results.put(Cell(2.0), [{"q": 0.5, "note": "a"}], ORIGIN)
        (path,) = export(results, tmp_path)
    with Store(tmp_path / "t.sqlite") as results:
        import_parquet(results, path)
        assert [rows for _, rows, _ in sorted(results.items("toy"))] == [
            [{"q": 1.0, "converged": True}],
            [{"q": 0.5, "note": "a"}],
        ]


@pytest.mark.parametrize(("one", "other"), [(1.0, "text"), (0.5, 2**53 + 1), (True, 2)])
def test_column_that_no_type_holds_exactly_is_one_clear_error(tmp_path, one, other):
    with Store(tmp_path / "s.sqlite") as results:
        results.put(Cell(1.0), [{"q": one}], ORIGIN)
        results.put(Cell(2.0), [{"q": other}], ORIGIN)
        with pytest.raises(StoreError, match=r"toy\.parquet"):
            export(results, tmp_path)
    assert not list(tmp_path.glob("*.parquet*"))


def test_damaged_or_foreign_parquet_is_refused(tmp_path):
    fill(tmp_path / "s.sqlite", grid())
    with Store(tmp_path / "s.sqlite") as results:
        (path,) = export(results, tmp_path)
        os.truncate(path, path.stat().st_size // 2)
        before = path.read_bytes()
        for attempt in (lambda: import_parquet(results, path), lambda: load(path), lambda: export(results, tmp_path)):
            with pytest.raises(StoreError, match=r"toy\.parquet") as caught:
                attempt()
            assert "\n" not in str(caught.value)
        assert path.read_bytes() == before
        pq.write_table(pa.table({"q": [1.0]}), path)
        with pytest.raises(StoreError, match="schema None"):
            load(path)
        with pytest.raises(StoreError, match="missing"):
            load(tmp_path / "missing.parquet")


@pytest.mark.slow
@settings(deadline=None, max_examples=50)  # each example writes three files
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20, unique=True))
def test_floats_come_back_bit_for_bit(tmp_path_factory, values):
    folder = tmp_path_factory.mktemp("floats")
    bits = [struct.pack("<d", value) for value in values]
    cells = [Cell(value, seed=position) for position, value in enumerate(values)]
    with Store(folder / "a.sqlite") as results:
        for cell in cells:
            results.put(cell, [{"q": cell.alpha}], ORIGIN)
        (path,) = export(results, folder)
    with Store(folder / "b.sqlite") as results:
        import_parquet(results, path)
        found = {restore(Cell, text): rows[0]["q"] for text, rows, _ in results.items("toy")}
    assert [struct.pack("<d", found[cell]) for cell in cells] == bits
    assert {struct.pack("<d", cell.alpha) for cell in found} == set(bits)
    frame = load(path)
    assert sorted(zip(frame["seed"], map(struct.Struct("<d").pack, frame["q"]))) == list(enumerate(bits))
