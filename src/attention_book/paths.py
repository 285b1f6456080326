"""Where things are: the checkout, of which the package is an editable install, and what is kept in it."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = ROOT / "notebooks"  # texts; that of a figure or table of the paper begins with its name
DATA = Path(os.environ.get("ATTENTION_PHASES_DATA", ROOT / "data"))  # stored results
BUILT = ROOT / "_build" / "results"  # what profiles have computed
# Of runs of the counting task that are not finished.
CHECKPOINTS = Path(os.environ.get("ATTENTION_PHASES_CHECKPOINTS", ROOT / "_build" / "checkpoints"))


def figure_texts():
    """Return the texts of the paper's figures and tables by name, such as fig02, in the order of the names."""
    texts = sorted(path for kind in ("fig", "table") for path in NOTEBOOKS.glob(f"{kind}[0-9]*_*.md"))
    return {path.stem.partition("_")[0]: path for path in texts}
