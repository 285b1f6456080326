"""The scripts of the book on one page, with tables of which one is artificial."""

import json
import re

import numpy as np
import pytest
from built import HERE, opening
from cases import case_text
from explorer import write_script
from landing import SCRIPTS as OF_THE_LANDING_PAGE
from pages import Page

from attention_phases import Measured
from browser import LAM, MADE, SIGMA, Theory, load

STATIC = HERE / "book/_static"
SCRIPTS = (*OF_THE_LANDING_PAGE[1:], "readout.js", "search.js")  # without the script of the data
WORKER = "window.inWorker = () => (name, job, answered) => { name && jobs.push({name, job, answered}); };"
WORDS = "alpha_c α_c theta loss losses training trained the of semantic positional weight attention_phases q valleys"
WORDS += " optimiser optimizers"


def made_up(task, rng):
    """Return a task with the tables of another task, changed at random, with gaps and ten times larger errors."""

    def shaken(part):
        if not isinstance(part, dict):
            return list(np.array(part) * rng.uniform(0.98, 1.02, len(part)))
        return {name: some if name in ("omega", "last") else shaken(some) for name, some in part.items()}

    curves = {what: shaken(task[what]) for what in ("baseline", "critical", "linear", "begins", "ends")}
    branches = {}
    for name, branch in task["branches"].items():
        kept = np.sort(np.r_[0, rng.choice(np.arange(1, 22), 12, replace=False), 22])
        branches[name] = {"omega": [branch["omega"][k] for k in kept], "lines": []}
        for k in kept:
            line, n = branch["lines"][k], len(branch["lines"][k]["alpha"])
            some = np.r_[0, np.sort(rng.choice(np.arange(1, n - 1), n - 4, replace=False)), n - 1]
            taken = {
                part: {key: times * np.array(column)[some] for key, column in line[part].items()}
                for part, times in (("values", 1), ("errors", 10))
            }
            branches[name]["lines"].append({"alpha": [line["alpha"][i] for i in some], **shaken(taken)})
    return {**task, **curves, "A": MADE.matrix, "branches": branches}


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    """Return the content of `explorer-data.js`, with other constants and with a third, artificial task."""
    folder = tmp_path_factory.mktemp("scripts")
    write_script(folder)
    text = (folder / "explorer-data.js").read_text(encoding="utf-8")
    data = json.loads(text.removeprefix("window.explorerData = ").rstrip(";\n"))
    data["tasks"]["made"] = made_up(data["tasks"]["standard"], np.random.default_rng(1))
    return data | {"sigma": SIGMA, "lam": LAM}


@pytest.fixture(scope="module")
def page(chromium, data, tmp_path_factory):
    """Yield a page with all scripts; jobs for its workers wait in `jobs`, and tests answer them."""
    shown, rng = [], np.random.default_rng(12)
    Page("fig01_landscape", HTML=shown.append, task=MADE, critical=Measured(1.234, 0.001)).cell_of("MOVING")
    parts = [(HERE / f"book/{name}.html").read_text(encoding="utf-8") for name in ("explorer", "hint")]
    bodies = "".join([*parts, re.sub("<(script src|link).*?>", "", shown[0])])
    scripts = [(STATIC / name).read_text(encoding="utf-8") for name in SCRIPTS]
    scripts.insert(2, WORKER)

    def words(count):
        return " ".join(rng.choice(WORDS.split(), count))

    anchors = [("", "part", "term-word", "all-figures")[: rng.integers(1, 5)] for _ in range(40)]
    pages = ([[anchor, words(2), words(rng.integers(5, 120))] for anchor in some] for some in anchors)
    texts = {f"book/page_{k}": page for k, page in enumerate(pages)}
    for k, word in enumerate(("gpu", "replica")):  # words that no real page has together
        texts[f"book/page_{k}"][0][2] += f" {word}"
    style, given = (STATIC / "explorer.css").read_text(encoding="utf-8"), json.dumps(data)
    path = tmp_path_factory.mktemp("page") / "page.html"
    tags = "".join(f"<script>{script}</script>" for script in scripts)
    path.write_text(case_text("scripts.html") % (style, bodies, given, json.dumps(texts), tags), encoding="utf-8")
    with opening(chromium, reduced_motion="reduce") as opened:
        page = opened(path)
        load(page, page.url)
        yield page


@pytest.fixture(scope="session")
def theories(data):
    return {name: Theory(task) for name, task in data["tasks"].items()}
