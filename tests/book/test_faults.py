"""What goes wrong around the program: too little memory or disk, a reader that left.

Each is a clear line, and nothing that was reported is lost.
"""

import errno
import os
import resource
import signal
from concurrent.futures import ThreadPoolExecutor

import pyarrow.parquet as pq
import pytest
from toy_sweep import grid, work

from attention_book.store import provenance, running
from attention_book.store.database import Store
from attention_book.store.parquet import export
from attention_phases.errors import StoreError

GIB = 2**30
FEW = ("--points", "64", "--scrambles", "4")


def limited(kind, size):
    """A function that sets a limit of this process; for files, so that writing fails instead of killing it."""

    def limit():
        resource.setrlimit(kind, (size, size))
        if kind == resource.RLIMIT_FSIZE:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    return limit


# Memory


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("theory", "--alpha", 2, "--branch", "semantic", *FEW), 0),
        (("simulate", "--alpha", 1, "--d", 50, "--init", "semantic", "--seeds", 1), 0),
        (("simulate", "--alpha", 2, "--d", 12000, "--init", "semantic", "--seeds", 1), 1),
    ],
    ids=["theory", "simulate", "too large"],
)
def test_with_six_gibibytes_a_command_succeeds_or_says_what_is_too_large(python, arguments, code):
    done = python("-m", "attention_book.cli", *arguments, "--json", preexec_fn=limited(resource.RLIMIT_AS, 6 * GIB))
    assert done.returncode == code, done.stderr
    assert done.stderr.count("\n") == (code > 0) and done.stderr.startswith("no result at these parameters: " * code)


# Disk


def test_a_full_disk_keeps_what_was_stored(python, tmp_path):
    """A limit on the size of files: the sweep stops with a line, and goes on when there is room."""
    script = (
        "import sys; from concurrent.futures import ThreadPoolExecutor; from toy_sweep import *\n"
        "with Store(sys.argv[1]) as results, ThreadPoolExecutor(1) as executor:\n"
        "    running.run(grid(), work, results, executor, quiet=True)"
    )
    full = python("-c", script, tmp_path / "s.sqlite", preexec_fn=limited(resource.RLIMIT_FSIZE, 60_000))
    assert full.returncode == 1
    assert full.stderr.splitlines()[-1].startswith("attention_phases.errors.StoreError: store")
    with Store(tmp_path / "s.sqlite") as results:
        stored = {text for text, *_ in results.items()}
    assert 0 < len(stored) < 60
    with Store(tmp_path / "s.sqlite") as results, ThreadPoolExecutor(1) as executor:
        assert running.run(grid(), work, results, executor, quiet=True) == (60 - len(stored), len(stored), [])


def export_grid(folder, some):
    """A table of toy cells as exported."""
    with Store(folder / "s.sqlite") as stored:
        for cell in some:
            stored.put(cell, work(cell), provenance.environment() | {"cell_seconds": 0.1, "finished": ""})
        (path,) = export(stored, folder / "data")
    return path


def test_a_full_disk_leaves_the_old_table(tmp_path, monkeypatch):
    path = export_grid(tmp_path, grid()[:5])
    before = path.read_bytes()

    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(pq, "write_table", full)
    with pytest.raises(StoreError, match=r"toy\.parquet: .*No space left") as caught:
        export_grid(tmp_path, grid()[5:9])
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == before and list(path.parent.iterdir()) == [path]


def test_a_closed_pipe_ends_quietly(python):
    reader, writer = os.pipe()
    os.close(reader)
    done = python("-m", "attention_book.cli", "figures", "--list", stdout=writer)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")
