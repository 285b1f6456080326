"""Cases of tests in text files: tables with one line per case and fields between bars, and longer texts."""

from pathlib import Path


def case_text(name):
    """Return the content of tests/cases/NAME, a text for a browser, a shell or a notebook."""
    return (Path(__file__).parent / "cases" / name).read_text(encoding="utf-8")


def cases(name):
    """Return the cases of tests/cases/NAME.txt, each a tuple of texts, in which "\\n" means the end of a line."""
    lines = case_text(f"{name}.txt").splitlines()
    return [tuple(field.replace("\\n", "\n") for field in line.split(" | ")) for line in lines]


def write_files(folder, contents):
    """Write texts into a folder and its subfolders, by their paths."""
    for name, content in contents.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
