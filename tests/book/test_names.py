"""A name is a noun for a thing or a verb for a function: no preposition, participle, adverb or number word."""

import ast
import re

from cases import cases

from attention_book.paths import NOTEBOOKS, ROOT

CELL = re.compile(r"^```\{code-cell\}[^\n]*\n(?:---\n.*?^---\n)?(?::.*?\n)*(.*?)^```$", re.MULTILINE | re.DOTALL)
BEGINNINGS, WORDS = (set(words.split()) for _, words in cases("names"))


def bound_names(text):
    """Yield the names that a module or a cell binds outside of its functions and classes."""
    for node in ast.parse(text).body:
        parts = [] if isinstance(node, ast.FunctionDef | ast.ClassDef) else ast.walk(node)
        yield from (part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store))
        yield from [node.name] if isinstance(node, ast.FunctionDef | ast.ClassDef) else []


def test_no_name_is_a_preposition_a_participle_or_an_adverb():
    """Columns of stored tables are left out: their names are part of the stored results."""
    texts = {path: [path.read_text(encoding="utf-8")] for top in ("src", "data") for path in (ROOT / top).rglob("*.py")}
    texts |= {path: CELL.findall(path.read_text(encoding="utf-8")) for path in NOTEBOOKS.glob("*.md")}
    bound = [(path.name, name) for path, parts in texts.items() for text in parts for name in bound_names(text)]
    words = {(where, name): name.strip("_").lower().split("_") for where, name in bound}
    bad = [place for place, (first, *more) in words.items() if first in BEGINNINGS or (not more and first in WORDS)]
    assert len(words) > 1000 and not bad
