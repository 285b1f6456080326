"""With what code and on what machine a result was computed."""

import platform
import subprocess
import sys
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from attention_phases import __version__

from ..paths import ROOT

MACHINE = ("version", "commit", "python", "numpy", "torch", "cpu", "platform", "accelerator")
COLUMNS = (*MACHINE, "cell_seconds", "finished")


def environment() -> dict:
    """Return the code's version and commit, the versions below it and the machine, as a flat dict."""
    return {**_fixed(), "accelerator": _accelerator()}


@cache
def _fixed() -> dict:
    return {
        "version": __version__,
        "commit": _commit(),
        "python": platform.python_version(),
        "numpy": _version("numpy"),
        "torch": _version("torch"),
        "cpu": _cpu(),
        "platform": platform.platform(),
    }


@cache
def source_digest(*packages: str) -> str:
    """Return 12 hexadecimal digits that change with the source of some packages, by default of all that makes results.

    Args:
        packages: folders below `src`.
    """
    digest = sha256()
    for package in packages or ("attention_phases", "attention_book/experiments", "attention_book/store"):
        for path in sorted((ROOT / "src" / package).rglob("*.py")):
            digest.update(path.relative_to(ROOT).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _commit() -> str | None:
    """The commit of the checkout this file is tracked in, "+changes" where the code differs from it."""
    source = ROOT / "src"

    def git(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["git", "-C", source, *words], capture_output=True, text=True, check=False)

    try:
        # An installed copy may lie inside somebody else's checkout: that commit says nothing about it.
        if git("ls-files", "--error-unmatch", "attention_phases/__init__.py").returncode:
            return None
        commit = git("rev-parse", "HEAD").stdout.strip()
        return commit + ("+changes" if git("status", "--porcelain", "--untracked-files=no", "--", ".").stdout else "")
    except OSError:  # no git here
        return None


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or platform.machine())


def _accelerator() -> str | None:
    """Name of the GPU, where this process has used one."""
    torch = sys.modules.get("torch")
    return torch.cuda.get_device_name() if torch and torch.cuda.is_initialized() else None
