"""Where a run stands, in a file of arrays and a JSON text, so that a stopped one goes on."""

import json
import os
import zipfile
from pathlib import Path

import numpy as np

from attention_phases.errors import StoreError


def save(path, arrays, **state):
    """Write named arrays and a JSON state; the file is replaced whole or not at all."""
    partial = Path(f"{path}.{os.getpid()}")
    partial.parent.mkdir(parents=True, exist_ok=True)
    with partial.open("wb") as file:
        np.savez(file, **arrays, state=np.array(json.dumps(state)))
    partial.replace(path)


def load(path):
    """Arrays and state as saved, or None where there is no file."""
    if not Path(path).exists():
        return None
    try:
        with np.load(path) as file:  # refuses pickles
            arrays = {name: file[name] for name in file.files}
        return arrays, json.loads(str(arrays.pop("state")))
    except (zipfile.BadZipFile, EOFError, OSError, TypeError, AttributeError, KeyError, ValueError) as error:
        raise StoreError(f"checkpoint {path}: {str(error).splitlines()[0]}; remove it to begin anew") from error
