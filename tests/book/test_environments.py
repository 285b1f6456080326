"""Differences between machines: locales, kernels, folders, cores, and missing programs."""

import ast
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from inspect import isfunction
from pathlib import Path
from unittest.mock import Mock
from uuid import UUID

import execution
import numba
import numpy as np
import pytest
import torch
from cases import case_text, cases, write_files
from numba.core import caching
from parameters import notebook_of, profile_values, published_values
from test_notebooks import COMPARING

from attention_book.command_line import commands, main as cli
from attention_book.experiments import own
from attention_book.paths import NOTEBOOKS, ROOT
from attention_book.store import provenance
from attention_phases import __version__, machine, records

FOLDERS = ("src", "tests", "benchmarks", "book", ".github", "data")
TEXT = ("read_text", "write_text")
tree_of = cache(ast.parse)


def python_files(*folders):
    """Return the text of every Python file in folders of the checkout, by its path."""
    return {path: path.read_text(encoding="utf-8") for folder in folders for path in (ROOT / folder).rglob("*.py")}


def test_text_files_name_their_encoding():
    """The rule of ruff only finds calls on an explicit Path, so this test looks for all calls."""
    calls = {}
    for path, text in python_files(*FOLDERS).items():
        for call in (node for node in ast.walk(tree_of(text)) if isinstance(node, ast.Call)):
            options = {keyword.arg: getattr(keyword.value, "value", None) for keyword in call.keywords}
            if getattr(call.func, "attr", None) in TEXT or options.get("text") is True:
                calls[f"{path}:{call.lineno}"] = "encoding" in options
    assert len(calls) > 100
    assert [place for place, named in calls.items() if not named] == []


def test_constants_that_tests_replace_are_as_before(compare):
    """Tests replace these constants, so no other test would notice a change of their values."""
    tests = "".join(python_files("tests").values())
    replaced = {*re.findall(r'setattr\((?:\w+, "|"[\w.]+\.)([A-Z_]{3,})"', tests)}
    lines = []
    for path, text in sorted(python_files("src", "book", "data", ".github").items()):
        for node in tree_of(text).body:
            names = re.findall(r"\w+", " ".join(map(ast.unparse, getattr(node, "targets", ()))))
            if replaced & {*names}:
                lines.append(f"{path.relative_to(ROOT).as_posix()}: {ast.unparse(node)}")
    compare("constants", lines, str.__eq__)


# The installation


@pytest.fixture
def make(tmp_path):
    """Return a function that runs `make` in a folder with only the files that the installation needs."""

    def make(*arguments, **more):
        for name in ("Makefile", "constraints.txt", "pyproject.toml"):
            shutil.copy(ROOT / name, tmp_path)
        # Variables of the `make` that runs this test.
        ours = {"MAKEFLAGS", "MAKELEVEL", "MFLAGS", "PIP_EXTRA_INDEX_URL"}
        environment = {name: value for name, value in os.environ.items() if name not in ours} | more
        options = {"cwd": tmp_path, "env": environment, "capture_output": True, "encoding": "utf-8"}
        return subprocess.run(["make", *arguments], **options)

    return make


def test_only_where_nothing_else_is_known_pytorch_for_cpus_is_asked_for(make):
    """Only uv knows where PyTorch for CPUs is, and then the pinned version is used. Packages that pip finds are always
    used.
    """
    version = re.search("^torch==.*$", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE)[0]
    for known in ("GPU=/proc/driver/nvidia", "PIP_EXTRA_INDEX_URL=https://example.org", "GPU="):
        recipe = make("--dry-run", "install", known).stdout
        assert ("--torch-backend" in recipe) == (known == "GPU=")
        assert ("uv pip install" in recipe) == ("INDEX" not in known)
        assert all(f"pip install --quiet --no-compile -c constraints.txt {what}" in recipe for what in (version, "-e"))
    assert f"--torch-backend=cpu {version} " in recipe
    # The index of pip's own packages.
    recipe = make("--dry-run", "install", "PIP_INDEX_URL=https://example.org", "GPU=").stdout
    assert "--torch-backend" in recipe and recipe.count("uv pip install") == 1


def test_a_python_that_makes_no_environments_is_told_in_one_line(make, tmp_path):
    """Debian's Python has no module ensurepip without its package python3-venv."""
    (tmp_path / "python").write_text('#!/bin/sh\ncase "$2" in *ensurepip*) exit 1; esac\n', encoding="utf-8")
    (tmp_path / "python").chmod(0o755)
    done = make("install", "PYTHON=./python")
    said, ended = done.stderr.splitlines()
    assert said == "./python cannot make environments: install them, on Debian as python3-venv"
    assert done.returncode and "Error 1" in ended and not (tmp_path / ".venv").exists()


RUN = """
import contextlib, io, json, sys
sys.modules |= dict.fromkeys({names!r})
from attention_book.command_line.main import main

for line in sys.argv[1:]:
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        try:
            code = exec(line) if line.startswith("from") else main(line.split())
        except SystemExit as ended:
            code = ended.code
        except ImportError as error:
            code = print(error, file=sys.stderr) or 1
    print(json.dumps([code, out.getvalue(), err.getvalue()]))
"""
COMMIT = "0123456789abcdef0123456789abcdef01234567"
IMPORTED = {"jupyter-book": "jupyter_book", "matplotlib-inline": "matplotlib_inline", "pyyaml": "yaml"}


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Return a function that runs commands in an empty environment with the package installed, outside a checkout.

    Dependencies come from this environment, `without` the extra "book" or with it. The function returns the exit code,
    stdout and stderr of each command.
    """
    folder = tmp_path_factory.mktemp("installed")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("*.egg-info", "__pycache__"))
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "env"], check=True)
    python = folder / "env" / "bin" / "python"
    (packages,) = (folder / "env").glob("lib/*/site-packages")
    quiet = ["--quiet", "--no-deps", "--no-index", "--disable-pip-version-check", "--no-build-isolation"]
    subprocess.run([sys.executable, "-m", "pip", "install", *quiet, "--target", packages, folder], check=True)
    (packages / "needed.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    # As if pip had installed it from a repository.
    (noted,) = packages.glob("attention_phases-*.dist-info/direct_url.json")
    noted.write_text(json.dumps({"vcs_info": {"commit_id": COMMIT}}), encoding="utf-8")
    with open(ROOT / "pyproject.toml", "rb") as file:
        extra = tomllib.load(file)["project"]["optional-dependencies"]["book"]
    words = [re.match(r"[\w-]+", requirement)[0] for requirement in extra]
    names = [IMPORTED.get(word, word) for word in words if word != "sphinx-mathjax-offline"]

    def run(*commands, without=False):
        program = RUN.format(names=names if without else [])
        done = subprocess.run([python, "-c", program, *commands], cwd=folder, capture_output=True, encoding="utf-8")
        assert done.stderr == ""
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        assert len(answers) == len(commands)
        return answers

    def files():
        return {path for path in packages.parents[1].rglob("*") if "__pycache__" not in path.parts}

    before = files()
    yield run
    assert files() == before  # nothing is written into an installation


@pytest.mark.slow
def test_an_installation_without_a_checkout_does_what_it_can_and_says_what_it_cannot(installed):
    lacking = {"sweep": "sweep --grid mine.toml --quiet"}
    lacking |= {f"attention_book.{name}": f"from attention_book import {name}" for name in ("sweep", "style")}
    threshold = "threshold --points 16 --scrambles 4 --json"
    version, (code, answer, said), *missing = installed("--version", threshold, *lacking.values(), without=True)
    assert version == [0, f"attention-phases {__version__}, commit {COMMIT}\n", ""]
    assert (code, said) == (0, "") and json.loads(answer)["alpha"] > 0
    for command, (*ended, said) in zip(lacking, missing, strict=True):
        needs = rf"{command} needs \w+, which is not installed: pip install -e '.\[book\]', .*\n"
        assert ended == [1, ""] and re.fullmatch(needs, said)
    for *ended, said in installed("figures --quiet", "figure fig02 --quiet", "verify --quiet", "sweep fig02 --quiet"):
        assert ended == [1, ""] and re.fullmatch("this needs a checkout of the book, .*\n", said)


# Names of files, and their content


LONGEST = 103  # largest number of bytes in a socket's name: 107 on Linux, less on other systems
NAMED = "-ipc-5"  # the ending of Jupyter's sockets, which replaces ".json"


def test_sockets_of_kernels_have_short_names_in_a_private_folder(monkeypatch, tmp_path):
    """Temporary folders of clusters have long names and contain files of other jobs. Their warnings are not errors."""
    monkeypatch.setenv("PYTHONWARNINGS", "error")
    for length in (0, 100):
        (deep := tmp_path / ("x" * length)).mkdir(exist_ok=True)
        monkeypatch.setattr(tempfile, "tempdir", str(deep))
        with execution.isolated_kernels() as apart:
            assert "PYTHONWARNINGS" not in os.environ
            file = Path(apart["config"].KernelManager.connection_file)
            assert apart["config"].KernelManager.transport == "ipc" and file.parent.stat().st_mode & 0o077 == 0
            assert len(os.fsencode(file.with_suffix(""))) + len(NAMED) <= LONGEST
    assert not file.parent.exists() and os.environ["PYTHONWARNINGS"] == "error"


def test_kernels_of_the_lab_too_and_python_is_as_usual_for_make(make, tmp_path):
    names = ("PYTHONSAFEPATH", "PYTHONWARNINGS", "PYTHONOPTIMIZE", "PYTHONDONTWRITEBYTECODE")
    make("--version")  # the dates of its files must be older than the files below
    programs = {".venv/bin/jupyter": case_text("jupyter.sh"), ".venv/bin/jupytext": "#!/bin/sh\n"}
    write_files(tmp_path, programs | dict.fromkeys((".venv/.ready", ".venv/.lab", "notebooks/lab_settings.json"), ""))
    for name in programs:
        (tmp_path / name).chmod(0o700)
    os.utime(tmp_path / "notebooks/lab_settings.json", (0, 0))
    done = make("-o", ".venv/.ready", "-o", ".venv/.lab", "lab", HOME="/" + "h" * 90, **dict.fromkeys(names, "error"))
    listed, said = done.stdout.splitlines()[-2:]
    folder, *options = said.split(" ")
    assert done.returncode == 0 and listed.startswith("drwx------") and options[0] == ""
    assert "--KernelManager.transport=ipc" in options and not os.path.exists(folder)
    assert len(f"{folder}/kernel-{UUID(int=0)}{NAMED}") <= LONGEST


def test_files_may_begin_with_a_byte_order_mark(tmp_path):
    """Some editors write such a mark."""
    for path in (NOTEBOOKS / "minima.md", NOTEBOOKS / "profiles.toml"):
        (tmp_path / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8-sig")
    for read in (published_values, lambda text: [cell.source for cell in notebook_of(text).cells]):
        assert read(tmp_path / "minima.md") == read(NOTEBOOKS / "minima.md")
    (tmp_path / "profiles.toml").write_text("[smoke.minima]\n", encoding="utf-8-sig")
    assert profile_values(tmp_path / "minima.md", "smoke") == {"profile": "smoke"}
    (tmp_path / "mine.toml").write_text("alpha = [1.0, 2.0]\nd = 20\n", encoding="utf-8-sig")
    assert len(own.own_cells(own.read_grid(tmp_path / "mine.toml"), "mine")) == 8
    sources = "".join(python_files("src", "book").values())
    # These functions would treat the mark as text.
    assert "jupytext.read(" not in sources and "tomllib.load(" not in sources


# Processors


@pytest.mark.parametrize(("groups", "files", "expected"), cases("cores"))
def test_as_many_processes_as_a_job_may_use_cores(monkeypatch, tmp_path, groups, files, expected):
    """The number of cores is limited by affinity, here to 8, and by a container's quota. No other code counts cores."""
    limits = {f"sys/fs/cgroup/{name}": content for name, content in json.loads(files).items()}
    given = {"proc/self/cgroup": json.loads(groups, strict=False), **limits}
    write_files(tmp_path, {name: f"{content}\n" if content else "" for name, content in given.items()})
    monkeypatch.setattr(machine, "SYSTEM", tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(8)), raising=False)
    asked = []
    monkeypatch.setattr(machine, "ProcessPoolExecutor", lambda count, **_: asked.append(count) or ThreadPoolExecutor())
    with machine.process_pool():
        assert asked == [machine.cores()] == [int(expected)]
    sources = python_files("src", "benchmarks", "book", ".github", "data")
    assert [path.name for path, text in sources.items() if "cpu_count" in text] == ["machine.py"]


# Descriptions of a machine, and of sizes


def test_results_name_what_has_computed_them():
    said = provenance.environment()
    names = ("version", "python", "numpy", "torch", "platform", "accelerator")
    versions = (__version__, sys.version.split()[0], np.__version__, torch.__version__, platform.platform(), None)
    assert [said[name] for name in names] == [*versions]


def test_make_computes_at_the_size_that_it_names(make):
    sizes = {"data": "paper", "book": "paper", "book PROFILE=laptop": "laptop", "validate NAME=minima": "smoke"}
    for target, size in sizes.items():
        recipe = make("-o", ".venv/.ready", "--dry-run", *target.split()).stdout
        assert set(re.findall(r"--profile (\w+)", recipe)) == {size}, target


# Failures


@pytest.mark.parametrize("error", [RuntimeError("Kernel died\nbefore replying"), LookupError("No such kernel")])
def test_a_kernel_that_does_not_start_is_one_line(complaint, monkeypatch, tmp_path, error):
    monkeypatch.setattr(execution.papermill, "execute_notebook", Mock(side_effect=error))
    said = complaint(1, "figure", "minima", "--profile", "smoke", "--out", tmp_path)
    assert said.startswith(f"minima.md: the Jupyter kernel did not start or died: {type(error).__name__}: ")


def test_where_git_refuses_a_folder_one_process_says_so(monkeypatch, tmp_path, capsys):
    (tmp_path / "git").write_text(case_text("git.sh"), encoding="utf-8")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert records._commit() is None
    said = capsys.readouterr().err
    assert said.startswith("no commit for results: git fatal: detected dubious ownership") and said.count("\n") == 1
    monkeypatch.setattr(records, "parent_process", lambda: "the one that has said it")
    assert records._commit() is None and capsys.readouterr().err == ""


# Folders without write permission


def test_code_is_compiled_also_where_it_cannot_be_kept(monkeypatch):
    """In a read-only installation and without a HOME, numba would fail with "no locator available"."""
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])
    with pytest.raises(RuntimeError, match="no locator available"):
        numba.njit(cache=True)(lambda x: x)
    assert machine.njit(cache=True)(lambda x: x + 1)(1) == 2


# Python's own settings


def test_help_needs_no_docstrings(run, monkeypatch):
    """PYTHONOPTIMIZE=2 removes docstrings and assertions."""
    kept = run("--help")
    for thing in (cli, *filter(isfunction, vars(commands).values())):
        monkeypatch.setattr(thing, "__doc__", None)
    assert run("--help") == kept
    trees = map(tree_of, python_files("src", "book").values())
    assert not any(isinstance(node, ast.Assert) for tree in trees for node in ast.walk(tree))


# A page, and pictures made outside notebooks, on a machine with unusual settings


BUILD = """
import sys
from pathlib import Path
import behind
import execute as command
from attention_book import paths
import execution
from attention_book.command_line import main as cli

cli.readable_text = lambda result: chr(0x3c9)
cli.main(["figures"])
here = Path(sys.argv[1])
paths.NOTEBOOKS, execution.KEPT_FOLDER, command.BOOK_FOLDER = here / "notebooks", here / "kept", here / "shown"
failed = command.main(["--profile", "smoke"])
behind.write(here / "shown")
sys.exit(failed)
"""
KERNEL = {"argv": ["false"], "display_name": "Of another environment", "language": "python"}
SETTINGS = {
    "home/.ipython/profile_default/startup/00.py": (
        "import numpy, pandas\nprint('started')\nnumpy.set_printoptions(precision=2)\n"
        "pandas.set_option('display.precision', 2)"
    ),
    "home/.ipython/profile_default/ipython_kernel_config.py": "get_config().InlineBackend.rc = {'axes.grid': True}",
    "home/.local/share/jupyter/kernels/python3/kernel.json": json.dumps(KERNEL),
    "matplotlibrc": "text.usetex: True\nfont.size: 30\naxes.grid: True\nsvg.fonttype: none\n",
}


@pytest.mark.slow
def test_a_page_and_its_pictures_are_the_same_whatever_is_set_on_a_machine(python, tmp_path, monkeypatch):
    """The settings are a locale, a Matplotlib style, a kernel, start-up files and settings of IPython, and dead
    proxies.
    """

    def build(folder):
        page = f"{COMPARING}\n{case_text('figure.md')}"
        write_files(folder, {"notebooks/page.md": page, "notebooks/profiles.toml": ""})
        done = python("-c", BUILD, folder)
        assert done.returncode == 0, done.stderr
        (folder / "shown/times.md").unlink()
        files = (folder / "shown").rglob("*")
        said = done.stdout.replace(str(folder), "")
        return said, {str(path.relative_to(folder)): path.read_bytes() for path in files if path.is_file()}

    printed, expected = build(tmp_path / "plain")
    write_files(tmp_path, SETTINGS)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://192.0.2.1:9")  # an address reserved for documentation, which never answers
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MATPLOTLIBRC", str(tmp_path / "matplotlibrc"))
    for name, value in {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}.items():
        monkeypatch.setenv(name, value)
    said, built = build(tmp_path / "set")
    assert said == printed.replace("ω", r"\u03c9")
    assert "shown/figures/fig-02.svg" in built
    assert [name for name, content in expected.items() if content != built[name]] == []
