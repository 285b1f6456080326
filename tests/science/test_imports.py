"""The science imports nothing of the book, and few other packages. In the whole source a constant has one meaning."""

import ast
import sys
from collections import defaultdict

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


def bound(path):
    """Names that a module's own statements bind, each with what it is bound to."""
    for statement in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(statement, (ast.Assign, ast.AnnAssign)):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            parts = (part for target in targets for part in ast.walk(target) if isinstance(part, ast.Name))
            names = [part.id for part in parts if isinstance(part.ctx, ast.Store) and not part.id.startswith("__")]
            yield from ((name, ast.unparse(statement.value or statement)) for name in names)


def test_no_name_is_bound_to_two_things():
    values = defaultdict(set)
    for path in sorted((ROOT / "src").rglob("*.py")):
        for name, value in bound(path):
            values[name].add(value)
    assert len(values) > 300
    assert {name: some for name, some in values.items() if len(some) > 1} == {}
