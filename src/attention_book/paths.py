"""Where things are: the checkout, of which the package is an editable install, and what is kept in it."""

import os
import re
from pathlib import Path

from attention_phases.errors import StoreError

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = ROOT / "notebooks"  # texts; that of a figure or table of the paper begins with its name
DATA = Path(os.environ.get("ATTENTION_PHASES_DATA", ROOT / "data"))  # stored results
BUILT = Path(os.environ.get("ATTENTION_PHASES_BUILT", ROOT / "_build" / "results"))  # what profiles have computed


def checkout():
    """The folder of the checkout; `StoreError` where the package is installed without one."""
    if not (ROOT / "src").is_dir():
        how = "clone its repository, and there make install, or pip install -e '.[book]'"
        raise StoreError(f"this needs a checkout of the book, which {Path(__file__).parent} is not part of: {how}")
    return ROOT


def lacking(what, error):
    """The line that says what needs the package that a `ModuleNotFoundError` names, and how that is installed."""
    how = "pip install -e '.[book]', in a checkout of the book, installs it"
    return f"{what} needs {error.name}, which is not installed: {how}"


def stored_table(name):
    """The file of the stored results of an experiment; where it is missing, `StoreError` says how it is made."""
    path = DATA / f"{name}.parquet"
    if not path.exists():
        checkout()
        raise StoreError(f"{path}: missing; attention-phases sweep {name} --profile paper computes it")
    return path


def notebook_name(text):
    """The name of a text notebook (a Path): that of its figure or table, such as fig02, or the whole one."""
    numbered = re.match(r"((fig|table)\d+)_", text.stem)
    return numbered[1] if numbered else text.stem


def notebooks():
    """The texts of all notebooks by name, figures and tables of the paper first."""
    checkout()
    texts = sorted(NOTEBOOKS.glob("*.md"), key=lambda text: (notebook_name(text) == text.stem, text.stem))
    return {notebook_name(text): text for text in texts}


def read_edited(path):
    """The text of a file that people edit, without the byte order mark with which some editors begin."""
    return path.read_text(encoding="utf-8-sig")


def title(markdown):
    """The first heading of a page's source."""
    return re.search(r"^# (.*)$", markdown, re.MULTILINE)[1]
