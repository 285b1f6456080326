"""Folders and files of the checkout.

The package is an editable install of a checkout, so that its files are found from the place of this module.
"""

import os
import re
from pathlib import Path

from attention_phases.errors import StoreError

ROOT = Path(__file__).resolve().parents[2]
# Folder of the MyST texts. The file name of a page about a figure or a table begins with its number, as in
# fig02_slice.md.
NOTEBOOKS = ROOT / "notebooks"
DATA = Path(os.environ.get("ATTENTION_PHASES_DATA", ROOT / "data"))  # stored results
BUILT = Path(os.environ.get("ATTENTION_PHASES_BUILT", ROOT / "_build" / "results"))  # results computed for the profiles


def checkout():
    """Return the folder of the checkout, or raise `StoreError` if the package was installed without a checkout."""
    if not (ROOT / "src").is_dir():
        how = "clone its repository and run make install in it, or pip install -e '.[book]'"
        raise StoreError(f"this needs a checkout of the book, but {Path(__file__).parent} is not in one: {how}")
    return ROOT


def missing_package(what, error):
    """Return a message that names a missing package and says how to install it.

    what: what needs the package.
    error: the `ModuleNotFoundError`.
    """
    how = "pip install -e '.[book]', in a checkout of the book, installs it"
    return f"{what} needs {error.name}, which is not installed: {how}"


def stored_table(name):
    """Return the Parquet file of an experiment's stored results, or raise `StoreError` if there is none."""
    path = DATA / f"{name}.parquet"
    if not path.exists():
        checkout()
        raise StoreError(f"{path}: missing; attention-phases sweep {name} --profile paper computes it")
    return path


def read_edited(path):
    """Return the content of a text file without the byte order mark that some editors add."""
    return path.read_text(encoding="utf-8-sig")


def title(markdown):
    """Return the first top-level heading of a page's Markdown source."""
    return re.search(r"^# (.*)$", markdown, re.MULTILINE)[1]
