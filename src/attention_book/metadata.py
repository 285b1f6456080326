"""Bring what describes the stored results to others up to date: the Data Package, the list of tables.

python -m attention_book.metadata

Titles, licences and persons are written into these files by hand; columns, sizes and hashes come from the tables.
"""

import inspect
import json
import re
from hashlib import sha256

import pyarrow as pa
import pyarrow.parquet as pq

from attention_phases import __version__

from . import authors_tables
from .experiments import GRIDS, cells, grid
from .paths import ROOT
from .quantities import BRANCHES, OPTIMIZERS, QUANTITIES, RATIO, STARTS, THRESHOLDS, Quantity

ROWS = re.compile(r"(?<=\|---\|--:\|--:\|---\|\n)(\|.*\n)+")  # of the list of tables in data/README.md
TYPES = (  # of Arrow, and what Data Packages call them
    (pa.types.is_boolean, "boolean"),
    (pa.types.is_integer, "integer"),
    (pa.types.is_floating, "number"),
    (lambda kind: pa.types.is_dictionary(kind) or pa.types.is_string(kind), "string"),
)


def texts():
    """Return the texts as they should be, by their path in the repository."""
    resources = [resource(path) for path in sorted((ROOT / "data").glob("*.parquet"))]
    package = json.loads((ROOT / "data/datapackage.json").read_text(encoding="utf-8"))
    package |= {"version": __version__, "resources": resources}
    readme = (ROOT / "data/README.md").read_text(encoding="utf-8")
    return {
        "data/README.md": ROWS.sub(lambda _: "".join(map(line, resources)), readme),
        "data/datapackage.json": json.dumps(package, indent=1, ensure_ascii=False, allow_nan=False) + "\n",
    }


def line(table):
    """Row of the list of tables: file, rows, size, what it holds."""
    about = table["description"].rstrip(".")
    return f"| `{table['path']}` | {table['rows']:,} | {table['bytes'] / 1000:,.0f} | {about} |\n"


def resource(path):
    """A table as Data Package 2.0 has it; beside that a field has its `unit`, and the table its number of `rows`."""
    content, parquet = path.read_bytes(), pq.ParquetFile(path)
    experiment = GRIDS.get(path.stem, authors_tables)  # the one table that is computed from others
    cell_type = type(grid(path.stem, "smoke")[0]) if path.stem in GRIDS else authors_tables.PublishedTable
    return {
        "name": path.stem,
        "type": "table",
        "path": path.name,
        "description": inspect.getdoc(experiment).splitlines()[0],
        "format": "parquet",
        "mediatype": "application/vnd.apache.parquet",
        "bytes": len(content),
        "hash": f"sha256:{sha256(content).hexdigest()}",
        "rows": parquet.metadata.num_rows,
        "schema": {"fields": [field(column, cell_type) for column in parquet.schema_arrow]},
    }


def field(column, cell_type):
    """A column as Data Package 2.0 has it."""
    about = described(column.name, cell_type)
    kind = next(name for matches, name in TYPES if matches(column.type))
    entry = {"name": column.name, "type": kind, "description": about.meaning}
    if about.unit:
        entry["unit"] = about.unit
    if about.names:
        entry["categories"] = [{"value": name, "label": label or name} for name, label in about.names.items()]
    return entry


# What a column means


def _about(names):
    return Quantity("what the row is about", names=names)


_ENDS = {
    "start": "begins",
    "stop": "ends",
    "border": "turns from a saddle into a minimum, or ends",
    "limit": "turns from a saddle into a minimum",
}
_EXCEEDS = "by how much the training loss of the {} branch exceeds that of the positional one"
_OF_LINES = {
    "baseline": "the linear model",
    **{name: f"a solution of the {name} branch" for name in (*BRANCHES, "symmetric")},
    **{f"{branch} at critical": f"the solution of the {branch} branch at alpha_c" for branch in BRANCHES},
    **THRESHOLDS,
    "gap": _EXCEEDS.format("semantic"),
    "symmetric gap": _EXCEEDS.format("symmetric"),
}
for _branch in BRANCHES:
    _OF_LINES |= {f"{_branch} {end}": f"alpha where the {_branch} branch {ending}" for end, ending in _ENDS.items()}
_OF_ONE_STEP = {
    **THRESHOLDS,
    **{name: f"the ground state of the {name} branch at the replica-symmetric alpha_c" for name in BRANCHES},
    "semantic at linear": "the ground state of the semantic branch at the replica-symmetric alpha_l",
}
_OF_PASSING = {
    "settled": "whether the damped iteration settles",
    "contraction": "how a small perturbation of its fixed point shrinks",
    "copies": "how far apart two copies from different starts stay",
}
_OF_TRACKS = {
    "undamped": "overlaps by iteration, undamped",
    "damped": "the same, damped",
    "settled": "where the damped iteration settles",
}
_OF_PLANES = {
    "positional": "the positional minimum",
    "semantic": "the semantic minimum",
    "plane": "a student of the plane",
}
_OF_RUNS = {
    "epoch": "losses and accuracy of an epoch",
    "distance": "how far a tensor moved",
    "shares": "what explains the attention",
    "count": "how often a count is told right",
    "weights": "the weights themselves",
}
_SEED = Quantity("of the quadrature's scrambles")
_ALPHA = Quantity("sample complexity n/d of the solution, or the threshold or end that the row is about", RATIO)
OF_CELLS = {  # and of types that derive from them
    cells.LineCell: {"seed": _SEED, "alpha": _ALPHA, "what": _about(_OF_LINES)},
    cells.RuleCell: {
        "seed": _SEED,
        "alpha": Quantity("sample complexity n/d of the solution, or the threshold on many points", RATIO),
        "what": _about(THRESHOLDS | BRANCHES | {"symmetric": "no overlap at all", "baseline": "the linear model"}),
    },
    cells.OneStepThresholdsCell: {"seed": _SEED, "alpha": _ALPHA, "what": _about(_OF_ONE_STEP)},
    cells.MessagePassingCell: {"what": _about(_OF_PASSING)},
    cells.TrackingCell: {"what": _about(_OF_TRACKS)},
    cells.PlaneCell: {"what": _about(_OF_PLANES)},
    cells.SearchCell: {
        "aligned": Quantity("|cosine| with the lowest minimum found from all starts of the cell", RATIO)
    },
    cells.ControlledCell: {
        "aligned": Quantity("control variate: misfit of a student along the teacher, less its mean", RATIO)
    },
    cells.CountingCell: {
        "seed": Quantity("number of the run"),
        "train_loss": Quantity("mean cross-entropy along the epoch, in nats", RATIO),
        "distance": Quantity("2-norm of the tensor's change", RATIO),
        "count": Quantity("how often a token occurs in its sequence"),
        "what": _about(_OF_RUNS),
    },
    cells.ExchangedCell: {"epoch": Quantity("of Adam, from 1")},
    authors_tables.PublishedTable: {
        "start": Quantity(
            "initial weights, or branch of theory", names=STARTS | BRANCHES | {"symmetric": "no overlap at all"}
        ),
        "d": Quantity("embedding dimension; empty for curves of theory", RATIO),
        "optimizer": Quantity("of our students, or theory", names=OPTIMIZERS | {"theory": "replica-symmetric theory"}),
    },
}


def described(name, cell_type):
    """Return the `Quantity` of a stored column; `KeyError` if nothing is known of it.

    name: of the column; "x_error" is the standard error of "x".
    cell_type: class of the cells of the table.
    """
    for kind in cell_type.__mro__:
        if name in OF_CELLS.get(kind, {}):
            return OF_CELLS[kind][name]
    known = QUANTITIES.get(name)
    if known and known.meaning:
        return known
    if name.endswith("_error"):
        value = name.removesuffix("_error")
        return Quantity(f"standard error of {value}", described(value, cell_type).unit)
    raise KeyError(name)


if __name__ == "__main__":
    for name, text in texts().items():
        (ROOT / name).write_text(text, encoding="utf-8")
