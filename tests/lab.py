"""JupyterLab for real, as `make lab` starts it: `make test-lab` runs this, with the extra `lab`.

A server is started in a copy of the notebooks; a text is opened as a notebook through its contents API, its
parameters are changed, it is run by a kernel of the server, and saved; both sides are looked at.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import uuid
from urllib.request import Request, urlopen

import browser
import nbformat
import psutil
import pytest
from jupytext import read
from jupytext.cli import jupytext
from playwright.sync_api import sync_playwright
from websocket import create_connection

from attention_book.paths import NOTEBOOKS, ROOT

TOKEN, NAME = "token-of-a-test", "fig07_dimension"
SMOKE = {"profile": '"smoke"', "points": "512"}


class Server:
    """A running JupyterLab: its address, and its REST interface."""

    def __init__(self, folder, port):
        options = (
            re.search(r"^LABOPTIONS := (.*?) *#", (ROOT / "Makefile").read_text(), re.MULTILINE)[1]
            .replace("=notebooks", f"={folder}")
            .split()
        )
        command = [sys.executable, "-m", "jupyter", "lab", *options,
                   "--no-browser", "--allow-root", f"--port={port}", f"--IdentityProvider.token={TOKEN}"]  # fmt: skip
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


def run_cell(channel, source):
    """Execute a cell over the server's websocket and return its outputs."""
    header = {"msg_id": uuid.uuid4().hex, "msg_type": "execute_request", "username": "", "session": uuid.uuid4().hex,
              "version": "5.3"}  # fmt: skip
    content = {"code": source, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False,
               "stop_on_error": True}  # fmt: skip
    channel.send(json.dumps({"header": header, "parent_header": {}, "metadata": {}, "content": content,
                             "channel": "shell"}))  # fmt: skip
    outputs = []
    while True:
        message = json.loads(channel.recv())
        if message["parent_header"].get("msg_id") != header["msg_id"] or message["channel"] != "iopub":
            continue
        kind, content = message["msg_type"], message["content"]
        assert kind != "error", "\n".join(content["traceback"])
        if kind in ("display_data", "execute_result", "stream"):
            outputs.append(nbformat.v4.output_from_msg({"header": {"msg_type": kind}, "content": content}))
        if kind == "status" and content["execution_state"] == "idle":
            return outputs


def changed(source):
    for name, value in SMOKE.items():
        source = re.sub(rf"(?m)^{name} = \S+", f"{name} = {value}", source)
    return source


def test_a_text_is_opened_changed_run_and_saved_and_both_sides_agree(server):
    text, pair = server.folder / f"{NAME}.md", server.folder / f"{NAME}.ipynb"
    before = text.read_text()
    model = server.ask(f"contents/{NAME}.md?type=notebook&content=1")
    notebook = nbformat.from_dict(model["content"])
    assert model["type"] == "notebook" and notebook.cells[0].source.startswith("(fig07)=")
    parameters = next(cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", ()))
    parameters.source = changed(parameters.source)

    kernel = server.ask("kernels", "POST", {"name": "python3", "path": NAME})
    channel = create_connection(
        f"ws://{server.address}/api/kernels/{kernel['id']}/channels",
        header={"Authorization": f"token {TOKEN}"},
        timeout=300,
    )
    for count, cell in enumerate([each for each in notebook.cells if each.cell_type == "code"], 1):
        cell.outputs, cell.execution_count = run_cell(channel, cell.source), count
    channel.close()
    kernels = [
        each for each in psutil.Process(server.process.pid).children() if "ipykernel" in " ".join(each.cmdline())
    ]
    # Only ipykernel's own port, for what forked processes print; over TCP there would be five more.
    assert kernels and all(len(each.net_connections("inet")) <= 1 for each in kernels)
    server.ask(f"kernels/{kernel['id']}", "DELETE")

    server.ask(f"contents/{NAME}.md", "PUT", {"type": "notebook", "format": "json", "content": notebook})
    assert text.read_text() == changed(before) != before  # this edit and no other
    written = nbformat.read(pair, 4)
    assert (
        next(each for each in written.cells if "parameters" in each.metadata.get("tags", ())).source
        == parameters.source
    )
    figures = [out for each in written.cells if each.cell_type == "code" for out in each.outputs if "data" in out]
    assert any("image/svg+xml" in each.data for each in figures)
    assert [cell.source for cell in written.cells] == [cell.source for cell in read(text).cells]  # both sides agree


def test_a_pair_opens_from_either_side(server):
    for name in ("fig02_slice.md", "fig02_slice.ipynb"):
        model = server.ask(f"contents/{name}?type=notebook&content=1")
        assert model["content"]["cells"][0]["source"].startswith("(fig02)=")


def test_a_text_opens_as_a_notebook_in_the_browser_without_other_hosts(server):
    asked = []
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=browser.find(), args=browser.QUIET)
        page = running.new_page(viewport={"width": 1280, "height": 900})
        page.on("request", lambda each: asked.append(each.url))
        page.goto(f"http://{server.address}/lab/tree/{NAME}.md?token={TOKEN}&reset")
        page.wait_for_selector(".jp-Notebook .jp-CodeCell", timeout=120_000)
        page.wait_for_selector(".jp-RenderedHTMLCommon h1", timeout=60_000)
        assert "Figure 7" in page.locator(".jp-RenderedHTMLCommon h1").first.inner_text()
        page.wait_for_timeout(3000)
        if picture := os.environ.get("SCREENSHOT"):
            page.screenshot(path=picture)
        running.close()
    assert asked and not [url for url in asked if url.startswith("http") and server.address not in url]
