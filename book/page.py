"""The build of single pages from executed notebooks, with the files of their figures, as in the book.

    python book/page.py NOTEBOOK.ipynb ... FOLDER

FOLDER/page receives the pages and the files that they show. FOLDER receives the pictures, their data and the scripts of
the pages.
"""

import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

import yaml
from jupyter_book.cli.main import main as jupyter_book

ROOT = Path(__file__).resolve().parents[1]
PAGE = "page"  # folder of the pages in FOLDER
FIGURES = "figures"  # folder of a figure's files, beside the page and beside its source
EXTENSIONS = ("behind", "offline", "figures", "download")  # extensions of the book that a single page needs
SHAPES = ("-wide", "-readout")  # endings of files that only the page of a figure shows
# These are the ways in which a page and a style sheet name files.
FILE_NAME = re.compile(r"""(?:href|src|srcset|action)="([^"#?:]+)|(?:url\(|@import )["']?([^"')#?:]+)""")


def build(notebooks, folder):
    """Build the pages of executed notebooks (Paths) in a folder, and leave other files there as they are."""
    with tempfile.TemporaryDirectory() as place:
        source = Path(place).resolve()
        for notebook in notebooks:  # their pages are two folders higher than in the book
            text = notebook.read_text(encoding="utf-8").replace("../../_static/", "_static/")
            (source / notebook.name).write_text(text, encoding="utf-8")
        root, *others = [notebook.name for notebook in notebooks]
        contents: dict = {"format": "jb-book", "root": root}
        if others:
            contents["chapters"] = [{"file": name} for name in others]
        (source / "_toc.yml").write_text(yaml.safe_dump(contents), encoding="utf-8")
        (source / "_config.yml").write_text(yaml.safe_dump(configuration()), encoding="utf-8")
        jupyter_book(["build", str(source), "--all", "--quiet"], standalone_mode=False)
        html = source / "_build" / "html"
        for path in set.union(*(files_of(html / f"{notebook.stem}.html") for notebook in notebooks)):
            target = folder / PAGE / path.relative_to(html)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
        for path in (source / FIGURES).iterdir():
            if not path.stem.endswith(SHAPES):
                shutil.copy(path, folder)


def files_of(page):
    """Return the files that a built page shows or links to, about half of the theme's ten megabytes."""
    found, waiting = set(), [page, *(page.parent / FIGURES).iterdir()]
    while waiting:
        path = Path(os.path.normpath(waiting.pop()))
        if path not in found and path.is_file() and path.suffix != ".ttf":  # browsers use another format
            found.add(path)
            if path.suffix in (".html", ".css"):
                names = FILE_NAME.findall(path.read_text(encoding="utf-8"))
                waiting += [path.parent / (in_page or in_style) for in_page, in_style in names]
    return found


def configuration():
    """Return the configuration of the book, with absolute paths of its own files."""
    whole = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    whole["bibtex_bibfiles"] = [str(ROOT / path) for path in whole["bibtex_bibfiles"]]
    extra = whole["sphinx"]
    extensions = extra["local_extensions"].items()
    extra["local_extensions"] = {name: str(ROOT / path) for name, path in extensions if name in EXTENSIONS}
    for name in ("html_static_path", "html_extra_path", "templates_path"):
        extra["config"][name] = [str(ROOT / path) for path in extra["config"][name]]
    extra["config"]["html_favicon"] = str(ROOT / extra["config"]["html_favicon"])
    return whole


if __name__ == "__main__":
    *notebooks, target = map(Path, sys.argv[1:])
    build(notebooks, target)
