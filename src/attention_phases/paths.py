"""Where things lie: the checkout, of which the package is an editable install, and what is kept in it."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = ROOT / "notebooks"  # texts
DATA = Path(os.environ.get("ATTENTION_PHASES_DATA", ROOT / "data"))  # stored results
BUILT = ROOT / "_build" / "results"  # what profiles have computed
# Of runs of the counting task that are not finished.
CHECKPOINTS = Path(os.environ.get("ATTENTION_PHASES_CHECKPOINTS", ROOT / "_build" / "checkpoints"))
