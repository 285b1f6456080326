"""Where a run stands, in a safetensors file, so that a stopped one goes on."""

import json
import os
from pathlib import Path

from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from attention_phases.errors import StoreError


def save(path, arrays, **state):
    """Write named arrays and a JSON state; the file is replaced whole or not at all."""
    partial = Path(f"{path}.{os.getpid()}")
    partial.parent.mkdir(parents=True, exist_ok=True)
    save_file(arrays, partial, {"state": json.dumps(state)})
    partial.replace(path)


def load(path):
    """Arrays and state as saved, or None where there is no file."""
    if not Path(path).exists():
        return None
    try:
        with safe_open(path, "numpy") as file:
            return {name: file.get_tensor(name) for name in file.keys()}, json.loads(file.metadata()["state"])  # noqa: SIM118
    except (SafetensorError, OSError, TypeError, KeyError, ValueError) as error:
        raise StoreError(f"checkpoint {path}: {str(error).splitlines()[0]}; remove it to begin anew") from error
