"""The commands and the Python code of the README give the results that it states."""

import re
import shlex
import tomllib

import pytest

from attention_book.paths import ROOT
from attention_phases import machine

TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
(PYTHON,) = [number for number, (kind, _) in enumerate(BLOCKS) if kind == "python"]
NUMBER = re.compile(r"(-?\d+\.\d+)(?:\((\d+)\))?")


def test_it_is_short():
    assert len(TEXT.splitlines()) <= 125


def test_its_links_lead_somewhere():
    links = re.findall(r"\]\((?!https:)([^)]+)\)", TEXT) + re.findall(r'(?:src|srcset)="([^"]+)"', TEXT)
    assert len(links) > 4 and [link for link in links if not (ROOT / link).exists()] == []


def test_its_commands_are_those_that_run():
    """CI runs the commands that need `make`; the figure is made by `test_figure.py` at the smallest size."""
    commands = "".join(code for kind, code in BLOCKS if kind == "bash").splitlines()
    first, *others = [shlex.split(line, comments=True) for line in commands]
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    figure = shlex.split(".venv/bin/attention-phases figure fig02 --profile laptop --set omega=0.2")
    assert first == ["make", "book"] and figure in others
    assert all(program == "make" and target in targets for program, target in [first, *filter(figure.__ne__, others)])
    assert set(re.findall(r"`make ([a-z]+)", TEXT)) <= set(targets)


@pytest.mark.slow
def test_its_program_answers_as_it_says(run):
    (session,) = [code for kind, code in BLOCKS if not kind and code.startswith("$")]
    for command, said in re.findall(r"^\$ .*attention-phases (.*)\n((?:[^$].*\n)+)", session, re.MULTILINE):
        _, out, err = run(*shlex.split(command), "--quiet")
        agree(out + err, said)


@pytest.mark.slow
def test_its_python_prints_what_it_says(monkeypatch, tmp_path, capsys, in_this_process):
    monkeypatch.chdir(tmp_path)
    # No processes, because they take longer to start than the computation.
    monkeypatch.setattr(machine, "cores", lambda: 1)
    exec(BLOCKS[PYTHON][1], {})
    agree(capsys.readouterr().out, BLOCKS[PYTHON + 1][1])


def agree(printed, said):
    """Assert that two texts have the same words, and numbers that agree within their errors or to one in the last
    digit.
    """
    assert NUMBER.split(printed)[::3] == NUMBER.split(said)[::3]
    for (value, error), (other, _) in zip(NUMBER.findall(said), NUMBER.findall(printed)):
        digit = 10.0 ** -len(value.partition(".")[2])
        assert abs(float(value) - float(other)) <= int(error or 1) * digit * 1.01, (value, other)


def test_every_direct_dependency_has_its_reason_beside_it():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(text)["project"]
    for needed in (project["dependencies"], *project["optional-dependencies"].values()):
        assert needed and all(re.search(rf'^    "{re.escape(name)}",  # \w', text, re.MULTILINE) for name in needed)
