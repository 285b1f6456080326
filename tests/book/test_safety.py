"""No network at run time. That the source has no pickle, eval or sockets is a rule of ruff, see pyproject.toml."""

import pytest

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
