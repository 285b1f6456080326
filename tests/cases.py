"""Cases of tests that are tables, as text: a line for each, its fields between bars."""

from pathlib import Path


def cases(name):
    """Return the cases of tests/cases/NAME.txt, a tuple of texts for each; in them "\\\\n" is the end of a line."""
    lines = (Path(__file__).parent / "cases" / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return [tuple(field.replace("\\n", "\n") for field in line.split(" | ")) for line in lines]
