"""JupyterLab for real, as `make lab` starts it: `make test-lab` runs this, with the extra `lab`.

A server is started in a copy of the notebooks; a text is opened as a notebook through its contents API, its
parameters are changed, and it is saved; both sides are looked at.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import Request, urlopen

import browser
import nbformat
import psutil
import pytest
from jupytext import read
from jupytext.cli import jupytext
from playwright.sync_api import sync_playwright

from attention_book.paths import NOTEBOOKS, ROOT

TOKEN, NAME = "token-of-a-test", "fig07_dimension"
CHANGE = ('profile = "paper"', 'profile = "smoke"')


class Server:
    """A running JupyterLab: its address, and its REST interface."""

    def __init__(self, folder, port):
        options = (
            re.search(r"^LABOPTIONS := (.*?) *#", (ROOT / "Makefile").read_text(), re.MULTILINE)[1]
            .replace("=notebooks", f"={folder}")
            .split()
        )
        options += ["--no-browser", "--allow-root", f"--port={port}", f"--IdentityProvider.token={TOKEN}"]
        command = [sys.executable, "-m", "jupyter", "lab", *options]
        self.address, self.folder = f"127.0.0.1:{port}", folder
        self.log = folder.parent / "lab.log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)

    def ask(self, path, method="GET", body=None):
        data = None if body is None else json.dumps(body).encode()
        request = Request(f"http://{self.address}/api/{path}", data, {"Authorization": f"token {TOKEN}"}, method=method)
        with urlopen(request, timeout=60) as answer:
            return json.loads(answer.read() or "null")

    def wait(self):
        for _ in range(600):
            try:
                return self.ask("status")
            except OSError:
                assert self.process.poll() is None, self.log.read_text()
                time.sleep(0.2)
        raise AssertionError(self.log.read_text())


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lab") / "notebooks"
    shutil.copytree(NOTEBOOKS, folder, ignore=shutil.ignore_patterns("*.ipynb", ".*"))
    assert jupytext(["--quiet", "--sync", *map(str, folder.glob("*.md"))]) == 0
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    running = Server(folder, port)
    try:
        running.wait()
        yield running
    finally:
        running.process.terminate()
        running.process.wait(60)


def test_a_text_is_opened_changed_and_saved_and_both_sides_agree(server):
    text, pair = server.folder / f"{NAME}.md", server.folder / f"{NAME}.ipynb"
    before = text.read_text()
    model = server.ask(f"contents/{NAME}.md?type=notebook&content=1")
    notebook = nbformat.from_dict(model["content"])
    assert model["type"] == "notebook" and notebook.cells[0].source.startswith("(fig07)=")
    parameters = next(cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", ()))
    parameters.source = parameters.source.replace(*CHANGE)
    server.ask(f"contents/{NAME}.md", "PUT", {"type": "notebook", "format": "json", "content": notebook})
    assert text.read_text() == before.replace(*CHANGE) != before  # this edit and no other
    sides = [[cell.source for cell in read(side).cells] for side in (pair, text)]
    assert sides[0] == sides[1]


def test_a_kernel_of_the_server_opens_no_ports(server):
    kernel = server.ask("kernels", "POST", {"name": "python3", "path": NAME})
    children = psutil.Process(server.process.pid).children()
    kernels = [child for child in children if "ipykernel" in " ".join(child.cmdline())]
    files = [Path(process.cmdline()[-1]) for process in kernels]  # how a kernel is reached
    assert files and all(json.loads(path.read_text())["transport"] == "ipc" for path in files)
    server.ask(f"kernels/{kernel['id']}", "DELETE")


def test_a_pair_opens_from_either_side(server):
    for name in ("fig02_slice.md", "fig02_slice.ipynb"):
        model = server.ask(f"contents/{name}?type=notebook&content=1")
        assert model["content"]["cells"][0]["source"].startswith("(fig02)=")


def test_a_text_opens_as_a_notebook_in_the_browser_without_other_hosts(server):
    asked = []
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=browser.find(), args=browser.QUIET)
        page = running.new_page(viewport={"width": 1280, "height": 900})
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"http://{server.address}/lab/tree/{NAME}.md?token={TOKEN}&reset")
        page.wait_for_selector(".jp-Notebook .jp-CodeCell", timeout=120_000)
        page.wait_for_selector(".jp-RenderedHTMLCommon h1", timeout=60_000)
        assert "Figure 7" in page.locator(".jp-RenderedHTMLCommon h1").first.inner_text()
        page.wait_for_timeout(3000)
        if picture := os.environ.get("SCREENSHOT"):
            page.screenshot(path=picture)
        running.close()
    assert asked and not [url for url in asked if url.startswith("http") and server.address not in url]
