"""`make install`, with a Python in the place of the real one that only notes what it is asked."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parents[2]
# `-m venv FOLDER` puts this script there as its python; pip installs a file, or is killed on the way, see `kill`.
PYTHON = """#!/bin/sh
echo "$*" >> {log}
case "$*" in
    *"-m venv "*) mkdir -p {venv}/bin && cp "$0" {venv}/bin/python ;;
    *"pip install"*) test -f {kill} && touch {venv}/half && kill -{signal} $PPID $$; touch {venv}/package ;;
esac
"""


@pytest.fixture
def install(tmp_path):
    """A function that runs `make install`, killed within pip or not, and returns its exit code."""
    venv, script = tmp_path / "venv", tmp_path / "python"
    script.write_text(
        PYTHON.format(venv=venv, log=tmp_path / "log", kill=tmp_path / "kill", signal=signal.SIGKILL.value)
    )
    script.chmod(0o755)

    def installed(killed=False):
        (tmp_path / "kill").touch() if killed else (tmp_path / "kill").unlink(missing_ok=True)
        command = ["make", "install", f"VENV={venv}", f"PYTHON={script}"]
        return subprocess.run(command, cwd=HERE, env=os.environ | {"MAKEFLAGS": ""}, capture_output=True).returncode

    return installed


def test_a_killed_installation_begins_anew_and_a_finished_one_is_kept_until_its_needs_change(install, tmp_path):
    venv = tmp_path / "venv"
    assert install(killed=True) != 0
    assert (venv / "half").exists() and not (venv / ".ready").exists()
    assert install() == 0
    assert (venv / "package").exists() and (venv / ".ready").exists() and not (venv / "half").exists()
    asked = (tmp_path / "log").read_text()
    assert install() == 0 and (tmp_path / "log").read_text() == asked
    ready, older = venv / ".ready", (HERE / "pyproject.toml").stat().st_mtime - 10
    os.utime(ready, (older, older))
    assert install(killed=True) != 0 and not ready.exists()
    assert install() == 0 and not (venv / "half").exists()
