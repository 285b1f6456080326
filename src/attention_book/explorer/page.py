"""What the landing page takes from the library: the explorer's script, a picture, and the numbers in its text."""

import json
from hashlib import sha256

import matplotlib.pyplot as plt
import pandas as pd
from filelock import FileLock
from numpy.polynomial.hermite_e import hermegauss

from attention_phases.task import MATRICES, Task
from attention_phases.theory.branches import MINIMA

from ..analysis.thresholds import borders_of, mark
from ..experiments.results import experiment
from ..pages import prices
from ..paths import DATA, ROOT
from ..store.provenance import source_digest
from .nodes import QUANTITIES, branch_nodes, with_interpolation

KEPT = ROOT / "_build" / "explorer"
EXPERIMENTS = {"standard": "fig03_theory", "alternative": "fig09_theory"}  # of each matrix A
TRAINED, THEORY = "fig02", "fig02_theory"  # at the standard omega
CLOSE = "crossing"  # students close to where their losses cross
VARIANTS = "fig14_theory"  # thresholds of other architectures
POINTS = 2**11  # quadrature points a scramble, in each of several quadratures
NOISE_NODES = 9  # Gauss-Hermite, for the student's own noise in a field: 15 agree to 1e-5 of an attention
SCRIPT, WORDS, PICTURE = "explorer-data.js", "landing.json", "why.svg"


def pieces():
    """Folder with `SCRIPT`, `WORDS` (a JSON object of texts by name) and `PICTURE`, made where code or data changed."""
    digest = sha256(source_digest("attention_phases", "attention_book").encode())
    for name in (TRAINED, THEORY, CLOSE, VARIANTS, *EXPERIMENTS.values()):
        digest.update((DATA / f"{name}.parquet").read_bytes())
    folder = KEPT / digest.hexdigest()[:12]
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / "lock"):  # of two builds, one makes them
        if not (folder / WORDS).exists():  # the last one to be written
            (folder / SCRIPT).write_text(data_script())
            (folder / WORDS).write_text(json.dumps(_words(folder), indent=1))
    return folder


def _words(folder):
    """Draw the picture; texts about the transition at the standard omega, about limits, and about claims."""
    task, names = Task(), (THEORY, TRAINED, CLOSE, EXPERIMENTS["alternative"], VARIANTS)
    line, trained, close, alternative, variants = (experiment(name, "paper", quiet=True) for name in names)
    trained, close = trained[trained["optimizer"] == "lbfgs"], close[close["omega"] == task.omega]
    alpha_c = mark(line, "critical").value
    solutions = {alpha: prices.students_at(task, alpha, POINTS) for alpha in (1.0, alpha_c, 2.0)}
    accounts = {
        alpha: {branch: prices.account(task, some) for branch, some in students.items()}
        for alpha, students in solutions.items()
    }
    names = [r"$\alpha$ = 1", rf"$\alpha_c$ = {alpha_c:.2f}", r"$\alpha$ = 2"]
    figure = prices.draw_accounts(list(accounts.values()), names)
    figure.savefig(folder / PICTURE, metadata={"Date": None})
    plt.close(figure)
    at_c = {branch: some[0] for branch, some in solutions[alpha_c].items()}
    words = prices.words(task, line, trained, close, accounts[alpha_c], at_c)
    return words | prices.claim_words(alternative, variants)


def data_script():
    """JavaScript that sets `explorerData`, which a page can load from a disk too; read by `book/_static/explorer.js`.

    Both matrices A, from the stored theory, to seven digits.
    """
    noise, weights = hermegauss(NOISE_NODES)
    data = {
        "sigma": Task().sigma,
        "lam": Task().lam,
        "noise": list(noise),
        "weights": list(weights / weights.sum()),
        "tasks": {name: _task(name, experiment(stored, "paper", quiet=True)) for name, stored in EXPERIMENTS.items()},
    }
    return f"window.explorerData = {json.dumps(data, separators=(',', ':'))};\n"


def _task(matrix, lines):
    """Of one A: the branches, up to where they are minima, the thresholds and the linear baseline."""
    borders = borders_of(lines)
    nodes = {branch: branch_nodes(lines, branch) for branch in MINIMA}
    return {
        "A": MATRICES[matrix],
        "branches": {branch: _branch(with_interpolation(line)) for branch, line in nodes.items()},
        "baseline": _curve(lines, "baseline", "test_mse"),
        "critical": _curve(lines, "critical"),
        "linear": _curve(lines, "linear"),
        "begins": {"semantic": _table(borders["semantic"]), "positional": _curve(lines, "positional start")},
        "ends": {"positional": _table(_up_to_the_border(borders["positional"], nodes["positional"]))},
    }


def _up_to_the_border(ends, nodes):
    """Where minima end, with one omega more: the first at which they go on to the last alpha computed."""
    onward = next((line for line in nodes if line.omega > ends.index.max()), None)
    if onward is None:
        return ends
    return pd.concat([ends, pd.DataFrame({"alpha": onward.alpha[-1], "alpha_error": 0.0}, [onward.omega])])


def _branch(nodes):
    """Omegas, and of each a line: alpha, and values and errors by the quantity's name."""
    lines = [
        {"alpha": _short(line.alpha)}
        | {
            part: {name: _short(column) for name, column in zip(QUANTITIES, getattr(line, part).T)}
            for part in ("values", "errors")
        }
        for line in nodes
    ]
    return {"omega": [line.omega for line in nodes], "lines": lines}


def _curve(lines, what, value="alpha"):
    rows = lines[lines["what"] == what].set_index("omega").sort_index()
    return _table(rows[[value, f"{value}_error"]].fillna(0.0))


def _table(rows):
    """A value and its error along omega."""
    return dict(zip(("omega", "value", "error"), map(_short, (rows.index, *rows.to_numpy().T))))


def _short(numbers):
    return [float(f"{number:.7g}") for number in numbers]
