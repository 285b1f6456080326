"""The repository as an RO-Crate: what its files are, under which licence, and which program made the data."""

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
    """The crate's JSON-LD.

    Parameters
    ----------
    root : Path
        Of the repository.
    package : dict
        From `datapackage.datapackage`.
    paper : dict
        The reference to the paper, from CITATION.cff.

    Returns
    -------
    dict
        RO-Crate 1.1. It is dated as the latest of the results.
    """
    tables = [_table(each) for each in package["resources"]]
    files = [
        {"@id": name, "@type": "File", "encodingFormat": encoding, "description": about}
        for name, (encoding, about) in FILES.items()
    ]
    parts = [*files, *tables, {"@id": PROGRAM}, {"@id": "notebooks/"}]
    whole = {
        "@id": "./",
        "@type": "Dataset",
        "name": TITLE,
        "description": ABOUT,
        "version": __version__,
        "datePublished": max(_finished(root / "data" / each["path"]) for each in package["resources"])[:10],
        "license": [{"@id": LICENCE["path"]}, {"@id": MIT}],
        "author": {"@id": AUTHORS},
        "citation": {"@id": paper["url"]},
        "hasPart": [{"@id": each["@id"]} for each in parts],
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
    """What the files refer to."""
    authors = [{"@id": f"#{each['family-names'].lower()}"} for each in paper["authors"]]
    return [
        {
            "@id": PROGRAM,
            "@type": ["Dataset", "SoftwareSourceCode"],
            "name": "attention-phases",
            "description": "The program that computed the tables; each row names the commit",
            "programmingLanguage": "Python",
            "version": __version__,
            "license": {"@id": MIT},
        },
        {"@id": "notebooks/", "@type": "Dataset", "name": "notebooks", "description": "One text notebook a figure"},
        {"@id": AUTHORS, "@type": "Organization", "name": "the contributors"},
        {"@id": LICENCE["path"], "@type": "CreativeWork", "name": LICENCE["title"], "identifier": LICENCE["name"]},
        {"@id": MIT, "@type": "CreativeWork", "name": "MIT License", "identifier": "MIT"},
        {"@id": paper["url"], "@type": "ScholarlyArticle", "name": paper["title"], "author": authors},
        *(
            {**named, "@type": "Person", "givenName": each["given-names"], "familyName": each["family-names"]}
            for named, each in zip(authors, paper["authors"])
        ),
    ]


def _finished(path):
    """When the latest cell of a table was done, from the file's statistics."""
    found = pq.ParquetFile(path).metadata
    column = found.schema.names.index("finished")
    return max(found.row_group(i).column(column).statistics.max for i in range(found.num_row_groups))
