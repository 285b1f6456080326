"""What goes wrong around the program: too little memory or disk, a folder that cannot be written, a reader that left.

Each is a clear line, and nothing that was reported is lost.
"""

import errno
import os
import resource
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import browser
import pyarrow.parquet as pq
import pytest
from toy_sweep import Cell, grid, work

from attention_book import cli, experiments
from attention_book.experiments import cells, results
from attention_book.store import provenance, running
from attention_book.store.database import Store
from attention_book.store.parquet import export
from attention_phases.errors import StoreError
from attention_phases.task import Task

GIB = 2**30
FEW = ("--points", "64", "--scrambles", "4")


def process(*arguments, before=None, **options):
    """The command line as a process of its own, with one thread; `before` runs in it first, to set limits."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    environment |= dict.fromkeys(("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    command = [sys.executable, "-m", "attention_book.cli", *map(str, arguments)]
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.run(command, env=environment, text=True, timeout=300, preexec_fn=before, **options)


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
def test_with_six_gibibytes_a_command_succeeds_or_says_what_is_too_large(arguments, code):
    done = process(*arguments, "--json", before=limited(resource.RLIMIT_AS, 6 * GIB))
    assert done.returncode == code, done.stderr
    assert done.stderr.count("\n") == (code > 0) and done.stderr.startswith("no result at these parameters: " * code)


# Disk


def test_a_full_disk_keeps_what_was_stored(tmp_path):
    """A limit on the size of files: the sweep stops with a line, and goes on when there is room."""
    script = (
        "import sys; from concurrent.futures import ThreadPoolExecutor; from toy_sweep import *\n"
        "with Store(sys.argv[1]) as results, ThreadPoolExecutor(1) as executor:\n"
        "    running.run(grid(), work, results, executor, quiet=True)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", script, tmp_path / "s.sqlite"]
    limit = limited(resource.RLIMIT_FSIZE, 60_000)
    full = subprocess.run(command, env=environment, capture_output=True, text=True, preexec_fn=limit)
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


SYSTEM = "/proc/sys"  # of Linux: not even root makes files there


@pytest.mark.parametrize("below", ["a file", *filter(os.path.isdir, [SYSTEM])])
@pytest.mark.parametrize("option", ["--store", "--data"])
def test_a_folder_that_cannot_be_written_is_one_line(tmp_path, below, option, monkeypatch, capsys):
    (tmp_path / "a file").touch()
    nowhere = tmp_path / below
    few = [cells.StudentCell("fig02", Task(), 1.0, 20, 0, "lbfgs")]
    monkeypatch.setitem(experiments.GRIDS, "fig02", lambda profile: few)
    places = {"--store": tmp_path / "s.sqlite", "--data": tmp_path / "data"}
    places[option] = nowhere / ("s.sqlite" if option == "--store" else "data")
    monkeypatch.setattr(results, "process_pool", lambda workers: ThreadPoolExecutor(1))
    options = [str(word) for pair in places.items() for word in pair]
    arguments = ["sweep", "fig02", "--profile", "smoke", *options]
    assert cli.main(arguments) == 1
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and str(nowhere) in err
    if option == "--data":  # what was computed is in the store
        with Store(tmp_path / "s.sqlite") as stored:
            assert len(stored.keys()) == 1


def test_two_sweeps_on_one_store(tmp_path, capsys):
    """The second is refused in a line, the first loses nothing."""
    path = tmp_path / "s.sqlite"
    with Store(path) as first:
        assert cli.main(["sweep", "fig02", "--profile", "smoke", "--store", str(path), "--data", str(tmp_path)]) == 1
        out, err = capsys.readouterr()
        assert out == "" and err == f"store {path}: in use by another process\n"
        first.put(Cell(1.0), work(Cell(1.0)), provenance.environment() | {"cell_seconds": 0.1, "finished": ""})
    with Store(path) as after:
        assert len(after.keys()) == 1


# Readers and browsers


@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_a_closed_pipe_ends_quietly(form):
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = process("figures", "--list", *form, stdout=writer)
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


def test_without_a_browser_playwright_is_asked_and_then_one_line_says_what_to_do(monkeypatch, capsys):
    asked = []

    def run(command, **_):
        asked.append(" ".join(map(str, command)))
        return subprocess.CompletedProcess(command, 0, stdout="", stderr="")

    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setattr(browser.shutil, "which", lambda name: None)
    monkeypatch.setattr(browser.subprocess, "run", run)
    with pytest.raises(SystemExit, match=r"no Chromium .* install") as ended:
        browser.main()
    assert "\n" not in str(ended.value)
    assert any("playwright install chromium" in command for command in asked)


def test_the_browser_that_playwright_has_is_found(monkeypatch, tmp_path):
    (tmp_path / "chrome").touch()
    answer = subprocess.CompletedProcess([], 0, stdout=f"{tmp_path}/chrome\n")
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setattr(browser.shutil, "which", lambda name: None)
    monkeypatch.setattr(browser.subprocess, "run", lambda *_, **__: answer)
    assert browser.find() == f"{tmp_path}/chrome"
