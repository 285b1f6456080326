"""A name is a noun for a thing or a verb for a function: no preposition, participle, adverb or number word."""

import ast

from cases import cases
from pages import Page

from attention_book.paths import NOTEBOOKS, ROOT

BEGINNINGS, ENDINGS, WORDS = ([[word] for word in words.split()] for _, words in cases("names"))


def bound_names(text):
    """Yield the names that a module or a cell binds outside of its functions and classes."""
    for node in ast.parse(text).body:
        parts = [] if isinstance(node, ast.FunctionDef | ast.ClassDef) else ast.walk(node)
        yield from (part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store))
        yield from [node.name] if isinstance(node, ast.FunctionDef | ast.ClassDef) else []


def test_no_name_is_a_preposition_a_participle_or_an_adverb():
    """Columns of stored tables are left out, because stored results have them, and so are terms of the field."""
    files = [path for top in ("src/**", "data", "book", "book/_ext") for path in ROOT.glob(f"{top}/*.py")]
    cells = [(path.name, path.read_text(encoding="utf-8")) for path in files]
    cells += [(path.name, cell) for path in NOTEBOOKS.glob("*.md") for cell in Page(path.stem).sources]
    names = {(where, name): name.strip("_").lower().split("_") for where, text in cells for name in bound_names(text)}
    bad = [name for name, parts in names.items() if parts[:1] in BEGINNINGS or parts[-1:] in ENDINGS or parts in WORDS]
    assert len(names) > 1000
    assert not bad, f"names are nouns or verbs, not one of the words in tests/cases/names.txt: {bad}"
