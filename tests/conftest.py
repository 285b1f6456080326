"""A Chromium, pages of the built book in it, and a Python without a network."""

import os
import subprocess
import sys

import browser
import pytest
from built import READ, opening
from playwright.sync_api import sync_playwright

GUARD = """
import socket, sys

def hook(event, arguments):
    if event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "socket.sendmsg"):
        raise RuntimeError(f"network: {event} {arguments}")
    if event in ("socket.connect", "socket.bind") and arguments[0].family != socket.AF_UNIX:
        raise RuntimeError(f"network: {event} {arguments[1:]}")

sys.addaudithook(hook)
"""


@pytest.fixture(scope="module")
def chromium():
    """A Chromium of the system."""
    path = browser.find()
    assert path, "no Chromium: install Debian's package chromium, or set CHROMIUM to its path"
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=browser.QUIET)
        yield running
        running.close()


@pytest.fixture
def open_page(chromium):
    """A function that opens a page of its own, see `opening`."""
    with opening(chromium) as opened:
        yield opened


@pytest.fixture(scope="module", params=READ, ids=lambda path: path.stem)
def path(request):
    return request.param


@pytest.fixture(scope="module")
def page(chromium, path):
    """A page, opened once for all tests that only read it."""
    with opening(chromium) as opened:
        yield opened(path)


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    """A function that runs Python where no process, kernels and workers too, may open a socket to anywhere."""
    folder = tmp_path_factory.mktemp("guarded")
    (folder / "sitecustomize.py").write_text(GUARD)

    def guarded(*arguments):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), *sys.path]), "OMP_NUM_THREADS": "1"}
        command = [sys.executable, *map(str, arguments)]
        return subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, timeout=300)

    return guarded
