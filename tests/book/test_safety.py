"""What must never happen: a network at run time, pickle, eval."""

import ast

import pytest

from attention_book.paths import ROOT

SOURCES = sorted((ROOT / "src").rglob("*.py"))
PICKLING = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}
NETWORK = {"socket", "urllib", "http", "requests", "httpx", "ftplib", "smtplib", "telnetlib", "xmlrpc"}
CALLS = {"eval", "exec", "compile", "__import__"}
READERS = {"load", "read_pickle", "to_pickle", "load_module"}  # of torch, NumPy and pandas; ours have other names
CLUSTER = "store/cluster.py"  # which is there to talk to machines that the user names


def named(tree):
    """What a module imports, the built-in functions it calls, and the attributes it calls as module.name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (("import", each.name.split(".")[0]) for each in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield "import", (node.module or "").split(".")[0]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield "call", node.func.id
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = getattr(node.func.value, "id", "")
            yield "call", f"{owner}.{node.func.attr}"


FORBIDDEN = (
    {("import", name) for name in PICKLING | NETWORK}
    | {("call", name) for name in CALLS}
    | {("call", f"{owner}.{name}") for owner in ("torch", "np", "numpy", "pd", "pandas") for name in READERS}
)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT / "src").as_posix())
def test_no_pickle_no_eval_no_network_in_the_source(path):
    assert not FORBIDDEN & set(named(ast.parse(path.read_text())))


@pytest.mark.parametrize(
    "line",
    [
        "import pickle",
        "from urllib.request import urlopen",
        "eval('1')",
        "np.load(path)",
        "torch.load(path)",
        "exec(x)",
    ],
)
def test_what_is_forbidden_is_seen(line):
    assert FORBIDDEN & set(named(ast.parse(line)))


FEW = ("--points", "64", "--scrambles", "4")


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ("theory", "--alpha", "2", "--branch", "semantic", *FEW),
        ("simulate", "--alpha", "1", "--d", "20", "--init", "semantic", "--seeds", "2"),
        ("sweep", "fig02", "--profile", "smoke", "--workers", "1", "--store", "s.sqlite", "--data", "data"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_commands_need_no_network(guarded, arguments):
    """Nor does `figure`: test_figure runs it so."""
    done = guarded("-m", "attention_book.cli", *arguments, "--json")
    assert (done.returncode, done.stderr) == (0, "")


def test_the_guard_holds_in_child_processes(guarded):
    dial = "import socket; socket.create_connection(('127.0.0.1', 9), timeout=1)"
    done = guarded(
        "-c", f"import subprocess, sys; sys.exit(subprocess.run([sys.executable, '-c', {dial!r}]).returncode)"
    )
    assert done.returncode == 1 and "network: socket.getaddrinfo" in done.stderr
