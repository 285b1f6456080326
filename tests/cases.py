"""Cases of tests that are tables, as text: a line for each, its fields between bars. Long texts of tests, too."""

from pathlib import Path


def case_text(name):
    """Return the content of tests/cases/NAME: what a browser, a shell or a notebook is given."""
    return (Path(__file__).parent / "cases" / name).read_text(encoding="utf-8")


def cases(name):
    """Return the cases of tests/cases/NAME.txt, a tuple of texts for each; in them "\\\\n" is the end of a line."""
    lines = case_text(f"{name}.txt").splitlines()
    return [tuple(field.replace("\\n", "\n") for field in line.split(" | ")) for line in lines]


def write_files(folder, contents):
    """Write texts into a folder and those below it, by their paths."""
    for name, content in contents.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
