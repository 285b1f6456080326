"""With what code and on what machine a result was computed."""

import platform
import subprocess
import sys
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from attention_phases import __version__

from ..paths import ROOT

MACHINE = ("version", "commit", "python", "numpy", "torch", "cpu", "platform", "accelerator")
COLUMNS = (*MACHINE, "cell_seconds", "finished")
MAKES_RESULTS = ("attention_phases", "attention_book/experiments", "attention_book/store")  # folders of `src`


def environment() -> dict[str, str | None]:
    """Return the code's version and commit, the versions below it and the machine, as a flat dict."""
    torch = sys.modules.get("torch")
    used = torch and torch.cuda.is_initialized()  # a GPU, by this process
    return {**_fixed(), "accelerator": torch.cuda.get_device_name() if used else None}  # pyright: ignore


@cache
def _fixed() -> dict[str, str | None]:
    return {
        "version": __version__,
        "commit": _commit(),
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "torch": version("torch"),
        "cpu": cpu_info().get("model name") or platform.processor() or platform.machine(),
        "platform": platform.platform(),
    }


@cache
def source_digest(*folders: str) -> str:
    """Return 12 hexadecimal digits that change with the source in some folders of `src`, or of all `MAKES_RESULTS`."""
    digest = sha256()
    for folder in folders or MAKES_RESULTS:
        for path in sorted((ROOT / "src" / folder).rglob("*.py")):
            digest.update(path.relative_to(ROOT).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:12]


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


def cpu_info() -> dict[str, str]:
    """Return what Linux says of the first processor, by name; nothing elsewhere."""
    try:
        first, _, _ = Path("/proc/cpuinfo").read_text().partition("\n\n")
    except OSError:
        return {}
    fields = (line.partition(":") for line in first.splitlines())
    return {name.strip(): value.strip() for name, _, value in fields}
