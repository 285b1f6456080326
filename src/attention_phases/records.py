"""What names a cell of a sweep: its canonical JSON, and the key and random seed that follow from it."""

import json
from dataclasses import fields, is_dataclass
from hashlib import sha256

import numpy as np

from .errors import BadInput


def canonical(record):
    """Return the one JSON text of a record.

    Parameters
    ----------
    record : dataclass instance or mapping
        Values are strings, booleans, finite numbers, None, and nested tuples or lists of these.

    Returns
    -------
    str
        Keys sorted, no spaces, floats by `repr` so that they read back bit for bit.

    Raises
    ------
    BadInput
        A value has no JSON form, or is NaN or infinite.
    """
    if is_dataclass(record):
        # A float field given as 2 and as 2.0 makes equal cells, which must have one name.
        record = {field.name: _number(getattr(record, field.name), field.type) for field in fields(record)}
    try:
        return json.dumps(dict(record), sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise BadInput("cell", record, f"made of finite JSON values ({error})") from None


def restore(cell_type, text):
    """Return the `cell_type` whose canonical JSON is `text`; every JSON list becomes a tuple."""
    return cell_type(**{name: _tuples(value) for name, value in json.loads(text).items()})


def key(text):
    """Return 32 hexadecimal digits that name the cell with canonical JSON `text`."""
    return sha256(text.encode()).hexdigest()[:32]


def seed_sequence(record):
    """Return a `numpy.random.SeedSequence` that depends on the record's values and on nothing else.

    The order of a run, the worker and the machine play no part, so one worker and forty draw the same
    numbers. Cells that must share their random draws pass the fields that they have in common.
    """
    return np.random.SeedSequence(int.from_bytes(sha256(canonical(record).encode()).digest()))


def _number(value, kind):
    return float(value) if kind in (float, "float") and isinstance(value, int) else value


def _tuples(value):
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
