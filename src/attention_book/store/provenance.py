"""The provenance of a result: its cell, the code that computed it, and the machine."""

import json
import math
import platform
import re
import sys
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from attention_phases.errors import BadInput
from attention_phases.records import code

from ..paths import ROOT

CellType = TypeVar("CellType")
Row = dict[str, Any]  # one result of a cell, a dict of strings, booleans, integers or finite floats
MACHINE = ("version", "commit", "python", "numpy", "torch", "cpu", "platform", "accelerator")
ORIGIN = (*MACHINE, "cell_seconds", "finished")
MAKES_RESULTS = ("attention_phases", "attention_book/experiments", "attention_book/store")  # source of all results


def restore(cell_type: type[CellType], text: str) -> CellType:
    """Build a cell of a given type from its canonical JSON.

    Every JSON list becomes a tuple.
    """
    values = {name: _tuples(value) for name, value in json.loads(text).items()}
    for field in fields(cell_type):  # pyright: ignore
        if isinstance(field.type, type) and is_dataclass(field.type):
            inner = {name: values.pop(name) for name in field.type.__dataclass_fields__ if name in values}
            values[field.name] = field.type(**inner)
    return cell_type(**values)


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def key(text: str) -> str:
    """Return the key of a cell, which is a hash of its canonical JSON.

    The key has 32 hexadecimal digits.
    """
    return sha256(text.encode()).hexdigest()[:32]


def check_rows(rows: Iterable[Row], taken: Collection[str] = ()) -> list[Row]:
    """Check the results of a cell, and convert NumPy scalars to Python numbers.

    Raises `BadInput` if a result cannot be stored.

    rows: one flat dict per start of strings, booleans, 64-bit integers and finite floats; there must be at least one.
    taken: names that a result may not have.
    """
    rows = [{name: v.item() if isinstance(v, np.generic) else v for name, v in row.items()} for row in rows]
    if not rows:
        raise BadInput("rows", rows, "at least one result")
    for name, value in (item for row in rows for item in row.items()):
        if name in taken:
            raise BadInput(f"column name {name!r} is taken by the cell or by its provenance")
        if not isinstance(value, (str, int, float)):
            raise BadInput(name, value, "a string, a boolean or a number")
        if isinstance(value, float) and not math.isfinite(value):
            raise BadInput(name, value, "a finite number")
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise BadInput(name, value, "an integer of 64 bits")
    return rows


def environment(since: int = 0) -> dict[str, str | None]:
    """Return a flat dictionary of the code's version and commit, the versions of its dependencies, and the machine.

    since: the value of `allocations` before the work. The GPU is named if the work has used it.
    """
    used = allocations() > since
    return {**_constants(), "accelerator": sys.modules["torch"].cuda.get_device_name() if used else None}


def allocations() -> int:
    """Return how many times this process has allocated GPU memory."""
    torch = sys.modules.get("torch")
    return torch.cuda.memory_stats()["allocation.all.allocated"] if torch and torch.cuda.is_initialized() else 0


@cache
def _constants() -> dict[str, str | None]:
    return {
        **code(),
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "torch": version("torch"),
        "cpu": _cpu(),
        "platform": platform.platform(),
    }


@cache
def source_digest(*folders: str) -> str:
    """Return a hash of the source code in the given folders of `src`.

    The hash has 12 hexadecimal digits.

    folders: by default all of `MAKES_RESULTS`.
    """
    digest = sha256()
    for folder in folders or MAKES_RESULTS:
        for path in sorted((ROOT / "src" / folder).rglob("*.py")):
            digest.update(path.relative_to(ROOT).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def _cpu() -> str:
    """Return the name of the processor from Linux, or else from Python."""
    with suppress(OSError):
        if named := re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text(encoding="utf-8")):
            return named[1]
    return platform.processor() or platform.machine()
