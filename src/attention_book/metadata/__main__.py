"""Write what describes the repository to others, from the stored results and CITATION.cff; quick.

python -m attention_book.metadata
"""

import json

import yaml

from ..paths import ROOT
from .codecheck import codecheck
from .crate import crate
from .datapackage import datapackage
from .picture import PICTURE, THEMES, picture
from .readme import readme
from .results import with_results


def texts(root=ROOT):
    """Return the generated texts by their path in the repository."""
    paper = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))["references"][0]
    package = datapackage(root / "data", paper)
    return {
        "README.md": with_results((root / "README.md").read_text(encoding="utf-8")),
        "data/README.md": readme(package),
        "data/datapackage.json": _json(package),
        "ro-crate-metadata.json": _json(crate(root, package, paper)),
        "codecheck.yml": "---\n" + yaml.safe_dump(codecheck(paper), sort_keys=False, allow_unicode=True, width=120),
    }


def _json(value):
    return json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def main():
    """Write the texts, and the README's picture in both themes."""
    for name, text in texts().items():
        (ROOT / name).write_text(text, encoding="utf-8")
    for theme in THEMES:
        picture(theme, ROOT / PICTURE.format(theme=theme))


if __name__ == "__main__":
    main()
