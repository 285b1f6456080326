"""The scorecard's data beside its page, under a name that does not change."""

import shutil
from pathlib import Path

DATA = "book/_executed/scorecard.json"


def setup(app):
    app.connect("build-finished", bring_data)
    return {"parallel_read_safe": True}


def bring_data(app, error):
    if error is None and app.builder.format == "html":
        shutil.copy(Path(app.srcdir, DATA), Path(app.outdir, "book", "scorecard.json"))
