"""The science stands alone: it imports nothing of the book, and few other packages."""

import ast
import sys

import pytest

from attention_book.paths import ROOT

MODULES = sorted((ROOT / "src/attention_phases").rglob("*.py"))
NEEDED = {"numba", "numpy", "pandas", "scipy", "torch"}


def imported(path):
    """Top-level packages that a module imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield (node.module or "").partition(".")[0]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_the_science_imports_no_book(path):
    assert set(imported(path)) <= NEEDED | sys.stdlib_module_names
