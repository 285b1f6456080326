"""What the landing page takes from the library: the explorer's script, a picture, and the numbers in its text."""

import json
from hashlib import sha256

import matplotlib.pyplot as plt
import numpy as np
from filelock import FileLock

from attention_phases.task import Task
from attention_phases.theory.branches import MINIMA

from ..analysis.lines import borders_of, is_minimum, mark
from ..analysis.prices import prices, students_at, usual_sentence
from ..experiments.results import experiment
from ..figures.prices import prices as draw
from ..paths import DATA, ROOT
from ..store.provenance import source_digest
from . import words
from .nodes import branch_nodes
from .script import EXPERIMENTS, data_script

KEPT = ROOT / "_build" / "explorer"
TRAINED, THEORY = "fig02", "fig02_theory"  # at the standard omega
CLOSE = "crossing"  # students close to where their losses cross
POINTS = 2**11  # quadrature points a scramble, in each of several quadratures
SCRIPT, WORDS, PICTURE = "explorer-data.js", "landing.json", "why.svg"


def pieces():
    """Folder with the pieces of the landing page, made unless code and data are those that made it.

    Returns
    -------
    Path
        Has `SCRIPT`, `WORDS` (a JSON object of texts by name) and `PICTURE`.
    """
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
    line = experiment(THEORY, "paper", quiet=True)
    thresholds = {kind: mark(line, kind) for kind in ("critical", "linear")}
    alpha_c, alpha_l = (each.value for each in thresholds.values())
    solutions = students_at(task, alpha_c, POINTS)
    paid, students = prices(solutions, alpha_c), {branch: some[0] for branch, some in solutions.items()}
    limits = borders_of(line)
    figure = draw(_curves(line, task.omega, limits), paid, alpha_c, alpha_l)
    figure.savefig(folder / PICTURE, metadata={"Date": None})
    plt.close(figure)
    trained, close = (experiment(name, "paper", quiet=True) for name in (TRAINED, CLOSE))
    return {
        **words.threshold_words(task, thresholds, limits["semantic"].loc[task.omega]),
        **words.price_words(paid),
        **words.overlap_words({branch: each.overlaps for branch, each in students.items()}, task.sigma**2),
        **words.sentence_words(usual_sentence(task, students, np.random.default_rng(0))),
        **words.student_words(line, trained[trained["optimizer"] == "lbfgs"]),
        **words.crossing_words(close[close["omega"] == task.omega]),
    }


def _curves(line, omega, limits):
    """By branch, alphas at which it is a minimum and its training loss."""
    found = {}
    for branch in MINIMA:
        rows = line[line["what"] == branch].sort_values("alpha")
        rows = rows[is_minimum(limits, branch, omega, rows["alpha"])]
        found[branch] = rows["alpha"].to_numpy(), rows["train_loss"].to_numpy()
    return found


def _interpolation():
    branches = []
    for name in EXPERIMENTS.values():
        lines = experiment(name, "paper", quiet=True)
        limits = borders_of(lines)
        for branch in MINIMA:
            minima = lambda omega, alpha, limits=limits, branch=branch: is_minimum(limits, branch, omega, alpha)  # noqa: E731
            branches.append((branch_nodes(lines, branch), minima))
    return words.interpolation_words(branches, Task().sigma ** 2)
