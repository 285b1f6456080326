"""What people have set on their machines: locales, styles and kernels of their own, optimised Python, no network."""

import ast

from attention_book.paths import ROOT

FOLDERS = ("src", "tests", "benchmarks", "book", ".github")
TEXT = ("read_text", "write_text")


def test_text_files_name_their_encoding():
    """Also where ruff's rule does not see it: it asks only what is spelt out as a Path."""
    calls = {}
    for path in (path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            options = {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords}
            if getattr(call.func, "attr", None) in TEXT or options.get("text") == "True":
                calls[f"{path}:{call.lineno}"] = "encoding" in options
    assert len(calls) > 100
    assert [place for place, named in calls.items() if not named] == []
