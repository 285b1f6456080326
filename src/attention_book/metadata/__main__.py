"""Write what describes the stored results to others: data package, crate, the list of tables; quick.

python -m attention_book.metadata
"""

import json
import re

import yaml

from ..paths import ROOT
from .crate import crate
from .datapackage import datapackage

TABLES = re.compile(r"(?<=\|---\|--:\|--:\|---\|\n)(\|.*\n)+")  # the rows in data/README.md


def texts(root=ROOT):
    """Return the generated texts by their path in the repository."""
    paper = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))["references"][0]
    package = datapackage(root / "data", paper)
    return {
        "data/README.md": TABLES.sub(lambda _: list_of_tables(package), (root / "data/README.md").read_text()),
        "data/datapackage.json": _json(package),
        "ro-crate-metadata.json": _json(crate(root, package, paper)),
    }


def list_of_tables(package):
    """Rows of the list of tables: file, rows, size, what it holds."""
    return "".join(
        f"| `{table['path']}` | {table['rows']:,} | {table['bytes'] / 1000:,.0f} "
        f"| {table['description'].rstrip('.')} |\n"
        for table in package["resources"]
    )


def _json(value):
    return json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


if __name__ == "__main__":
    for name, text in texts().items():
        (ROOT / name).write_text(text, encoding="utf-8")
