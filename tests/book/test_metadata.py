"""What describes the data to others: up to date, true of every file, and readable by the programs it is made for."""

import json
import re
import subprocess
from hashlib import sha256
from pathlib import Path
from shutil import which

import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
import yaml
from rocrate.rocrate import ROCrate

from attention_book.metadata import columns
from attention_book.metadata.__main__ import texts
from attention_book.metadata.picture import PICTURE, THEMES, digest, draw, picture
from attention_book.metadata.results import PLACE, with_results
from attention_book.store import provenance
from attention_phases import __version__

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = json.loads((ROOT / "data" / "datapackage.json").read_text(encoding="utf-8"))
TYPES = {"boolean": pa.types.is_boolean, "integer": pa.types.is_integer, "number": pa.types.is_floating}


def texts_of(column):
    return {each for each in pc.unique(column).to_pylist() if each is not None}


def test_generated_files_are_up_to_date():
    for name, text in texts().items():
        assert (ROOT / name).read_text(encoding="utf-8") == text, f"{name}: run `make metadata`"


def test_results_are_written_at_their_place_alone():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert PLACE.search(text)[0].startswith("- **A first-order transition.** At $\\omega = 0.3$")
    assert with_results(text.replace("but not yet better", "but worse")) == text
    with pytest.raises(ValueError, match="no place"):
        with_results("a page without the comments")


def git(*words):
    return subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True, check=False)


@pytest.mark.skipif(
    not which("git") or git("rev-parse", "--is-shallow-repository").stdout != "false\n",
    reason="a shallow clone or an unpacked archive has not the whole history",
)
def test_the_commits_that_rows_name_are_in_the_history():
    history = set(git("rev-list", "HEAD").stdout.split())
    for path in ROOT.glob("data/*.parquet"):
        named = {each.removesuffix("+changes") for each in texts_of(pq.read_table(path, columns=["commit"])["commit"])}
        assert named <= history, path.name


def test_the_package_names_every_table():
    assert {each["path"] for each in PACKAGE["resources"]} == {path.name for path in ROOT.glob("data/*.parquet")}


@pytest.mark.parametrize("resource", PACKAGE["resources"], ids=lambda each: each["name"])
def test_a_table_is_what_the_package_says(resource):
    path = ROOT / "data" / resource["path"]
    table = pq.read_table(path)
    fields = resource["schema"]["fields"]
    assert [each["name"] for each in fields] == table.column_names
    assert resource["rows"] == len(table)
    assert resource["bytes"] == path.stat().st_size
    assert resource["hash"] == "sha256:" + sha256(path.read_bytes()).hexdigest()
    for field, column in zip(fields, table.columns):
        found = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        assert TYPES.get(field["type"], pa.types.is_string)(found), field["name"]
        assert ("unit" in field) == (field["type"] == "number"), field["name"]
        if "categories" in field:
            assert texts_of(column) <= {each["value"] for each in field["categories"]}, field["name"]


def test_every_meaning_and_every_name_is_used():
    described = [field for each in PACKAGE["resources"] for field in each["schema"]["fields"]]
    assert set(columns.COLUMNS) <= {field["name"] for field in described}
    assert set(provenance.COLUMNS) <= set(columns.COLUMNS)
    meanings = {(field["name"], field["description"]) for field in described}
    for known in (columns.COLUMNS, *columns.OF_CELLS.values()):
        assert {(name, each.meaning) for name, each in known.items()} <= meanings


def test_the_meaning_of_a_column_depends_on_its_cells():
    by_name = {
        each["name"]: {field["name"]: field for field in each["schema"]["fields"]} for each in PACKAGE["resources"]
    }
    assert "2-norm" in by_name["histogram"]["distance"]["description"]
    assert "fixed point" in by_name["stability"]["distance"]["description"]
    assert "control variate" in by_name["crossing"]["aligned"]["description"]
    assert "quadrature" in by_name["copies"]["seed"]["description"]
    assert by_name["fig03_theory"]["q_error"]["description"] == "standard error of q"


def test_a_column_that_nobody_has_described_is_refused():
    with pytest.raises(KeyError, match="new_column"):
        columns.described("new_column", object)


def test_units_of_overlaps_and_times():
    """q, theta and V carry sigma^2; what a cell took is in seconds and covers what its students took."""
    table = pq.read_table(ROOT / "data" / "fig02.parquet").to_pandas()
    assert (np.abs(table["theta"]) <= table["sigma"] * np.sqrt(table["q"]) * 1.2).all()  # |Q*|^2/d is 1 in the mean
    at_teacher = table[(table["start"] == "semantic") & (table["alpha"] > 1.9)]
    assert (at_teacher["theta"] < table["sigma"].iloc[0] ** 2).all()
    used = table.groupby("cell", observed=True).agg({"seconds": "sum", "cell_seconds": "first"})
    assert (used["seconds"] <= used["cell_seconds"]).all()


def test_the_crate_is_read_back():
    crate = ROCrate(ROOT)
    parts = {each.id: each for each in crate.root_dataset["hasPart"]}
    tables = {f"data/{each['path']}": each["hash"].removeprefix("sha256:") for each in PACKAGE["resources"]}
    assert {name for name in parts if name.endswith(".parquet")} == set(tables)
    for name, part in parts.items():
        assert (ROOT / name).exists(), name
        if name in tables:
            assert part["sha256"] == tables[name]
            assert part["license"]["identifier"] == "CC-BY-4.0"
            assert part["isBasedOn"]["license"]["identifier"] == "MIT"
    assert crate.root_dataset["version"] == __version__
    assert len(crate.root_dataset["citation"]["author"]) == 4
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", crate.root_dataset["datePublished"])


def test_the_crate_leaves_no_reference_open():
    graph = json.loads((ROOT / "ro-crate-metadata.json").read_text(encoding="utf-8"))["@graph"]
    known = {each["@id"] for each in graph}
    assert len(known) == len(graph)
    named = {
        each["@id"] for entity in graph for key, value in entity.items() if key != "conformsTo" for each in ids(value)
    }
    assert named <= known


def ids(value):
    if isinstance(value, dict):
        return [value]
    return [each for one in value for each in ids(one)] if isinstance(value, list) else []


def test_the_manifest_names_pages_of_the_book():
    manifest = yaml.safe_load((ROOT / "codecheck.yml").read_text(encoding="utf-8"))
    pages = {name.removesuffix(".ipynb") for name in re.findall(r"file: (\S+)", (ROOT / "_toc.yml").read_text())}
    files = [each["file"] for each in manifest["manifest"]]
    named = {name.removeprefix("_build/html/").removesuffix(".html") for name in files if name.endswith(".html")}
    assert {page for page in pages if re.search(r"_executed/(fig|table)\d+_", page)} == named
    assert manifest["paper"]["authors"][0] == {"name": "Hugo Cui"}


def test_the_same_picture_has_the_same_bytes(tmp_path):
    for name in ("once", "again"):
        picture("light", tmp_path / f"{name}.svg")
    assert (tmp_path / "once.svg").read_bytes() == (tmp_path / "again.svg").read_bytes()


def test_the_readme_picture_shows_the_stored_results():
    figures = [draw(theme) for theme in THEMES]
    digests = {digest(figure) for figure in figures}
    list(map(plt.close, figures))
    kept = {
        re.search(r"<dc:identifier>(\w+)<", (ROOT / PICTURE.format(theme=theme)).read_text())[1] for theme in THEMES
    }
    assert kept == digests, "run `make metadata`"
    assert len(kept) == 1
