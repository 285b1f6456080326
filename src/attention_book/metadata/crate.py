"""The repository as an RO-Crate 1.1: what its files are, under which licence, and which program made the data."""

import pyarrow.parquet as pq

from attention_phases import __version__

from .datapackage import ABOUT, LICENCE, TITLE

MIT = "https://spdx.org/licenses/MIT"
PARQUET = "application/vnd.apache.parquet"
FILES = {  # of the repository, beside the tables: encoding and description
    "README.md": ("text/markdown", "What this is, and the two commands that rebuild it"),
    "CITATION.cff": ("text/yaml", "How to cite it"),
    "codecheck.yml": ("text/yaml", "What a CODECHECK of the paper's figures would look at"),
    "constraints.txt": ("text/plain", "Every version it was built and tested with"),
    "data/README.md": ("text/markdown", "How to read the tables"),
    "data/LICENSE": ("text/plain", "Licence of the tables"),
    "data/datapackage.json": ("application/json", "Columns, units and meaning of every table, as a Data Package"),
}
PROGRAM, AUTHORS = "src/", "#contributors"


def crate(root, package, paper):
    """The crate's JSON-LD, dated as the latest of the results.

    root: the repository. package: from `datapackage`. paper: the reference to the paper in CITATION.cff.
    """
    tables = [_table(resource) for resource in package["resources"]]
    files = [
        {"@id": name, "@type": "File", "encodingFormat": encoding, "description": about}
        for name, (encoding, about) in FILES.items()
    ]
    parts = [part["@id"] for part in (*files, *tables)] + [PROGRAM, "notebooks/"]
    whole = {
        "@id": "./",
        "@type": "Dataset",
        "name": TITLE,
        "description": ABOUT,
        "version": __version__,
        "datePublished": max(_finished(root / "data" / resource["path"]) for resource in package["resources"])[:10],
        "license": [{"@id": LICENCE["path"]}, {"@id": MIT}],
        "author": {"@id": AUTHORS},
        "citation": {"@id": paper["url"]},
        "hasPart": [{"@id": part} for part in parts],
    }
    described = {"@id": "ro-crate-metadata.json", "@type": "CreativeWork", "about": {"@id": "./"}}
    described["conformsTo"] = {"@id": "https://w3id.org/ro/crate/1.1"}
    graph = [described, whole, *files, *tables, *_context(paper)]
    return {"@context": "https://w3id.org/ro/crate/1.1/context", "@graph": graph}


def _table(resource):
    return {
        "@id": f"data/{resource['path']}",
        "@type": "File",
        "name": resource["name"],
        "description": resource["description"],
        "encodingFormat": PARQUET,
        "contentSize": str(resource["bytes"]),
        "sha256": resource["hash"].removeprefix("sha256:"),
        "license": {"@id": LICENCE["path"]},
        "isBasedOn": {"@id": PROGRAM},
    }


def _context(paper):
    """What the files refer to: program, notebooks, authors, licences, paper."""
    program = {
        "@id": PROGRAM,
        "@type": ["Dataset", "SoftwareSourceCode"],
        "name": "attention-phases",
        "description": "The program that computed the tables; each row names the commit",
        "programmingLanguage": "Python",
        "version": __version__,
        "license": {"@id": MIT},
    }
    persons = [
        {
            "@id": f"#{author['family-names'].lower()}",
            "@type": "Person",
            "givenName": author["given-names"],
            "familyName": author["family-names"],
        }
        for author in paper["authors"]
    ]
    authors = [{"@id": person["@id"]} for person in persons]
    return [
        program,
        {"@id": "notebooks/", "@type": "Dataset", "name": "notebooks", "description": "One text notebook a figure"},
        {"@id": AUTHORS, "@type": "Organization", "name": "the contributors"},
        {"@id": LICENCE["path"], "@type": "CreativeWork", "name": LICENCE["title"], "identifier": LICENCE["name"]},
        {"@id": MIT, "@type": "CreativeWork", "name": "MIT License", "identifier": "MIT"},
        {"@id": paper["url"], "@type": "ScholarlyArticle", "name": paper["title"], "author": authors},
        *persons,
    ]


def _finished(path):
    """When the latest cell of a table was done, from the file's statistics."""
    metadata = pq.ParquetFile(path).metadata
    column = metadata.schema.names.index("finished")
    return max(metadata.row_group(i).column(column).statistics.max for i in range(metadata.num_row_groups))
