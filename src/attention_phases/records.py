"""The canonical JSON text of parameters, the random seeds derived from it, and the origin of results."""

import json
import subprocess
import sys
from dataclasses import fields, is_dataclass
from functools import cache
from hashlib import sha256
from multiprocessing import parent_process
from pathlib import Path
from typing import Any

import numpy as np

from .errors import BadInput, as_number, check_count, check_kind, check_positive
from .model.architectures import STANDARD, Architecture
from .task import Task

__version__ = "0.1.0"
SOURCE = Path(__file__).parents[1]


def canonical(record: Any) -> str:
    """Return the canonical JSON text of a record, with sorted keys, no spaces, and exact floats.

    Floats are written by `repr`.

    record: a dataclass, read by `fields_of`, or a mapping. Values are strings, booleans, integers, finite floats,
        None, and nested tuples or lists.
    """
    values = fields_of(record) if is_dataclass(record) else record
    try:
        return json.dumps(values, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise BadInput("cell", values, f"made of finite JSON values ({error})") from None


def fields_of(record: Any) -> dict[str, Any]:
    """Return the fields of a dataclass as a flat dictionary, which includes the fields of nested dataclasses.

    A field with the mark "omitted at default" is left out if it has its default value.
    """
    values = {}
    for field in fields(record):
        value = getattr(record, field.name)
        if field.metadata.get("omitted at default") and value == field.default:
            continue
        if is_dataclass(value):
            values |= fields_of(value)
        elif field.type in (float, "float") and isinstance(value, int):
            values[field.name] = float(value)  # cells with 2 and with 2.0 are equal and must have the same name
        else:
            values[field.name] = value
    return values


def seed_sequence(record: Any) -> np.random.SeedSequence:
    """Return a `numpy.random.SeedSequence` that depends only on the values of a record.

    The drawn numbers therefore do not depend on the number of workers. Records that must share random draws pass only
    their common fields.
    """
    return np.random.SeedSequence(int.from_bytes(sha256(canonical(record).encode()).digest()))


def record_of(task: Task, alpha: float, d: int, seed: int, architecture: Architecture = STANDARD) -> dict[str, Any]:
    """Return, as a dictionary, the parameters from which the random seed of a data set is derived.

    Its `seed_sequence` draws the teacher, the sentences and the start weights. A seed numbers the data sets of a task
    at one size. It gives the same sentences for all forms of students and for all callers.
    """
    check_kind("task", task, Task)
    check_kind("architecture", architecture, Architecture)
    size = {"alpha": check_positive("alpha", alpha), "d": check_count("d", d, at_least=2)}
    record = {"task": fields_of(task), **size, "seed": check_count("seed", seed, at_least=0)}
    usual = (architecture.tokens, architecture.correlation) == (2, 0.0)
    return record if usual else record | {"tokens": architecture.tokens, "correlation": architecture.correlation}


def origin_of(**asked: Any) -> dict[str, Any]:
    """Return the origin of a result as JSON values: the arguments, the version, the commit, and how to cite it."""
    plain = {name: fields_of(value) if is_dataclass(value) else as_number(value) for name, value in asked.items()}
    return {**plain, **code(), "cite": f"H. Cui et al., NeurIPS 2024, arXiv:2402.03902; by {code_in_words()}"}


def code_in_words() -> str:
    """Return the name and version of this code, with its commit if it is known."""
    return "attention-phases " + ", commit ".join(filter(None, code().values()))


@cache
def code() -> dict[str, str | None]:
    """Return the version and the commit of this code."""
    return {"version": __version__, "commit": _commit()}


def _commit() -> str | None:
    """Return the commit of the checkout that tracks this file, with "+changes" if the code differs from the commit.

    For a copy that pip installed from a repository, return the commit that pip has recorded.
    """

    def git(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["git", "-C", SOURCE, *words], capture_output=True, encoding="utf-8", check=False)

    try:
        # An installed copy may lie inside the checkout of another project, whose commit does not describe this code.
        tracked = git("ls-files", "--error-unmatch", "attention_phases/__init__.py")
        if tracked.returncode:
            if "safe.directory" in tracked.stderr and parent_process() is None:  # printed once, not by each worker
                print(f"no commit for results: git {tracked.stderr.splitlines()[0]}", file=sys.stderr)
            return _noted_by_pip()
        commit = git("rev-parse", "HEAD").stdout.strip()
        return commit + ("+changes" if git("status", "--porcelain", "--untracked-files=no", "--", ".").stdout else "")
    except OSError:  # git is not installed
        return _noted_by_pip()


def _noted_by_pip() -> str | None:
    for noted in SOURCE.glob("attention_phases-*.dist-info/direct_url.json"):
        return json.loads(noted.read_text(encoding="utf-8")).get("vcs_info", {}).get("commit_id")
    return None
