"""Fixtures: the command line, Python in a separate process, a Chromium, and pages of the built book."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import zip_longest

import pytest
from answers import only_object
from built import READ, opening
from chromium import QUIET, find

from attention_book.command_line import main as cli
from attention_book.store.sweep import Store
from attention_phases import Architecture, Task
from attention_phases.machine import ONE_THREAD

# A process that a script starts in the background ignores Ctrl-C, and so would all processes that tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)

GUARD = """
import socket, sys

def hook(event, arguments):
    if event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "socket.sendmsg"):
        raise RuntimeError(f"network: {event} {arguments}")
    if event in ("socket.connect", "socket.bind") and arguments[0].family != socket.AF_UNIX:
        raise RuntimeError(f"network: {event} {arguments[1:]}")

sys.addaudithook(hook)
"""


def pytest_addoption(parser):
    parser.addoption("--keep-references", action="store_true", help="write what is said now, compare nothing")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Mark tests that open a page or run programs without a network as slow; select the tests that keep references."""
    if config.getoption("keep_references"):
        items[:] = [item for item in items if "compare" in getattr(item, "fixturenames", ["compare"])]
    for item in items:
        if {"chromium", "guarded"} & set(getattr(item, "fixturenames", ())):
            item.add_marker("slow")


def pytest_make_parametrize_id(val):
    """Name a task, or a student's architecture, by its values that are not the usual ones."""
    if isinstance(val, Task | Architecture):
        usual = vars(type(val)())
        return ",".join(f"{n}={v}".partition("=(")[0] for n, v in vars(val).items() if v != usual[n]) or "usual"


@pytest.fixture
def run(capsys):
    """Return a function that runs a command line and returns its exit code, stdout and stderr."""

    def run(*arguments):
        try:
            code = cli.main([str(argument) for argument in arguments])
        except SystemExit as ended:  # argparse exits in this way
            code = ended.code
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def compare(request):
    """Return a function that compares lines with a record of this name, or writes the record with --keep-references."""

    import reference  # imports packages for notebooks, which the tests of the science do not need

    def compare(name, lines, same=reference.agree):
        path = reference.FOLDER / "records" / f"{name}.txt"
        if request.config.getoption("keep_references"):
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        kept = path.read_text(encoding="utf-8").splitlines()
        for before, after in zip_longest(kept, lines, fillvalue="nothing"):
            assert same(before, after), f"{before!r} is now {after!r}: make reference NAME=records"

    return compare


@pytest.fixture
def in_this_process(monkeypatch):
    """Run sweeps in a thread, because starting processes takes longer and `test_sweep.py` tests them."""
    monkeypatch.setattr("attention_book.experiments.results.process_pool", lambda *_: ThreadPoolExecutor(1))


@pytest.fixture
def store(tmp_path):
    """Return an empty store of results."""
    with Store(tmp_path / "s.sqlite") as opened:
        yield opened


@pytest.fixture
def answer(run):
    """Return a function that runs a command with --json, which must succeed silently, and returns its object."""

    def answer(*arguments):
        code, out, err = run(*arguments, "--json")
        assert (code, err) == (0, "")
        return only_object(out)

    return answer


@pytest.fixture
def complaint(run):
    """Return a function that runs a command that must fail with a given code, and returns its one line of complaint."""

    def complaint(code, *arguments):
        *ended, err = run(*arguments, "--quiet")
        assert ended == [code, ""] and err.count("\n") == 1 and err.endswith("\n")
        return err

    return complaint


def stay_on_one_core():
    """Restrict this process to one core on Linux, so that only one worker is started, because each takes seconds."""
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[os.getpid() % len(cores)]})


@pytest.fixture(scope="session")
def python():
    """Return a function that runs Python with this process's path, one thread and one core; it takes subprocess
    options.
    """

    def python(*arguments, path=(), **options):
        environment = {**os.environ, **ONE_THREAD, "PYTHONPATH": os.pathsep.join(map(str, (*path, *sys.path)))}
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "encoding": "utf-8", "timeout": 300, **options}
        options |= {"preexec_fn": stay_on_one_core}
        return subprocess.run([sys.executable, *map(str, arguments)], env=environment, **options)

    return python


@pytest.fixture(scope="session")
def guarded(python, tmp_path_factory):
    """Return a function that runs Python so that no process, kernel or worker can open a socket to anywhere."""
    folder = tmp_path_factory.mktemp("guarded")
    (folder / "sitecustomize.py").write_text(GUARD, encoding="utf-8")
    return lambda *arguments: python(*arguments, path=[folder], cwd=folder)


@pytest.fixture(scope="module")
def chromium():
    """Yield a Chromium of the system."""
    from playwright.sync_api import sync_playwright  # the tests of the science do not need it

    path = find()
    assert path, "no Chromium: install Debian's package chromium, or set CHROMIUM to its path"
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=QUIET)
        yield running
        running.close()


@pytest.fixture
def open_page(chromium):
    """Yield a function that opens a new page, see `opening`."""
    with opening(chromium) as opened:
        yield opened


@pytest.fixture(scope="module", params=READ, ids=lambda path: path.stem)
def path(request):
    return request.param


@pytest.fixture(scope="module")
def page(chromium, path):
    """Yield a page that is opened once for all tests that only read it."""
    with opening(chromium) as opened:
        yield opened(path)
