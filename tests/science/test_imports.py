"""Imports follow the layers of the source, the science needs few packages, and a constant has one meaning."""

import ast
import sys
from collections import defaultdict

import pytest
from cases import cases

from attention_book.paths import ROOT

SCIENCE = ROOT / "src/attention_phases"
NEEDED = {"lazy_loader", "numba", "numpy", "pandas", "scipy", "torch"}
# Layers from the bottom to the top. A package imports only from lower layers, so theory and training are independent.
FLOOR = {room: floor for floor, (rooms,) in enumerate(cases("floors")) for room in rooms.split()}


def imported(path):
    """Yield the modules that a module imports: other packages, and packages of this project."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            inside = path.relative_to(SCIENCE.parent).parts[: -node.level] if node.level else ()
            packages = [*inside, *(node.module or "__init__").split(".")]
            yield packages[1] if node.level else packages[0]


@pytest.mark.parametrize("path", sorted(SCIENCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SCIENCE)))
def test_no_import_goes_upwards_or_to_the_book(path):
    room = path.relative_to(SCIENCE).parts[0].removesuffix(".py")
    for name in set(imported(path)) - NEEDED - sys.stdlib_module_names:
        assert name == room or FLOOR[name] < FLOOR[room], f"{room} imports {name}"


def bound(path):
    """Return the names that a module's statements bind, each with its value."""
    for statement in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(statement, (ast.Assign, ast.AnnAssign)):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            parts = (part for target in targets for part in ast.walk(target) if isinstance(part, ast.Name))
            names = [part.id for part in parts if isinstance(part.ctx, ast.Store) and not part.id.startswith("__")]
            yield from ((name, ast.unparse(statement.value or statement)) for name in names)


def test_no_name_is_bound_to_two_things():
    values = defaultdict(set)
    for path in [*(ROOT / "src").rglob("*.py"), ROOT / "book/execution.py", ROOT / "book/parameters.py"]:
        for name, value in bound(path):
            values[name].add(value)
    assert len(values) > 300
    assert {name: some for name, some in values.items() if len(some) > 1} == {}


WITHOUT = """
import sys

class Without:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("playwright", "sphinx"):
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Without())
"""


@pytest.mark.slow
def test_tests_of_the_science_are_found_without_a_browser_and_without_sphinx(python, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(WITHOUT, encoding="utf-8")
    asked = "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", ROOT / "tests/science"
    done = python(*asked, path=[tmp_path], cwd=ROOT)
    assert done.returncode == 0, done.stdout[-2000:]
