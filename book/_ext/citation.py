"""How to cite this book and the paper, as BibTeX, from CITATION.cff."""

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
KINDS = {"software": "software", "conference-paper": "inproceedings", "article": "article"}
FILE = ROOT / "book" / "_executed" / "citation.bib"  # the page of references shows it


def setup(app):
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(bibtex(yaml.safe_load((ROOT / "CITATION.cff").read_text())))
    return {"parallel_read_safe": True}


def bibtex(found):
    """Entries of a citation file: the work itself, and its references."""
    return "\n\n".join([entry(found), *map(entry, found.get("references", ()))]) + "\n"


def entry(found):
    kind = KINDS.get(found["type"], "misc")
    released = str(found.get("date-released", ""))[:4]
    first = found["authors"][0]
    fields = {
        "author": " and ".join(map(name, found["authors"])),
        "title": f"{{{found['title']}}}",
        "booktitle": found.get("collection-title"),
        "journal": found.get("journal"),
        "year": found.get("year") or released,
        "version": found.get("version"),
        "doi": found.get("doi"),
        "url": found.get("repository-code") or found.get("url"),
    }
    lines = "".join(f",\n  {field:9} = {{{value}}}" for field, value in fields.items() if value)
    word = next(each for each in re.findall(r"\w+", found["title"]) if len(each) > 3)
    key = f"{(first.get('family-names') or first['name']).split()[-1]}{fields['year'] or ''}{word}".lower()
    return f"@{kind}{{{key}{lines}\n}}"


def name(person):
    if "name" in person:
        return f"{{{person['name']}}}"
    return f"{person['family-names']}, {person['given-names']}"
