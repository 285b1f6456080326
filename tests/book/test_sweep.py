"""The sweep: the same results from any executor, continuation after any interruption, and checks by recomputation."""

import contextlib
import dataclasses
import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest
import toy_sweep
from distributed import LocalCluster
from toy_sweep import Cell, grid, table, work, worker_settings

from attention_book.store import sweep as store_sweep
from attention_book.store.parquet import export, load
from attention_book.store.provenance import key
from attention_book.store.sweep import Store, cluster, run
from attention_phases.errors import SweepError
from attention_phases.machine import ONE_THREAD, process_pool
from attention_phases.records import canonical

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """Return the frame of an undisturbed sweep."""
    return swept(tmp_path_factory.mktemp("undisturbed"), grid())


def swept(folder, cells, executor=None):
    """Return the frame of a sweep, in a thread by default."""
    with Store(folder / "s.sqlite") as stored, executor or ThreadPoolExecutor(1) as pool:
        assert run(cells, work, stored, pool, quiet=True) == (len(cells), 0, {}, 0)
        (path,) = export(stored, folder)
    return load(path)


@pytest.fixture(scope="module")
def local():
    """Yield a Dask cluster of two workers on this machine."""
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as running:
        yield running


POOLS = ("one process", "two processes", "cluster")


@pytest.fixture
def pool(request):
    """Return a new context of the executor with a given name."""
    if request.param == "cluster":
        return cluster(request.getfixturevalue("local").scheduler_address)
    return process_pool(1 + POOLS.index(request.param))


def sweep(cells, store, executor, work=work):
    return run(cells, work, store, executor, quiet=True)


def keys(cells):
    """Return the keys of the cells."""
    return {key(canonical(cell)) for cell in cells}


@pytest.fixture
def start():
    """Return a function that starts the toy sweep in its own process group, which ends with the test."""
    started = []

    def begin(*arguments):
        command = [sys.executable, toy_sweep.__file__, *map(str, arguments)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "encoding": "utf-8"}
        started.append(subprocess.Popen(command, env=environment, start_new_session=True, **pipes))
        return started[-1]

    yield begin
    for process in started:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def gone(process, within):
    """Return whether every process of the group ends in `within` seconds; init may remove an ended process later."""
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        process.poll()
        if not any(is_running_in(process.pid, other) for other in psutil.process_iter()):
            return True
        time.sleep(0.02)
    return False


def is_running_in(group, process):
    try:
        return os.getpgid(process.pid) == group and process.status() != psutil.STATUS_ZOMBIE
    except (ProcessLookupError, psutil.NoSuchProcess):
        return False


@pytest.mark.parametrize("pool", POOLS, indirect=True)
def test_any_executor_and_order_give_the_same_table(tmp_path, pool, undisturbed):
    cells = grid()
    random.Random(0).shuffle(cells)
    assert table(swept(tmp_path, cells, executor=pool)).equals(table(undisturbed))


@pytest.mark.parametrize("pool", ["one process", "cluster"], indirect=True)
def test_workers_use_one_thread_and_the_caller_keeps_its_own(store, pool, local, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    with pool as executor:
        sweep([Cell(1.0)], store, executor, worker_settings)
    ((_, (row,), _),) = store.items()
    assert row.pop("pid") != os.getpid()
    assert set(row.values()) == {"1"} and "NUMBA_NUM_THREADS" in row
    assert os.environ["OMP_NUM_THREADS"] == "7" and "MKL_NUM_THREADS" not in os.environ


@pytest.mark.fast
def test_stored_cells_are_skipped_and_repeated_ones_computed_once(store):
    """The store would refuse a second result of a cell."""
    with ThreadPoolExecutor(2) as executor:
        assert sweep(grid()[:20] * 2, store, executor) == (20, 0, {}, 0)
        assert sweep(grid(), store, executor) == (40, 20, {}, 0)


@pytest.mark.fast
def test_failed_cells_are_reported_and_tried_again(store, capfd):
    bad = [Cell(0.5, fault="raise"), Cell(0.6, fault="nan")]
    cells = [*grid()[:5], *bad, *grid()[5:10]]
    with ThreadPoolExecutor(2) as executor:
        summary = sweep(cells, store, executor)
        assert summary[:2] == (10, 0)
        said = "ArithmeticError: no fixed point after 10 steps", "BadInput: q = nan: must be a finite number"
        assert summary.failed == dict(zip(map(canonical, bad), said))
        err = capfd.readouterr().err
        assert len(err.splitlines()) == 2 and all(canonical(cell) in err for cell in bad)
        assert store.keys() == keys(grid()[:10])
        mended = sweep(cells, store, executor, lambda cell: work(dataclasses.replace(cell, fault="")))
        assert mended == (2, 10, {}, 0)


def test_dead_worker_is_one_clear_line_and_loses_nothing(store, monkeypatch):
    monkeypatch.setattr(store_sweep, "QUEUE_LENGTH", 1)
    before = [Cell(0.5, fault="SIGTERM"), *grid()[:20]]  # a worker leaves the reaction to this signal to its parent
    cells = [*before, Cell(0.5, fault="die"), *grid()[20:]]
    with pytest.raises(SweepError, match="a worker process died") as caught, process_pool(1) as executor:
        sweep(cells, store, executor)
    assert "\n" not in str(caught.value) and "after 21 cells" in str(caught.value)
    assert store.keys() == keys(before)


def test_kill_at_random_moments_loses_nothing_and_repeats_nothing(tmp_path, start, undisturbed):
    path, rng, stored, kills = tmp_path / "s.sqlite", random.Random(2), {}, 3
    arguments = (path, 0.05, 0.05, "processes")
    for _ in range(kills):
        process = start(*arguments)
        out = "".join(process.stdout.readline() for _ in range(rng.randint(1, 3)))
        time.sleep(rng.uniform(0, 0.05))
        os.killpg(process.pid, signal.SIGKILL)
        out += process.communicate()[0]
        reported = dict(line.split() for line in out.split("\n")[:-1])  # the kill may cut off the last line
        assert reported and not reported.keys() & stored.keys()
        with Store(path) as results:
            now = {key(text): rows[0]["q"].hex() for text, rows, _ in results.items()}
        assert stored.items() <= now.items() and reported.items() <= now.items()
        stored = now
    assert kills <= len(stored) < 60
    process = start(*arguments)
    out, err = process.communicate(timeout=100)
    assert process.returncode == 0, err
    assert {line.split()[0] for line in out.splitlines()} == keys(grid()) - stored.keys()
    with Store(path) as results:
        frame = load(export(results, tmp_path)[0])
    assert not frame.duplicated(["cell", "start"]).any()
    assert table(frame).equals(table(undisturbed))


@pytest.mark.alone
@pytest.mark.parametrize(
    ("end", "where"),
    [*((end, "processes") for end in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)), (signal.SIGINT, "cluster")],
)
def test_interrupt_and_kill_end_the_run_within_two_seconds(tmp_path, start, local, end, where):
    # A worker of the cluster outlives the run and finishes its cell, which must be quick.
    long, where = (5, local.scheduler_address) if where == "cluster" else (3600, where)
    process = start(tmp_path / "s.sqlite", 0.01, long, where)
    reported = {process.stdout.readline().split()[0] for _ in range(40)}
    if end == signal.SIGKILL:
        process.kill()
    else:
        os.killpg(process.pid, end)  # a terminal and a scheduler send the signal to the workers as well
    assert gone(process, within=2)
    assert process.wait() == (-end if end == signal.SIGKILL else -signal.SIGINT)
    assert process.stdout.read() == ""
    with Store(tmp_path / "s.sqlite") as results:
        assert results.keys() == reported == keys(grid()[:40])


@pytest.mark.parametrize(("nthreads", "omp", "named"), [(2, "1", "nthreads = 2"), (1, "4", "OMP_NUM_THREADS = 4")])
def test_cluster_worker_with_more_threads_is_refused(store, monkeypatch, nthreads, omp, named):
    for name in ONE_THREAD:
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("OMP_NUM_THREADS", omp)  # the worker is in this process
    options = {"processes": False, "protocol": "tcp", "dashboard_address": ":0"}
    with (
        LocalCluster(n_workers=1, threads_per_worker=nthreads, **options) as threads,
        cluster(threads.scheduler_address) as executor,
        pytest.raises(SweepError, match=f"{named}: must be 1") as caught,
    ):
        sweep(grid(), store, executor)
    assert "\n" not in str(caught.value) and not store.keys()
