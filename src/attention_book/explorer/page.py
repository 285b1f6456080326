"""What the landing page takes from the library: the explorer's script, a picture, and the numbers in its text."""

import json
from hashlib import sha256

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from filelock import FileLock
from numpy.polynomial.hermite_e import hermegauss

from attention_phases.task import MATRICES, Task
from attention_phases.theory.branches import MINIMA

from ..analysis.lines import borders_of, is_minimum, mark
from ..experiments.results import experiment
from ..pages import prices
from ..paths import DATA, ROOT
from ..store.parquet import encode
from ..store.provenance import source_digest
from .nodes import QUANTITIES, branch_nodes, left_out, with_interpolation

KEPT = ROOT / "_build" / "explorer"
EXPERIMENTS = {"standard": "fig03_theory", "alternative": "fig09_theory"}  # of each matrix A
TRAINED, THEORY = "fig02", "fig02_theory"  # at the standard omega
CLOSE = "crossing"  # students close to where their losses cross
POINTS = 2**11  # quadrature points a scramble, in each of several quadratures
NOISE_NODES = 9  # Gauss-Hermite, for the student's own noise in a field: 15 agree to 1e-5 of an attention
SCRIPT, WORDS, PICTURE = "explorer-data.js", "landing.json", "why.svg"


def pieces():
    """Folder with `SCRIPT`, `WORDS` (a JSON object of texts by name) and `PICTURE`, made where code or data changed."""
    digest = sha256(source_digest("attention_phases", "attention_book").encode())
    for name in (TRAINED, THEORY, CLOSE, *EXPERIMENTS.values()):
        digest.update((DATA / f"{name}.parquet").read_bytes())
    folder = KEPT / digest.hexdigest()[:12]
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / "lock"):  # of two builds, one makes them
        if not (folder / WORDS).exists():  # the last one to be written
            (folder / SCRIPT).write_text(data_script())
            (folder / WORDS).write_text(json.dumps(_why(folder) | _interpolation(), indent=1))
    return folder


def _why(folder):
    """Draw the picture; texts about the transition at the standard omega."""
    task = Task()
    line, trained, close = (experiment(name, "paper", quiet=True) for name in (THEORY, TRAINED, CLOSE))
    thresholds = {kind: mark(line, kind) for kind in ("critical", "linear")}
    alpha_c, alpha_l = (alpha.value for alpha in thresholds.values())
    solutions = prices.students_at(task, alpha_c, POINTS)
    paid, students = prices.prices(solutions, alpha_c), {branch: some[0] for branch, some in solutions.items()}
    figure = prices.draw_prices(line, task.omega, paid, alpha_c, alpha_l)
    figure.savefig(folder / PICTURE, metadata={"Date": None})
    plt.close(figure)
    return {
        **prices.threshold_words(task, thresholds, mark(line, "semantic border")),
        **prices.price_words(paid),
        **prices.overlap_words(students, task.sigma**2),
        **prices.sentence_words(prices.usual_sentence(task, students, np.random.default_rng(0))),
        **prices.student_words(line, trained[trained["optimizer"] == "lbfgs"]),
        **prices.crossing_words(close[close["omega"] == task.omega]),
    }


def _interpolation():
    """By how much the nodes are missed that the interpolation is not given: half of them by less, 95 % by less."""
    misses = pd.concat(
        [_misses(experiment(name, "paper", quiet=True), branch) for name in EXPERIMENTS.values() for branch in MINIMA]
    )
    return {
        f"missed_{name}_{word}": _power(misses[name].quantile(share))
        for name in ("train_loss", "test_mse", "own2")
        for word, share in (("median", 0.5), ("most", 0.95))
    }


def _misses(lines, branch):
    """Misses of the nodes at which a branch is a minimum; of own2 those of the own overlap over sigma^2."""
    borders, nodes = borders_of(lines), branch_nodes(lines, branch)
    frames = []
    for line, missed in zip(nodes, left_out(nodes)):
        tried = (missed[:, 0] > 0) & is_minimum(borders, branch, line.omega, line.alpha)
        frame = pd.DataFrame(missed[tried], columns=QUANTITIES)
        # An overlap is missed by the miss of its square over twice itself.
        frame["own2"] /= 2 * np.sqrt(line.values[tried, QUANTITIES.index("own2")]) * Task().sigma ** 2
        frames.append(frame)
    return pd.concat(frames)


def _power(value):
    """Such as 2·10⁻⁵."""
    digits, power = f"{value:.0e}".split("e")
    return f"{digits}·10{str(int(power)).translate(str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'))}"


def data_script():
    """JavaScript that sets `explorerData`, which a page can load from a disk too; read by `book/_static/explorer.js`.

    Both matrices A, from the stored theory; arrays as base64 of float32.
    """
    noise, weights = hermegauss(NOISE_NODES)
    data = {
        "sigma": Task().sigma,
        "quantities": QUANTITIES,
        "noise": encode(noise),
        "weights": encode(weights / weights.sum()),
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
