"""With what code and on what machine a result was computed."""

import ast
import platform
import subprocess
import sys
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from attention_phases import __version__

COLUMNS = (
    "version",
    "commit",
    "python",
    "numpy",
    "torch",
    "cpu",
    "platform",
    "accelerator",
    "cell_seconds",
    "finished",
)


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
def code_digest(module: str) -> str:
    """Return 12 hexadecimal digits that change with the source of a module of this package or of any that it imports.

    Parameters
    ----------
    module : str
        Such as "attention_book.experiments.simulation".
    """
    digest = sha256()
    for _, source in sorted(_sources(module, {}).items()):
        digest.update(source)
    return digest.hexdigest()[:12]


def _sources(module: str, found: dict[str, bytes]) -> dict[str, bytes]:
    """Source by name of a module of this package and of those that it imports, added to `found`."""
    place = Path(__file__).resolve().parents[2].joinpath(*module.split("."))
    path = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    if module in found or not path.exists():  # what is imported may be a function
        return found
    found[module] = path.read_bytes()
    package = module if place.is_dir() else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(found[module])):
        if isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            imported = ".".join([*above, *([node.module] if node.module else [])])
            for name in (imported, *(f"{imported}.{each.name}" for each in node.names)):
                _sources(name, found)
    return found


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _commit() -> str | None:
    """The commit of the checkout this file is tracked in, "+changes" where the code differs from it."""
    here = Path(__file__).resolve().parents[2]

    def git(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["git", "-C", here, *words], capture_output=True, text=True, check=False)

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
