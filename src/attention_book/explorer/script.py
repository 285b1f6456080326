"""The explorer's data as one classic script, which a page can load from a disk."""

import json

import numpy as np
import pandas as pd
from numpy.polynomial.hermite_e import hermegauss

from attention_phases.task import MATRICES, Task
from attention_phases.theory.branches import MINIMA

from ..analysis.lines import borders_of
from ..experiments.results import experiment
from ..float32 import encode
from .nodes import QUANTITIES, branch_nodes, with_interpolation

EXPERIMENTS = {"standard": "fig03_theory", "alternative": "fig09_theory"}  # of each matrix A
NOISE_NODES = 9  # Gauss-Hermite, for the student's own noise in a field: 15 agree to 1e-5 of an attention


def data_script():
    """JavaScript that sets `explorerData`, read by `book/_static/explorer.js`."""
    return f"window.explorerData = {json.dumps(explorer_data(), separators=(',', ':'))};\n"


def explorer_data():
    """Everything that the explorer shows, of both matrices A, from the stored theory; arrays as base64 of float32."""
    noise, weights = hermegauss(NOISE_NODES)
    return {
        "sigma": Task().sigma,
        "quantities": QUANTITIES,
        "noise": encode(noise),
        "weights": encode(weights / weights.sum()),
        "tasks": {name: _task(name, experiment(stored, "paper", quiet=True)) for name, stored in EXPERIMENTS.items()},
    }


def _task(matrix, lines):
    """Of one A: the branches, up to where they are minima, the thresholds and the linear baseline."""
    limits = borders_of(lines)
    nodes = {branch: branch_nodes(lines, branch) for branch in MINIMA}
    return {
        "A": MATRICES[matrix],
        "branches": {branch: _branch(with_interpolation(each)) for branch, each in nodes.items()},
        "baseline": _curve(lines, "baseline", "test_mse"),
        "critical": _curve(lines, "critical"),
        "linear": _curve(lines, "linear"),
        "begins": {"semantic": _table(limits["semantic"]), "positional": _curve(lines, "positional start")},
        "ends": {"positional": _table(_up_to_the_border(limits["positional"], nodes["positional"]))},
    }


def _up_to_the_border(ends, nodes):
    """Where minima end, with one omega more: the first at which they go on to the last alpha computed."""
    onward = next((line for line in nodes if line.omega > ends.index.max()), None)
    if onward is None:
        return ends
    return pd.concat([ends, pd.DataFrame({"alpha": onward.alpha[-1], "alpha_error": 0.0}, [onward.omega])])


def _branch(nodes):
    """Omegas, numbers of nodes, and a row a node: alpha, values, errors."""
    rows = [np.column_stack([line.alpha, line.values, line.errors]) for line in nodes]
    return {
        "omega": encode([line.omega for line in nodes]),
        "count": [len(line.alpha) for line in nodes],
        "rows": encode(np.concatenate(rows)),
    }


def _curve(lines, what, value="alpha"):
    rows = lines[lines["what"] == what].set_index("omega").sort_index()
    return _table(rows[[value, f"{value}_error"]].fillna(0.0))


def _table(rows):
    """A value and its error along omega."""
    return {"omega": encode(rows.index), "value": encode(rows.iloc[:, 0]), "error": encode(rows.iloc[:, 1])}
