"""The notebook runner: no stale outputs, no partial results, and no silent failures."""

import hashlib
import json
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import Mock

import execute as command
import execution
import nbformat
import pytest
import scorecard
from cases import case_text, cases, write_files
from filelock import FileLock

from attention_book import paths
from attention_phases.errors import BadInput, NotebookError

pytestmark = pytest.mark.slow

TEXT = case_text("page.md")
FAILING = TEXT.replace("print(size)", "print(size)\nraise ArithmeticError()")
INPUTS = ["src/lib.py", "src/lib.pyi", "book/execution.py", "book/parameters.py", "data/fig.parquet", "constraints.txt"]


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """Return a small checkout with one notebook, its profiles, and the other files on which its results depend."""
    write_files(tmp_path, {"notebooks/page.md": TEXT, "notebooks/profiles.toml": "[smoke.page]\nsize = 3\n"})
    write_files(tmp_path, dict.fromkeys(INPUTS, "stored"))
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    monkeypatch.setattr(paths, "DATA", tmp_path / "data")
    monkeypatch.setattr(paths, "NOTEBOOKS", tmp_path / "notebooks")
    monkeypatch.setattr(execution, "KEPT_FOLDER", tmp_path / "kept")
    monkeypatch.setattr(command, "BOOK_FOLDER", tmp_path / "shown")
    return tmp_path


def outputs(path):
    cells = nbformat.read(path, 4).cells
    return [output.text for cell in cells if cell.cell_type == "code" for output in cell.outputs]


def run(checkout, **values):
    return execution.execute(checkout / "notebooks/page.md", checkout / "kept", values)


def test_two_notebooks_at_a_time_have_their_parameters_and_work_beside_their_texts_over_sockets(checkout, capfd):
    """The command prints where the executed notebooks are."""
    where = "import pathlib\nprint(profile, size, pathlib.Path.cwd() == pathlib.Path(r'%s').resolve())"
    where %= checkout / "notebooks"
    watch = "\nimport json, ipykernel, psutil\nprint(json.load(open(ipykernel.get_connection_file()))['transport'])"
    ports = "\nprint(len({socket.laddr.port for socket in psutil.Process().net_connections('inet')}))"
    texts = {name: TEXT.replace("print(size)", where + more) for name, more in (("page", ""), ("other", watch + ports))}
    # One notebook has no profile.
    write_files(checkout / "notebooks", {f"{name}.md": text for name, text in texts.items()})
    before = Path.cwd()
    # Until the command after --then has built a book from the pages, another run waits; its exit code counts.
    build = (
        f"import filelock\ntry:\n    filelock.FileLock({str(execution.KEPT_FOLDER / 'lock')!r}, timeout=0).acquire()\n"
        "except filelock.Timeout:\n    raise SystemExit(7)"
    )
    assert command.main(["--profile", "smoke", "--jobs", "2", "--then", sys.executable, "-c", build]) == 7
    assert Path.cwd() == before
    said = ["".join(outputs(checkout / f"shown/{name}.ipynb")) for name in texts]
    assert said[0] == "smoke 3 True\n" and said[1].startswith("smoke 1 True\nipc\n")
    assert int(said[1].split()[-1]) <= 1  # a port of ipykernel for the output of forked processes
    assert "| A page |" in (checkout / "shown/times.md").read_text(encoding="utf-8")
    names = [f"{name}.{end}" for name in sorted(texts) for end in ("ipynb", "seconds")]
    assert sorted(path.name for path in (checkout / "kept/smoke").iterdir()) == names
    # The texts are unchanged, and no file is added next to them.
    assert {path.name for path in (checkout / "notebooks").iterdir()} == {"page.md", "other.md", "profiles.toml"}
    assert [(checkout / f"notebooks/{name}.md").read_text(encoding="utf-8") for name in texts] == [*texts.values()]
    assert capfd.readouterr().err == ""  # without a terminal there is no progress, and no kernel warns
    for words, found in ((["page"], checkout / "kept/smoke/page.ipynb"), (["--keep"], checkout / "kept/smoke")):
        assert command.main([*words, "--profile", "smoke"]) == 0
        assert capfd.readouterr().out == f"executed: {found}\n"
    assert command.main(["--jobs", "0"]) == 2


@pytest.mark.parametrize(("file", "right", "wrong", "name", "code", "words"), cases("unrunnable"))
def test_what_cannot_be_run_is_one_line_and_shows_nothing(checkout, capsys, file, right, wrong, name, code, words):
    """A notebook has no profile, a parameter or the notebook of a table is unknown, or the requested notebook is."""
    text = (checkout / "notebooks" / file).read_text(encoding="utf-8")
    (checkout / "notebooks" / file).write_text(text.replace(right, wrong), encoding="utf-8")
    assert command.main([name, "--profile", "smoke"]) == int(code)
    (line,) = capsys.readouterr().err.splitlines()
    assert all(word in line for word in words.split())
    assert not (checkout / "shown").exists()


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_or_a_scheduler_ends_a_figure_in_one_line_and_leaves_nothing_that_failed(python, tmp_path, end):
    """Both send their signal to the command and to all processes that it has started."""
    begun = tmp_path / "begun"
    waits = f"import pathlib, time\npathlib.Path({str(begun)!r}).touch()\ntime.sleep(600)"
    page = TEXT.replace("print(size)", waits)
    write_files(tmp_path, {"notebooks/page.md": page, "notebooks/profiles.toml": ""})
    code = (
        "import os, pathlib, signal, sys, threading, time\nfrom attention_book import paths\n"
        "from attention_book.command_line.main import main\n"
        f"paths.NOTEBOOKS = pathlib.Path({str(tmp_path / 'notebooks')!r})\ndef interrupt():\n"
        f"    while not os.path.exists({str(begun)!r}):\n        time.sleep(0.05)\n"
        f"    os.killpg(0, {end:d})\nthreading.Thread(target=interrupt, daemon=True).start()\n"
        f"sys.exit(main(['figure', 'page', '--out', {str(tmp_path / 'out')!r}, '--quiet']))"
    )
    done = python("-c", code, start_new_session=True)
    said = "stopped: results stored so far are kept; run again to go on\n"
    assert (done.returncode, done.stdout, done.stderr) == (128 + end, "", said)
    assert [*(tmp_path / "out").iterdir()] == []


def test_executed_again_only_when_an_input_changed_to_the_same_file_and_what_failed_is_kept_apart(checkout):
    page = checkout / "kept/page.ipynb"
    assert run(checkout, size=3)
    first = page.read_bytes()
    assert not run(checkout, size=3)
    assert execution.execute(checkout / "notebooks/page.md", checkout / "kept", {"size": 3}, force=True)
    assert page.read_bytes() == first and str(checkout).encode() not in first
    assert run(checkout, size=4)
    assert outputs(page) == ["4\n"]
    # The failing cell is named, and the partial notebook is kept.
    before = page.read_bytes()
    (checkout / "notebooks/page.md").write_text(FAILING.replace("()", "('too\\nbad')"), encoding="utf-8")
    with pytest.raises(NotebookError, match=r"page\.md, cell 3: ArithmeticError: too bad") as caught:
        run(checkout, size=3)
    partial = checkout / "kept/page.failed.ipynb"
    assert str(partial) in str(caught.value) and "\n" not in str(caught.value)
    printed, error = nbformat.read(partial, 4).cells[-1].outputs
    assert (printed.text, error.ename) == ("3\n", "ArithmeticError")
    assert page.read_bytes() == before  # the earlier page is unchanged
    refused = TEXT.replace("print(size)", "from attention_phases import Task\nTask(omega=size)")
    (checkout / "notebooks/page.md").write_text(refused, encoding="utf-8")
    with pytest.raises(BadInput, match=r"^omega = 3: must be in \[0, 1\]$"):
        run(checkout, size=3)


@pytest.mark.fast
@pytest.mark.parametrize("name", ["notebooks/page.md", *INPUTS])
def test_every_input_is_in_the_fingerprint(checkout, name):
    before = execution.fingerprint(checkout / "notebooks/page.md", {"size": 3})
    with (checkout / name).open("a", encoding="utf-8") as file:
        file.write("# changed\n")
    assert execution.fingerprint(checkout / "notebooks/page.md", {"size": 3}) != before


@pytest.mark.fast
def test_who_stops_it_is_told_in_one_line(checkout, capsys, monkeypatch):
    monkeypatch.setattr(command, "execute_all", Mock(side_effect=KeyboardInterrupt))
    assert command.main(["--profile", "smoke"]) == 1
    assert capsys.readouterr().err == "stopped; what is executed is kept\n"


def test_of_two_at_once_one_waits(checkout, monkeypatch):
    began = threading.Event()
    monkeypatch.setattr(command, "execute_all", lambda *_: began.set())
    execution.KEPT_FOLDER.mkdir()
    with ThreadPoolExecutor() as threads:
        with FileLock(execution.KEPT_FOLDER / "lock"):
            second = threads.submit(command.main, ["--profile", "smoke", "--keep"])
            assert not began.wait(0.5)
        assert began.wait(20) and second.result() == 0


COMPARING = case_text("comparing.md")


def test_the_scorecard_gathers_what_the_pages_compare(checkout):
    (checkout / "notebooks/page.md").rename(checkout / "notebooks/compared.md").write_text(COMPARING, encoding="utf-8")
    (checkout / "notebooks/profiles.toml").write_text("", encoding="utf-8")
    assert command.main(["--profile", "smoke"]) == 0
    shown = checkout / "shown"
    scorecard.write(shown)
    document = json.loads((shown / "scorecard.json").read_text(encoding="utf-8"))
    (row,) = document["rows"]
    assert (row["id"], row["figure"]) == ("fig02-critical-omega-0.3-theory", "fig02")
    assert row["page"] == "_executed/compared.html#table-published-and-ours"
    inputs = nbformat.read(shown / "compared.ipynb", 4).metadata["inputs"]
    assert row["provenance"]["inputs"] == inputs and row["provenance"]["profile"] == "smoke"
    assert row["provenance"]["data"] == hashlib.sha256(b"stored").hexdigest()
    assert document["verdicts"]["differs"] == 1
    assert "1.3500(10)" in (shown / "scorecard_tables.txt").read_text(encoding="utf-8")
    assert "</svg>" in (shown / "scorecard.svg").read_text(encoding="utf-8")
