"""The book's scripts on one page made of their sources: what they compute, against an independent computation on random
tables, and what they draw, read back from the drawing and compared with the data."""

import json
import re
from collections import Counter
from functools import cache
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import torch
from built import DESK, FRAMES, HERE, PHONE
from cases import cases
from cells import cell
from explorer import EXPERIMENTS, Nodes, interpolate, polynomial, write_script
from landing import SCRIPTS as OF_THE_LANDING_PAGE
from matplotlib.path import Path as Outline
from scipy import stats
from scipy.interpolate import KroghInterpolator
from scipy.optimize import brentq, minimize
from test_dark import hue

from attention_book.analysis.arrivals import classify
from attention_book.analysis.instances import training_gap
from attention_book.analysis.thresholds import crossings
from attention_book.experiments.results import read
from attention_book.render.style import COLOURS
from attention_phases import Measured, Task
from attention_phases.model import prediction_error
from attention_phases.theory.branches import OWN_OVERLAP

STATIC = HERE / "book/_static"
SIGMA, LAM = 0.6, 0.02  # neither is the book's: what is forgotten or taken twice shows
RHO = SIGMA**2
MADE = Task(omega=0.27, sigma=SIGMA, lam=LAM, matrix=((0.7, 0.3), (0.45, 0.55)))
PARTS = ("values", "errors")
FACTORS = (("values", 1), ("errors", 10))
TASK = {"omega": MADE.omega, "A": MADE.matrix}
QUANTITIES = {  # of panels and rows of numbers, by words of their titles: name and scale
    "training loss": ("train_loss", 1e3),
    "test error": ("test_mse", 1e3),
    "θ/σ²": ("theta", 1),
    "m/σ²": ("m", 1),
}
SCRIPTS = (*OF_THE_LANDING_PAGE[1:], "landscape.js", "readout.js", "search.js")  # without the data
PAGE = """<html data-content_root=""><meta charset="utf-8"><style>%s</style><body>%s
<figure class="readout" id="made"><span class="themes"><img style="width: 300px; height: 260px; object-fit: contain"
src="data:image/svg+xml,%%3Csvg xmlns='http://www.w3.org/2000/svg' width='400' height='200'/%%3E"></span></figure>
<ul id="results"></ul>
<script>window.explorerData = %s; window.SEARCH_TEXTS = %s; window.jobs = [];
window.Search = {title: {}, status: {}, stopPulse() {}, output: document.querySelector("#results"),
    _parseQuery: () => [[], [], [], [], []], performTermsSearch: () => [], performObjectSearch: () => []};</script>
%s"""
WORKER = "window.inWorker = () => (name, job, answered) => { name && jobs.push({name, job, answered}); };"
WORDS = "alpha_c α_c theta loss losses training trained the of semantic positional weight attention_phases q valleys"


def made_up(task, rng):
    """A task whose tables are those of another one, shaken, each line without some nodes, errors ten times as large."""

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
                for part, times in FACTORS
            }
            branches[name]["lines"].append({"alpha": [line["alpha"][i] for i in some], **shaken(taken)})
    return {**task, **curves, "A": MADE.matrix, "branches": branches}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """What `explorer-data.js` holds, with constants of our own and a third task, made up."""
    folder = tmp_path_factory.mktemp("scripts")
    write_script(folder)
    text = (folder / "explorer-data.js").read_text(encoding="utf-8")
    data = json.loads(text.removeprefix("window.explorerData = ").rstrip(";\n"))
    data["tasks"]["made"] = made_up(data["tasks"]["standard"], np.random.default_rng(1))
    return data | {"sigma": SIGMA, "lam": LAM}


@pytest.fixture(scope="module")
def page(chromium, data, tmp_path_factory):
    """A page of all scripts; jobs of its workers wait in `jobs`, to be answered by hand."""
    shown, rng = [], np.random.default_rng(12)
    cell("fig01_landscape", "MOVING", HTML=shown.append, task=MADE, critical=Measured(1.234, 0.001))
    parts = [(HERE / f"book/{name}.html").read_text(encoding="utf-8") for name in ("explorer", "guess")]
    bodies = "".join([*parts, '<div class="guess-answer"></div>', re.sub("<(script src|link).*?>", "", shown[0])])
    scripts = [(STATIC / name).read_text(encoding="utf-8") for name in SCRIPTS]
    scripts.insert(2, WORKER)

    def words(count):
        return " ".join(rng.choice(WORDS.split(), count))

    anchors = [("", "part", "term-word", "all-figures")[: rng.integers(1, 5)] for _ in range(40)]
    pages = ([[anchor, words(2), words(rng.integers(5, 120))] for anchor in some] for some in anchors)
    texts = {f"book/page_{k}": page for k, page in enumerate(pages)}
    style, given = (STATIC / "explorer.css").read_text(encoding="utf-8"), json.dumps(data)
    path = tmp_path_factory.mktemp("page") / "page.html"
    tags = "".join(f"<script>{script}</script>" for script in scripts)
    path.write_text(PAGE % (style, bodies, given, json.dumps(texts), tags), encoding="utf-8")
    page, complaints = chromium.new_page(viewport=DESK, reduced_motion="reduce"), []
    page.on("pageerror", lambda error: complaints.append(error))
    load(page, path.as_uri())
    yield page
    page.close()
    assert complaints == []


def load(page, address):
    page.goto(address)
    page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true; })")
    page.evaluate(FRAMES)


class Theory:
    """What the tables of a task say, by the library's interpolation and by NumPy."""

    def __init__(self, task):
        self.task, self.nodes = task, {}
        for name, branch in task["branches"].items():
            self.nodes[name] = []
            for omega, line in zip(branch["omega"], branch["lines"], strict=True):
                values, errors = (np.transpose(list(line[part].values())) for part in PARTS)
                self.nodes[name].append(Nodes(omega, np.array(line["alpha"]), values, errors))

    def along(self, what, omega, count=4):
        """Value and error of a curve, NaN outside of it."""
        table = self.task[what] if isinstance(what, str) else what
        nodes = np.array(table["omega"])
        if not nodes[0] - 1e-6 <= omega <= nodes[-1] + 1e-6:
            return np.nan, np.nan
        both = (("value", count), ("error", 2))
        return tuple(float(polynomial(nodes, np.array(table[part]), omega, size)) for part, size in both)

    @cache  # noqa: B019
    def linear(self, omega):
        """alpha_l and its error: where test errors cross near the stored one, else as stored."""
        stored, (baseline, error) = self.along("linear", omega), self.along("baseline", omega)
        ends = stored[0] + max(3 * stored[1], 0.02) * np.array([-1, 1])
        ends[1] = min(ends[1], max(line.alpha[-1] for line in self.nodes["semantic"]))

        def lag(alpha):
            student = self.minimum("semantic", omega, alpha)
            return student["test_mse"][0] - baseline if student else np.nan

        first, last = map(lag, ends)
        if not first > 0 > last:
            return stored
        alpha = brentq(lag, *ends, xtol=1e-9)
        error = np.hypot(self.minimum("semantic", omega, alpha)["test_mse"][1], error)
        return alpha, error * np.ptp(ends) / (first - last)

    def curves(self, omega):
        return {what: self.along(what, omega) for what in ("baseline", "critical")} | {"linear": self.linear(omega)}

    def range(self, name, omega):
        """Between which alpha there is a valley; None where there is none."""
        start = self.along(self.task["begins"][name], omega, 2)[0]
        if np.isnan(start) or omega > self.task["branches"][name]["omega"][-1] + 1e-6:
            return None
        end = self.along(self.task["ends"].get(name, {"omega": [9]}), omega, 2)[0]
        return start, max(line.alpha[-1] for line in self.nodes["semantic"]) if np.isnan(end) else end

    @cache  # noqa: B019
    def minimum(self, name, omega, alpha):
        """Of each quantity value, error, and the ends of its band; None where there is no valley."""
        within = self.range(name, omega)
        if within is None or not within[0] <= alpha <= within[1]:
            return None
        values, errors = (interpolate(self.nodes[name], omega, alpha, part) for part in PARTS)
        if values is None or errors is None:
            return {}  # beyond the last node, where both extrapolate
        (loss, test, q, square), errors = values, abs(errors)
        low, own, high = np.sqrt(np.maximum(square + errors[3] * np.array([-1, 0, 1]), 0)) / RHO
        ridge = LAM * q / RHO / 2
        overlaps = {
            OWN_OVERLAP[other]: (own, (high - low) / 2, low, high) if other == name else (0, 0, 0, 0)
            for other in OWN_OVERLAP
        }
        losses = zip(("train_loss", "test_mse"), (loss, test), errors)
        both = {key: (value, error, value - error, value + error) for key, value, error in losses}
        return both | overlaps | {"ridge": ridge, "misfit": (loss - ridge) / alpha}

    def at(self, omega, alpha):
        return {name: self.minimum(name, omega, alpha) for name in OWN_OVERLAP}


@pytest.fixture(scope="module")
def theories(data):
    return {name: Theory(task) for name, task in data["tasks"].items()}


# What the explorer says ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("matrix", EXPERIMENTS)
def test_the_explorer_carries_the_stored_theory_and_its_errors(data, matrix):
    """Errors: of the quadrature as they are stored, and what the neighbours say of a node that they are not given."""
    lines, task = read(EXPERIMENTS[matrix], "paper"), data["tasks"][matrix]
    for what, name in (("critical", "alpha"), ("linear", "alpha"), ("baseline", "test_mse")):
        rows = lines[lines["what"] == what].sort_values("omega")
        assert task[what]["omega"] == pytest.approx(rows["omega"]) and len(rows) > 2
        nodes, values = rows[["omega", name]].to_numpy().T
        missed = [through(np.delete(nodes, i), np.delete(values, i), nodes[i]) for i in range(1, len(nodes) - 1)]
        errors = np.hypot(rows[f"{name}_error"].fillna(0), [0, *(missed - values[1:-1]), 0])
        assert task[what]["value"] == pytest.approx(values, rel=1e-6)
        assert task[what]["error"] == pytest.approx(errors, rel=1e-6, abs=1e-12)
    checked = 0
    for branch, own in OWN_OVERLAP.items():
        nodes = Theory(task).nodes[branch]
        for k, line in enumerate(nodes):
            rows = lines[np.isclose(lines["omega"], line.omega)].set_index("what")
            ends = rows.loc[rows.index.intersection([f"{branch} start", f"{branch} stop"]), "alpha"]
            assert line.alpha[line.values[:, 3] == 0] == pytest.approx(sorted(ends), rel=1e-6)  # without an overlap
            rows = rows.loc[[branch]].set_index("alpha")
            for i in range(1 + k % 4, len(line.alpha) - 1, 4):
                row = rows.iloc[abs(rows.index - line.alpha[i]).argmin()]
                assert line.values[i] == pytest.approx([*row[["train_loss", "test_mse", "q"]], row[own] ** 2], rel=1e-6)
                errors = np.array([row[f"{name}_error"] for name in ("train_loss", "test_mse", "q", own)])
                errors[3] *= 2 * row[own]  # of the square
                assert (line.errors[i] >= errors * (1 - 1e-6)).all()
                if 1 < i < len(line.alpha) - 2 and 1 < k < len(nodes) - 2:
                    others = [nodes[k + by] for by in (-2, -1, 1, 2)]
                    omegas = [other.omega for other in others]
                    ends = KroghInterpolator(omegas, [other.alpha[[0, -1]] for other in others])(line.omega)
                    share = (line.alpha[i] - ends[0]) / np.ptp(ends)
                    across = [through(x, y, x[0] + share * np.ptp(x)) for x, y in (other[1:3] for other in others)]
                    along = through(np.delete(line.alpha, i), np.delete(line.values, i, 0), line.alpha[i])
                    missed = abs([along, KroghInterpolator(omegas, across)(line.omega)] - line.values[i]).max(0)
                    assert line.errors[i] == pytest.approx(np.hypot(errors, missed), rel=1e-3, abs=1e-9)
                    checked += 1
    assert checked > 5


def through(x, y, at):
    """The cubic through the four nodes around a point."""
    first = np.clip((x <= at).sum() - 2, 0, len(x) - 4)
    return KroghInterpolator(x[first : first + 4], y[first : first + 4])(at)


def says(text, *expected):
    """Whether the numbers of a text "1.23 ± 0.04" are these to half of a unit of their last digits."""
    numbers = re.findall(r"−?\d+(?:\.\d+)?", text)
    units = [10.0 ** -len(number.partition(".")[2]) for number in numbers]
    told = [float(number.replace("−", "-")) for number in numbers]
    return len(told) == len(expected) and all(abs(a - b) <= 0.501 * unit for a, b, unit in zip(told, expected, units))


SAID = """views => views.map(([matrix, omega, alpha]) => {
    explorer.move({matrix, omega, alpha});
    const texts = selector => [...document.querySelectorAll(selector)].map(part => part.textContent);
    const rows = [...document.querySelectorAll(".explorer-numbers tbody tr")];
    return {at: explorerTheory.at(explorerTheory.tasks[matrix], omega, alpha), verdict: texts(".explorer-verdict > *"),
        winner: explorer.root.dataset.winner, rows: rows.map(row => [...row.children].map(cell => cell.textContent)),
        below: texts(".explorer-numbers p span")[0],
        disabled: [...document.querySelectorAll(".explorer-presets button")].map(button => button.disabled)};
})"""
ROWS = QUANTITIES | {"ridge": ("ridge", 1e3), "misfit": ("misfit", 1e3)}


@pytest.mark.parametrize("matrix", [*EXPERIMENTS, "made"])
def test_verdict_and_numbers_are_those_of_the_theory(page, theories, matrix):
    """Wherever the sliders lead, between the stored omegas and on them."""
    theory, heads, rng = theories[matrix], Counter(), np.random.default_rng(3)
    places = [(0.02 + 0.005 * o, 0.02 + 0.01 * a) for o, a in rng.integers((97, 199), size=(60, 2)).tolist()]
    for omega in (0.04, 0.05, 0.06, 0.2, 0.25, 0.27, 0.3):
        thresholds = theory.curves(omega)
        places += [(omega, thresholds[what][0]) for what in ("critical", "linear") if thresholds[what][0] < 2]
    views = [(matrix, round(omega, 3), round(alpha, 2)) for omega, alpha in places]
    for (_, omega, alpha), said in zip(views, page.evaluate(SAID, views), strict=True):
        minima = theory.at(omega, alpha)
        there = [name for name in OWN_OVERLAP if minima[name] is not None]
        assert there == [name for name in OWN_OVERLAP if said["at"][name]]
        if {} in minima.values():
            continue
        curves = theory.curves(omega)
        for what, curve in curves.items():
            told = said["at"][what] or {"value": np.nan, "error": np.nan}
            assert [*told.values()] == pytest.approx(curve, nan_ok=True)
        for (head, *cells), (word, (key, scale)) in zip(said["rows"], ROWS.items(), strict=True):
            assert word in head
            for name, text in zip(OWN_OVERLAP, cells, strict=True):
                exact, numbers = (said["at"][name] or {}).get(key), np.atleast_1d((minima[name] or {}).get(key))
                if name in there:
                    numbers = numbers[:2].astype(float)
                    told = [*exact.values()][:2] if isinstance(exact, dict) else [exact]
                    assert told == pytest.approx(numbers, rel=1e-7, abs=1e-12)
                    text = text if numbers[-1] else text.replace("0.000", "0")
                    assert says(text, *(scale * numbers if numbers[-1] else [0])), (name, key, text, numbers)
                else:
                    assert text == "no valley"
        baseline, thresholds = said["below"].split(" (in 10⁻³). ")
        told = dict(re.findall(r"α([cl]) = (.*?)\. (?=α|$)", thresholds))
        for letter, what in (("c", "critical"), ("l", "linear")):
            assert says(told[letter], *curves[what]) if letter in told else np.isnan(curves[what][0])
        assert says(baseline.partition("error")[2], 1e3 * curves["baseline"][0])
        reach = [curves["critical"][0] - 0.05, curves["critical"][0], curves["linear"][0]]
        assert said["disabled"] == [not at < 2 for at in reach]

        head, rest = said["verdict"]
        losses = {name: minima[name]["train_loss"] for name in there}
        winner = min(there, key=lambda name: losses[name][0], default=None)
        kind, expected = "none", "No valley."
        if len(there) == 1:
            kind, expected = "alone", f"Only the {winner} student."
        elif winner:
            (other,) = {*there} - {winner}
            lead, error = losses[other][0] - losses[winner][0], np.hypot(losses[other][1], losses[winner][1])
            kind, expected = ("tie", "A tie.") if lead < 2 * error else ("win", f"The {winner} student wins")
            assert (said["at"]["difference"]["value"] > 0) == (winner == "positional")
            difference = [abs(part) for part in said["at"]["difference"].values()]
            assert difference == pytest.approx([lead, error], rel=1e-6, abs=1e-12)
        heads[kind] += 1
        heads["narrow"] += kind == "tie" and lead > error
        assert head.startswith(expected) and re.match(rf"At ω = {omega:g}0?, α = {alpha:.2f}\b", rest), (omega, alpha)
        if kind == "win":
            assert says(head, 100 * lead / losses[other][0])
            assert says(re.search(r"difference is (.*?) \(in", rest)[1], 1e3 * lead, 1e3 * error), rest
        assert said["winner"] == (winner if kind in ("win", "alone") else "")  # whose words are shown
        if kind in ("win", "alone"):
            (test, error), (linear, noise) = minima[winner]["test_mse"][:2], curves["baseline"]
            joined, told = ("It also", "better than") if test < linear else ("But it", "worse than")
            if abs(test - linear) < 2 * np.hypot(error, noise):
                joined, told = "It", "as well as"
            else:  # never against the line on the map
                assert winner == "positional" or (test < linear) == (alpha > curves["linear"][0])
            heads[told] += 1
            assert f"predicts new sentences {told} the linear model" in rest
            assert ("within two errors" in rest) == (told == "as well as")
            assert kind == "alone" or f" {joined} predicts" in rest
        for name in {*OWN_OVERLAP} - {*there}:
            within, last = theory.range(name, omega), theory.task["branches"][name]["omega"][-1]
            later = min([each for each in theory.task["baseline"]["omega"] if each > last + 1e-6], default=0)
            told = f"ends between ω = {last:.2f} and {later:.2f}"
            if within:
                told = f"begins at α = {within[0]:.2f}" if alpha < within[0] else f"ended at α = {within[1]:.2f}"
            assert f"the {name} valley {told}" in rest
    assert heads["none"] and heads["alone"] > 5 and (matrix == "alternative" or heads["win"] > 10), heads
    assert heads["narrow"] > 1 or matrix != "made", heads
    assert min(heads[told] for told in ("as well as", "better than", "worse than")) > 0 or matrix == "made", heads


# What it draws -------------------------------------------------------------------------------------------------------

DRAWN = """svg => ({
    ticks: [...svg.querySelectorAll(".axis")].map(axis => [...axis.querySelectorAll(".tick")].map(tick =>
        [tick.transform.baseVal[0].matrix.e, tick.transform.baseVal[0].matrix.f, tick.textContent])),
    shapes: [...svg.querySelectorAll(":scope > path, :scope > circle")].map(shape => [shape.getAttribute("class"),
        shape.getAttribute(shape.tagName === "path" ? "d" : "cx"), shape.getAttribute("cy")]),
    foot: svg.querySelector(".axis").transform.baseVal[0].matrix.f,
    words: [...svg.querySelectorAll(":scope > text")].map(text =>
        [text.textContent, text.transform.baseVal[0].matrix.e, text.transform.baseVal[0].matrix.f]),
})"""


class Drawing:
    """A drawing in the numbers of its axes, as their ticks have it."""

    def __init__(self, svg):
        read = svg.evaluate(DRAWN)
        self.words = read["words"]
        self.rulers, self.pixel = [], []
        for axis, ticks in enumerate(read["ticks"]):
            at = np.array([tick[axis] - 0.5 for tick in ticks])  # where d3 makes lines sharp
            value = np.array([float(tick[2].replace("−", "-")) for tick in ticks])
            assert len(at) > 1
            slope, zero = np.polyfit(at, value, 1)
            assert slope * at + zero == pytest.approx(value, abs=1e-6)
            self.rulers.append((slope, zero))
            self.pixel.append(abs(slope))
        self.foot = read["foot"]
        self.shapes = [
            (kind, self.rings(d[0] if d[1] is None else "M{},{}".format(*d))) for kind, *d in read["shapes"] if d[0]
        ]

    def place(self, pixels):
        return np.array(pixels) * [slope for slope, _ in self.rulers] + [zero for _, zero in self.rulers]

    def rings(self, d):
        """The points of each part of a path."""
        rings, x, y = [], 0.0, 0.0
        for letter, numbers in re.findall(r"([MLHV])([^MLHVZ]*)", d):
            numbers = [float(number) for number in re.findall(r"-?[\d.]+(?:e-?\d+)?", numbers)]
            x, y = {"H": (numbers[0], y), "V": (x, numbers[0])}.get(letter) or numbers
            rings += [[]] if letter == "M" else []
            rings[-1].append((x, y))
        return [self.place(ring) for ring in rings]

    def of(self, kind):
        return [rings for drawn, rings in self.shapes if drawn == kind]

    def same(self, kind, *expected):
        """Whether what is drawn of a kind are these points, to a fiftieth of a pixel; nothing else."""
        drawn = [ring for rings in self.of(kind) for ring in rings]
        assert len(drawn) == len(expected), (kind, len(drawn), len(expected))
        for ring, points in zip(drawn, expected):
            assert np.shape(ring) == np.shape(points), kind
            assert (abs(ring - np.array(points)) <= 0.02 * np.array(self.pixel)).all(), (kind, ring, points)


def sides(ring):
    """Of an area along x: x, one side and the other."""
    there, back = ring[: len(ring) // 2], ring[len(ring) // 2 :][::-1]
    assert (there[:, 0] == back[:, 0]).all()
    return there[:, 0], *np.sort([there[:, 1], back[:, 1]], axis=0)


def view(page, matrix, omega, alpha):
    page.evaluate("view => explorer.move(view)", {"matrix": matrix, "omega": omega, "alpha": alpha})


VIEWS = [("standard", 0.3, 1.2), ("standard", 0.145, 0.7), ("alternative", 0.05, 1.2), ("made", 0.11, 1.0)]


@pytest.mark.parametrize("matrix, omega, alpha", VIEWS)
def test_the_panels_draw_the_theory_along_alpha(page, theories, matrix, omega, alpha):
    theory = theories[matrix]
    view(page, matrix, omega, alpha)
    seen = []
    for panel in page.locator(".explorer-panels > div").all():
        title = panel.locator("p").inner_text()
        ((key, scale),) = [what for word, what in QUANTITIES.items() if word in title]
        seen.append(key)
        drawing = Drawing(panel.locator("svg"))
        for name in OWN_OVERLAP:
            from_, to = theory.range(name, omega)
            ((curve,),), ((band,),) = drawing.of(f"curve {name}"), drawing.of(f"band {name}")
            x, low, high = sides(band)
            assert len(x) > 55 and x[0] <= from_ + 0.05 and x[-1] >= to - 0.05 and (x == curve[:, 0]).all()
            compared = 0
            for at, *drawn in [*zip(x, low, curve[:, 1], high)][1:-1]:  # at its ends an overlap is a root
                minimum = theory.minimum(name, omega, round(at, 5))
                if minimum:
                    expected = scale * np.maximum(np.array(minimum[key])[[2, 0, 3]], 0)
                    assert drawn == pytest.approx(expected, abs=0.05 * drawing.pixel[1]), (key, name, at)
                    compared += 1
            assert compared > 50
            there = theory.minimum(name, omega, alpha)
            drawing.same(f"dot {name}", *([[(alpha, scale * there[key][0])]] if there else []))
        curves = theory.curves(omega)
        lines = {kind: [ring for rings in drawing.of(kind) for ring in rings] for kind in ("critical", "linear")}
        assert [ring[0, 0] for ring in lines["critical"]] == pytest.approx([curves["critical"][0]], abs=0.001)
        baseline = key == "test_mse"
        assert len(lines["linear"]) == 2 * baseline
        if baseline:
            upright, level = lines["linear"]
            assert upright[:, 0] == pytest.approx([curves["linear"][0]] * 2, abs=0.01)
            assert level[:, 1] == pytest.approx([1e3 * curves["baseline"][0]] * 2, abs=0.02 * drawing.pixel[1])
        ((crosshair,),) = drawing.of("crosshair")
        assert crosshair[:, 0] == pytest.approx([alpha] * 2, abs=0.001)
    assert seen == [key for key, _ in QUANTITIES.values()]


@pytest.mark.parametrize("matrix", [*EXPERIMENTS, "made"])
def test_the_map_draws_who_wins_where(page, theories, matrix):
    theory = theories[matrix]
    view(page, matrix, 0.3, 1.1)
    drawing = Drawing(page.locator(".explorer-map > svg"))
    omegas = np.round(np.arange(0.02, 0.5001, 0.005), 4)
    for what in ("critical", "linear"):
        expected = np.array([(omega, theory.curves(omega)[what][0]) for omega in omegas])
        expected = expected[expected[:, 1] <= 2]
        drawn = np.concatenate([ring for rings in drawing.of(what) for ring in rings])
        assert len(drawn) == len(expected) > 5
        assert (abs(drawn - expected) < 0.02 * np.array(drawing.pixel)).all(), what
    borders = {
        name: np.concatenate([ring for rings in drawing.of(f"border {name}") for ring in rings]) for name in OWN_OVERLAP
    }
    for name, border in borders.items():
        begins = [(omega, within[0]) for omega in omegas if (within := theory.range(name, omega))]
        last = theory.task["ends"]["positional"]["last"] + 1e-6
        ends = [(omega, theory.range(name, omega)[1]) for omega in omegas if omega <= last and name == "positional"]
        expected = np.array([(omega, alpha) for omega, alpha in begins + ends if alpha <= 2])
        assert (abs(border - np.maximum(expected, 0.02)) < 0.02 * np.array(drawing.pixel)).all(), name

    def among(kind, points):
        """How many of the areas of a kind contain each point."""
        parts = [sum(Outline(ring).contains_points(points) for ring in rings) % 2 for rings in drawing.of(kind)]
        return np.sum([0 * points[:, 0], *parts], axis=0)

    rows = 0.02 + 0.0495 * np.arange(41)[1:-1]  # of the grid that shades are made of, on which they are exact
    points = np.array([(omega, alpha) for omega in omegas[1:-1:7] for alpha in rows[::2]])
    regions = {name: among(f"region {name}", points + np.array([1e-5, 0])) for name in OWN_OVERLAP}
    alone, compared = among("alone", points + np.array([1e-5, 0])), Counter()
    for k, (omega, alpha) in enumerate(points):
        ranges = {name: theory.range(name, omega) for name in OWN_OVERLAP}
        if any(abs(edge - alpha) < 0.03 for within in ranges.values() if within for edge in within):
            continue
        minima = theory.at(omega, alpha)
        there = [name for name in OWN_OVERLAP if minima[name] is not None]
        if {} in minima.values():
            continue
        assert alone[k] == (len(there) == 1), (omega, alpha)
        if len(there) < 2:
            assert {name for name in OWN_OVERLAP if regions[name][k]} == set(there), (omega, alpha)
            compared[len(there)] += 1
            continue
        lead = minima["positional"]["train_loss"][0] - minima["semantic"]["train_loss"][0]
        wins = lead if matrix != "made" else alpha - theory.along("critical", omega)[0]
        if min(abs(abs(lead) / np.array([1e-4, 3e-4, 1e-3]) - 1)) < 0.02 or abs(lead) < 1e-5:
            continue
        shade = sum(abs(lead) > step for step in (1e-4, 3e-4, 1e-3))
        shades = {"semantic": (wins > 0) + shade * (lead > 0), "positional": (wins < 0) + shade * (lead < 0)}
        assert {name: regions[name][k] for name in OWN_OVERLAP} == shades, (omega, alpha, lead)
        compared[2] += 1
    assert compared[1] > 20 and compared[2] > (0 if matrix == "alternative" else 20), compared
    for words, left, top in drawing.words[2:]:
        minima = theory.at(*drawing.place((left, top)))
        assert words == f"{min(filter(minima.get, minima), key=lambda name: minima[name]['train_loss'][0])} wins"
    ((across, up),) = [np.array(rings) for rings in drawing.of("crosshair")]
    assert across[:, 0] == pytest.approx(0.3, abs=1e-3) and up[:, 1] == pytest.approx(1.1, abs=1e-2)


def test_both_mechanisms_have_the_colours_of_the_figures(page):
    look = "name => getComputedStyle(document.querySelector(`.explorer-map .border.${name}`)).stroke"
    for name, colour in COLOURS.items():
        shown = "#" + "".join(f"{int(part):02x}" for part in re.findall(r"\d+", page.evaluate(look, name))[:3])
        assert abs(hue(shown) - hue(colour)) < 30


# Students of the browser, in the place of whose worker rows are made up ----------------------------------------------


def made_students(rng, alphas, sets, stay=(0.8, 0.75), slope=1, critical=1.15):
    """Rows as a worker sends them: losses cross, some leave their valley, some of them to zero weights.

    stay: shares of semantic and of positional students that do not.
    """
    names = [*OWN_OVERLAP, "random"]
    for alpha in alphas:
        for seed in range(sets):
            for start in names:
                loss = 3e-3 + slope * 1e-3 * (alpha - critical) * (start == "positional") + 2e-4 * rng.standard_normal()
                share = {"semantic": stay[0], "positional": 1 - stay[1], "random": 0.5}[start]
                valley = "semantic" if rng.random() < share else "positional"
                if valley != start and rng.random() < 0.3:
                    valley = "neither" if start == "random" and rng.random() < 0.5 else "zero"
                row = {"start": start, "alpha": alpha, "seed": seed, "valley": valley, "train_loss": loss}
                overlaps = {"theta": rng.uniform(-0.5, 0.9), "m": rng.uniform(-0.5, 0.9)}
                yield row | overlaps | {"test_mse": rng.uniform(1e-3, 3e-3), "converged": bool(rng.random() < 0.97)}


ENDS = {"positions": "positional", "teacher": "semantic", "zero": "zero"}


def answered(page, train, rows):
    """Press a button of the trainer, let the worker send these rows, and return what is said."""
    page.locator(f".explorer-training button[value={train}]").click()
    page.evaluate("rows => [...rows, null].forEach(row => jobs.at(-1).answered(row))", rows)
    page.evaluate(FRAMES)
    return page.locator(".explorer-training output").inner_text()


def leads_of(table):
    """By how much the semantic loss is lower, on data sets whose students both stayed in their valley."""
    stayed = table[table["start"] == table["valley"]]
    losses = stayed.pivot(index=["alpha", "seed"], columns="start", values="train_loss").reindex(columns=[*OWN_OVERLAP])
    return (losses["positional"] - losses["semantic"]).dropna()


@pytest.mark.parametrize("train, sets", [("circle", 20), ("sweep", 4)])
def test_what_is_said_and_drawn_of_students(page, train, sets):
    view(page, "standard", 0.3, 1.4)
    alphas = [1.4] if train == "circle" else [round(0.2 * k, 10) for k in range(1, 11)]
    rows = [*made_students(np.random.default_rng(5), alphas, sets)]
    page.locator(f".explorer-training button[value={train}]").click()
    job = page.evaluate("() => jobs.at(-1).job")
    assert sorted({round(each["alpha"], 10) for each in job["cells"]}) == alphas and job["task"]["omega"] == 0.3
    assert len({(each["alpha"], each["seed"]) for each in job["cells"]}) == sets * len(alphas) == len(job["cells"])
    said = page.locator(".explorer-training output")
    page.evaluate("rows => rows.forEach(row => jobs.at(-1).answered(row))", rows[:-1])
    assert said.inner_text() == f"{len(rows) - 1} of {len(rows)} students …"
    assert page.locator(f".explorer-training button[value={train}]").inner_text() == "Stop"
    page.evaluate("row => { jobs.at(-1).answered(row); jobs.at(-1).answered(null); }", rows[-1])
    page.evaluate(FRAMES)
    table, text = pd.DataFrame(rows), said.inner_text()
    assert text.startswith(f"At ω = 0.30, {'α = 1.40' if train == 'circle' else 'along α'}, d = 200: ")
    random = table[table["start"] == "random"]["valley"].value_counts()
    ended = f"{random['semantic']} ended in the semantic valley, {random['positional']} in the positional one"
    ended += f", {random['neither']} in neither, {random['zero']} at zero weights."
    assert f"Of {random.sum()} random starts, {ended}" in text
    stuck = (~table["converged"]).sum()
    assert stuck and text.endswith(f" {stuck} did not converge.")
    stayed = table[table["start"] == table["valley"]].groupby(["start", "alpha"])
    for panel, (key, scale) in zip(page.locator(".explorer-panels > div").all(), QUANTITIES.values(), strict=True):
        drawing, higher = Drawing(panel.locator("svg")), 0
        top = drawing.place((0, 6))[1]
        for name in (*OWN_OVERLAP, "neither", "zero"):
            means = scale * stayed[key].agg(["mean", "sem"]).reindex([name], level=0).droplevel(0).fillna(0)
            lone = table[(table["start"] == "random") & (table["valley"] == name)]
            lone = scale * lone.set_index("alpha")[key]
            for kind, points in ((f"student {name}", means["mean"]), (f"student random {name}", lone)):
                drawing.same(kind, *[[point] for point in points[points <= top].items()])
                higher += (points > top).sum()
            bars = [rings[0] for rings in drawing.of(f"curve {name}") if len(rings[0]) == 2]
            for (alpha, (mean, error)), bar in zip(means[means["mean"] <= top].iterrows(), bars, strict=True):
                ends = [mean - error, min(mean + error, drawing.place((0, 0))[1])]
                assert bar[:, 0] == pytest.approx([alpha] * 2, abs=0.001)
                assert bar[:, 1] == pytest.approx(ends, abs=0.02 * drawing.pixel[1])
                assert bar[0, 1] > drawing.place((0, drawing.foot + 0.1))[1]
        assert panel.locator("p span").inner_text() == (f"; too high to show: {higher}" if higher else "")
    grey = "said => said.classList.contains('past')"
    assert not said.evaluate(grey)
    view(page, "standard", 0.3, 1.41)
    assert said.evaluate(grey) == (train == "circle")
    view(page, "standard", 0.305, 1.4)
    assert page.evaluate("explorer.students()") == [] and said.evaluate(grey)  # of another task


def test_no_sentence_on_students_contradicts_theory_or_their_errors(page):
    """At random places, of runs whose students stay or leave at random; nor is any dot outside of its frame."""
    rng, told = np.random.default_rng(21), Counter()
    for number in range(24):
        train, alpha = ("circle", "sweep")[number % 2], round(rng.uniform(0.02, 2), 2)
        alphas, sets = ([alpha], 20) if train == "circle" else (np.round(0.2 * np.arange(1, 11), 10).tolist(), 4)
        page.evaluate("view => explorer.move(view)", {"matrix": ("standard", "alternative")[number % 3 % 2],
            "omega": rng.uniform(0.02, 0.5), "alpha": alpha, "d": rng.choice([100, 400]).item()})  # fmt: skip
        stay, slope, critical = rng.choice([0.1, 0.9, 0.97], 2), rng.choice([0, 1, 1]), rng.choice([0, 1.15, 2.2])
        rows = [*made_students(rng, alphas, sets, stay, slope, critical)]
        text, table = answered(page, train, rows), pd.DataFrame(rows)
        at = page.evaluate("explorer.view()")
        head = page.locator(".explorer-verdict strong").inner_text()
        winner = page.locator(".explorer").first.get_attribute("data-winner")
        leads = leads_of(table).groupby("alpha").agg(["count", "mean", "sem"])
        leads = leads[leads["count"] >= 3]
        sure = [
            ("neither kind of", "semantic", "positional")[int(np.sign(m) * (abs(m) > s))] for _, m, s in leads.values
        ]
        if train == "circle":
            kind = "few" if leads.empty else "tie" if sure == ["neither kind of"] else "lower"
            gone = table[table["start"] != table["valley"]].groupby("start")["valley"].value_counts()
            for name in OWN_OVERLAP:
                told_gone = re.findall(rf"(\d+) of 20 {name} students ended (?:closer to the |at )(\w+)", text)
                assert {ENDS[end]: int(count) for count, end in told_gone} == gone.get(name, pd.Series()).to_dict(), (
                    text
                )
            assert ("too few to compare" in text, "equal within the error" in text) == (kind == "few", kind == "tie")
            named = re.search(r"The (\w+) loss is lower by (.*?) \(in 10⁻³\) on the mean", text)
            assert bool(named) == (kind == "lower")
            if named:
                ((_, mean, error),) = leads.values
                assert [named[1]] == sure and says(named[2], 1e3 * abs(mean), 1e3 * error)
                assert (f"In theory, at infinite d: {head}" in text) == (winner != named[1])
        elif len(leads) < 2:
            kind = "few"
            assert "Too few students stayed" in text
        elif (leads["mean"] > 0).all() or leads["mean"].iloc[-1] < 0:
            k = 0 if leads["mean"].iloc[0] > 0 and (leads["mean"] > 0).all() else -1
            kind = ("first", "last")[k]
            assert f"at α = {leads.index[k]:g}, the {kind} one that can be compared, {sure[k]} student" in text
        else:
            kind, k = "cross", np.flatnonzero(leads["mean"] < 0)[-1]  # the last before semantic students win for good
            (x, y), (a, b) = leads.index[k : k + 2], leads["mean"].iloc[k : k + 2]
            place, (s, t) = x - a * (y - x) / (b - a), leads["sem"].iloc[k : k + 2]
            error = np.hypot((y - place) * s, (place - x) * t) / (b - a)  # to first order
            assert says(re.search(r"cross at α = (.*?);", text)[1], place, error), (text, place, error)
            assert ("theory, at infinite d, has no crossing" in text) == (at["critical"] is None)
            assert ("At small d students cross earlier on average" in text) == (at["critical"] is not None)
        told[train, kind] += 1
        for svg in page.locator(".explorer-panels svg").all():
            foot, width = Drawing(svg).foot, float(svg.get_attribute("width"))
            dots = svg.locator("circle.student").evaluate_all(
                "all => all.map(dot => [dot.cx, dot.cy].map(c => c.baseVal.value))"
            )
            assert all(38 <= x <= width - 10 and 6 - 1e-6 <= y <= foot + 1e-6 for x, y in dots)
            told["dots"] += len(dots)
    wanted = {(train, kind) for train, kinds in (("circle", "few tie lower"), ("sweep", "few first last cross"))
              for kind in kinds.split()}  # fmt: skip
    assert wanted <= told.keys() and told["dots"] > 1000, told


def test_students_of_small_d_cross_earlier_as_the_browser_says(data):
    table, critical = read("crossing", "paper"), data["tasks"]["standard"]["critical"]
    found = crossings(table[table["d"] == table["d"].min()], training_gap)
    theory = [critical["value"][critical["omega"].index(omega)] for omega in found.index]
    assert len(found) == 3 and (found["alpha"] + 2 * found["alpha_error"] < theory).all()


# Training in the browser ---------------------------------------------------------------------------------------------

SAMPLED = """([task, count, d, seed]) => {
    const {normals, sample} = attentionTraining(explorerData);
    const {teacher, inputs} = sample(task, count, d, normals(seed));
    return {teacher: [...teacher], inputs: [...inputs]};
}"""
DESCENDED = """job => [...attentionTraining(explorerData).descents(
    {...job, starts: job.starts.map(Q => new Float64Array(Q))})]"""


class Sentences:
    """Training sentences that the browser has drawn, and the risk as Eq. 3 has it, nothing of it reduced."""

    def __init__(self, page, count, d, seed):
        drawn = page.evaluate(SAMPLED, [TASK, count, d, seed])
        tensors = (torch.tensor(part, dtype=torch.float64) for part in (*drawn.values(), [[1], [-1]], MADE.matrix))
        self.teacher, inputs, places, A = tensors
        self.d, self.x = d, inputs.reshape(count, 2, d) * d**0.5
        self.xi = self.x - places / d**0.5
        y = self.xi @ self.teacher / d**0.5
        self.labels = ((1 - MADE.omega) * self.mixing(y) + MADE.omega * A) @ self.xi

    def mixing(self, h):
        return torch.softmax(h[:, :, None] * h[:, None], -1)

    def risk(self, Q, count=None):
        some = slice(count)
        output = self.mixing(self.x[some] @ Q / self.d**0.5) @ self.x[some]
        return (self.labels[some] - output).square().sum() / (2 * self.d) + LAM / 2 * Q.square().sum()

    def slope(self, Q, count=None):
        Q = torch.as_tensor(Q, dtype=torch.float64).requires_grad_()
        value = self.risk(Q, count)
        value.backward()
        return value.item(), Q.grad.numpy()

    def overlaps(self, Q):
        named = {"q": RHO * Q @ Q, "m": Q.sum(), "theta": RHO * Q @ self.teacher.numpy()}
        named |= {"rho": RHO * self.teacher @ self.teacher, "m_teacher": self.teacher.sum()}
        return {name: float(value) / self.d for name, value in named.items()}


def test_sentences_are_drawn_as_the_model_has_them(page):
    numbers = page.evaluate("() => Array.from({length: 20001}, attentionTraining(explorerData).normals(11))")
    assert stats.kstest(numbers, "norm").pvalue > 0.01
    assert abs(np.corrcoef(*np.transpose([*pairwise(numbers)]))[0, 1]) < 0.02 and len(set(numbers)) == 20001
    data = Sentences(page, 300, 40, 3)
    assert stats.kstest(data.xi.numpy().ravel() / SIGMA, "norm").pvalue > 0.01
    assert stats.kstest(data.teacher.numpy(), "norm").pvalue > 0.01


def test_the_risk_and_its_gradient_are_those_of_the_definition(page):
    data, weights = Sentences(page, 50, 30, 4), np.random.default_rng(2).standard_normal(30)
    value, gradient = page.evaluate("""([task, count, d, seed, weights]) => {
        const {normals, sample, risk} = attentionTraining(explorerData);
        const {value, gradient} = risk(sample(task, count, d, normals(seed)), Float64Array.from(weights));
        return [value, [...gradient]];
    }""", [TASK, 50, 30, 4, weights.tolist()])  # fmt: skip
    expected, slope = data.slope(weights)
    assert value == pytest.approx(expected, rel=1e-12)
    assert gradient == pytest.approx(slope, abs=1e-12)


def test_students_end_in_the_minima_of_the_risk(page):
    """Those that begin in a valley: SciPy finds the same minimum, and the library's quadrature its test error."""
    d, cells = 40, [{"alpha": 1.6, "seed": 5}, {"alpha": 3.1, "seed": 6}]
    job = {"task": TASK, "d": d, "cells": cells}
    rows = page.evaluate("job => [...attentionTraining(explorerData).students(job)]", job)
    assert [row["start"] for row in rows] == ["semantic", "positional", "random"] * 2
    other = {"omega": 0.5, "A": Task(matrix="alternative").matrix}  # where theory has no valley
    ends = page.evaluate("job => [...attentionTraining(explorerData).students(job)]", job | {"task": other})
    assert {row["valley"] for row in ends} == {"zero"}
    for row in rows:
        data = Sentences(page, round(row["alpha"] * d), d, row["seed"])
        rho = data.overlaps(data.teacher.numpy())["rho"]
        assert row["converged"] and max(row["theta"], row["m"]) > 0
        if row["start"] == "random":  # another method may end in the other valley
            continue
        assert (row["valley"] == "semantic") == (abs(row["theta"]) / rho**0.5 > SIGMA * abs(row["m"]))
        start = {"semantic": data.teacher.numpy(), "positional": np.full(d, d**-0.5)}[row["start"]]
        options = {"gtol": 1e-9, "ftol": 0, "maxiter": 5000}
        found = minimize(data.slope, start, jac=True, method="L-BFGS-B", options=options)
        of = data.overlaps(found.x)
        assert row["train_loss"] == pytest.approx(found.fun / d, rel=1e-5)
        sign = np.sign(of[OWN_OVERLAP[row["valley"]]]) / RHO
        assert (row["theta"], row["m"]) == pytest.approx((sign * of["theta"], sign * of["m"]), abs=2e-3)
        expected = prediction_error.test_error(MADE, of, d)
        assert row["test_mse"] == pytest.approx(expected.value, rel=5e-3, abs=4 * expected.error)


def test_the_plane_and_descents_on_it_are_those_of_the_risk(page):
    d, alphas, shares, seeds = 30, [0.9, 2.2], [-0.2, 0.6, 1.0], [4, 9]
    job = {"task": TASK, "d": d, "alphas": alphas, "shares": shares, "seeds": seeds}
    planes = page.evaluate("""job => [...attentionTraining(explorerData).planes(job)].map(({weights, ...rest}) =>
        ({...rest, weights: weights.map(Q => [...Q])}))""", job)  # fmt: skip
    assert [plane["alpha"] for plane in planes] == [0.9, 0.9, 2.2, 2.2]
    data = [Sentences(page, round(2.2 * d), d, seed) for seed in seeds]
    for k, plane in enumerate(planes):
        sentences, count = data[k % 2], round(plane["alpha"] * d)
        p, s = map(np.array, plane["weights"])
        expected = [sentences.slope(a * p + b * s, count)[0] / d for b in shares for a in shares]
        assert plane["losses"] == pytest.approx(expected, rel=1e-9)
        for Q, minimum in zip((p, s), plane["minima"], strict=True):
            of, (value, slope) = sentences.overlaps(Q), sentences.slope(Q, count)
            assert np.linalg.norm(slope) < 2e-4
            expected = {"m": of["m"] / RHO, "theta": of["theta"] / RHO, "loss": value / d}
            assert minimum == pytest.approx(expected, rel=1e-9)
    starts = [np.array(plane["weights"]).mean(0).tolist() for plane in planes[2:]]
    job |= {"largest": 2.2, "alpha": 0.9, "starts": starts, "rate": 0.7, "every": 4}
    points = page.evaluate(DESCENDED, job)
    for k, sentences in enumerate(data):
        Q, path = np.array(starts[k]), []
        for step in range(3001):
            value, slope = sentences.slope(Q, 27)
            ends, of = np.linalg.norm(slope) <= 1e-3, sentences.overlaps(Q)
            if step % 4 == 0 or ends:
                path.append([of["m"] / RHO, of["theta"] / RHO, value / d])
            if ends:
                break
            Q = Q - 0.7 * slope
        told = [[point[name] for name in ("m", "theta", "loss")] for point in points if point["k"] == k]
        assert np.array(told) == pytest.approx(np.array(path), rel=1e-6, abs=1e-9) and len(path) > 5


def test_balls_arrive_in_valleys_as_the_page_of_figure_15_counts(page, data):
    """At random cosines, those of minima among them on the border between the valleys."""
    rng, rows, asked = np.random.default_rng(31), [], []
    for k in range(400):
        centres = np.sort(rng.uniform(0, 1, (2, 2)), 1) if k % 3 else rng.uniform(0, 1, (2, 2))
        minima = {"semantic": centres[0, ::-1], "positional": centres[1]}  # cosines with the teacher, the positions
        ball, slope = minima[rng.choice([*minima])] + rng.uniform(-0.25, 0.25, 2), 10 ** rng.uniform(-4, -2.5)
        given = [("random", abs(ball), slope), *((name, both, 0.0) for name, both in minima.items())]
        for start, (s, p), grad in given:
            rows.append(
                {"start": start, "optimizer": "lbfgs", "alpha": k, "d": 9, "seed": 0, "q": 1.0, "grad_norm": grad}
            )
            rows[-1] |= {"theta": s * SIGMA, "m": p / SIGMA}
        named = {name: dict(zip(OWN_OVERLAP, both.tolist())) for name, both in minima.items()}
        asked.append([dict(zip(OWN_OVERLAP, abs(ball).tolist())), named, slope])
    told = page.evaluate("all => all.map(one => attentionTraining(explorerData).valley(...one))", asked)
    assert list(OWN_OVERLAP) == ["semantic", "positional"]
    assert told == classify(pd.DataFrame(rows), SIGMA)["basin"].tolist() and min(Counter(told).values()) > 50
    assert len(Counter(told)) == 4


def test_the_same_seeds_roll_into_the_same_valleys(page):
    job = {"task": TASK, "d": 30, "alpha": 2.1, "every": 5}
    balls = "job => [...attentionTraining(explorerData).guesses(job)]"
    rolled, again, other = (
        page.evaluate(balls, job | {"rate": 1, "seeds": seeds}) for seeds in ([3, 4], [3, 4], [4, 3])
    )
    ends = {point["k"]: point for point in rolled if "valley" in point}
    assert rolled == again and rolled != other and [*sorted(ends)] == [0, 1]
    assert ends == {1 - point["k"]: point | {"k": 1 - point["k"]} for point in other if "valley" in point}
    # Without a rate, by L-BFGS: from the same weights to where the students of the explorer end.
    ends = [point for point in page.evaluate(balls, job | {"seeds": [3, 4]}) if "valley" in point]
    cells = [{"alpha": job["alpha"], "seed": seed} for seed in (3, 4)]
    trained = page.evaluate("job => [...attentionTraining(explorerData).students(job)]", job | {"cells": cells})
    losses = [student["train_loss"] for student in trained if student["start"] == "random"]
    assert sorted(point["loss"] for point in ends) == pytest.approx(sorted(losses), rel=1e-9)


# Guess, then see -----------------------------------------------------------------------------------------------------


def test_a_guess_is_asked_answered_and_told_once(page):
    root, place = page.locator(".guess"), "At ω = {:g}, α = {:g}"
    question, tally = (root.locator(f".guess-{part}") for part in ("question", "tally"))
    button = root.locator("button[type=submit]")
    assert question.inner_text().startswith(place.format(0.3, 2))
    view(page, "standard", 0.3, 1.0)
    root.locator("input").focus()
    for key in ("Home", *["ArrowRight"] * 3, "Tab", "Tab"):
        page.keyboard.press(key)
    assert root.locator("label b").inner_text() == "3"
    page.keyboard.press("Enter")
    name, job = page.evaluate("() => [jobs.at(-1).name, jobs.at(-1).job]")
    assert name == "guesses" and (job["task"]["omega"], job["alpha"], len({*job["seeds"]})) == (0.3, 2, 20)
    assert question.inner_text().endswith("by gradient descent?") and job["rate"] == 2
    points = [{"k": k, "m": 0.3, "theta": 0.2, "loss": 1} for k in range(20)]
    ends = [
        point | {"valley": name} for point, name in zip(points, ["semantic"] * 4 + ["positional"] * 15 + ["neither"])
    ]
    page.evaluate("points => points.forEach(point => jobs.at(-1).answered(point))", points + ends[:5])
    assert tally.get_attribute("aria-busy") == "true" and tally.inner_text().strip() == "5 of 20 have come to rest …"
    assert button.inner_text() == "Stop"
    page.evaluate("ends => [...ends, null].forEach(point => jobs.at(-1).answered(point))", ends[5:])
    said = tally.inner_text()
    assert tally.get_attribute("aria-busy") == "false" and said.startswith("4 of 20") and "you guessed 3." in said
    ended = "4 ended in the semantic valley, 15 in the positional one, 1 in neither"
    assert f"By gradient descent at {place.format(0.3, 2)[3:]}, d = 200: {ended}" in said
    page.evaluate(FRAMES)
    counted = {kind: root.locator(f"circle.ball.{kind}").count() for kind in ("semantic", "positional", "neither")}
    assert counted == {"semantic": 4, "positional": 15, "neither": 1}

    view(page, "standard", 0.1, 1.7)  # where theory has one valley
    page.get_by_role("button", name="Ask at the circle").press("Enter")
    button.press("Enter")
    page.evaluate("ends => [...ends, null].forEach(point => jobs.at(-1).answered(point))", ends)
    alone = tally.inner_text().partition("1 in neither. ")[2]
    assert "Theory" not in said and alone.startswith("Theory, at infinite d, has no positional valley here.")
    assert alone.endswith("minimum of its own sentences, as in result 3 below.")
    landing = (HERE / "book/index.md").read_text(encoding="utf-8")
    assert re.search(r"^3\. \*\*Minima keep positional students there", landing, re.MULTILINE)
    view(page, "standard", 0.3, 1.0)
    page.get_by_role("button", name="Ask at the circle").press("Enter")
    assert question.inner_text().startswith(place.format(0.3, 1)) and not tally.inner_text().strip()
    assert root.locator("circle.ball").count() == 0
    root.locator("select").select_option("L-BFGS")
    button.press("Enter")
    assert question.inner_text().endswith("by L-BFGS?") and "rate" not in page.evaluate("() => jobs.at(-1).job")
    root.locator("select").select_option("gradient descent")
    grey = "root => root.classList.contains('past')"
    assert not root.evaluate(grey)
    view(page, "standard", 0.3, 1.01)
    assert root.evaluate(grey) and question.inner_text().startswith(place.format(0.3, 1))


@pytest.mark.parametrize("matrix", [*EXPERIMENTS, "made"])
def test_the_question_names_the_deeper_valley_only_where_theory_is_sure(page, theories, matrix):
    asked = Counter()
    for omega, alpha in np.random.default_rng(9).integers((0, 0), (97, 199), size=(25, 2)) * (0.005, 0.01) + 0.02:
        omega, alpha = round(omega, 3), round(alpha, 2)
        view(page, matrix, omega, alpha)
        minima, ask = theories[matrix].at(omega, alpha), page.locator(".guess button").nth(1)
        if {} in minima.values():
            continue
        losses = {name: minimum["train_loss"] for name, minimum in minima.items() if minimum}
        assert ask.inner_text() == ("Ask at the circle" if losses else "No valley at the circle")
        assert ask.is_enabled() == bool(losses)
        if not losses:
            asked["nowhere"] += 1
            continue
        ask.evaluate("button => button.click()")
        text = page.locator(".guess-question").inner_text()
        deeper = min(losses, key=losses.__getitem__, default=None)
        if len(losses) == 2:
            (low, error), (high, other) = sorted(loss[:2] for loss in losses.values())
            deeper = deeper if high - low >= 2 * np.hypot(error, other) else None
        sure = deeper if len(losses) == 2 else None
        asked[sure] += 1
        assert (f"the {sure} valley is the deeper one" in text) == bool(sure), text
        lone = {1: f"has the {deeper} valley alone", 2: "does not tell which valley is deeper"}
        assert (f"theory {lone[len(losses)]}" in text) == (sure is None)
        assert text.endswith(f"end in the {'deeper' if sure else deeper or 'semantic'} valley by gradient descent?")
        if sure:
            assert says(re.search(r"([0-9.]+)\s% lower", text)[1], 100 * (1 - low / high))
    assert asked[None] and asked["nowhere"] and sum(asked.values()) > 15, asked


# The landscape -------------------------------------------------------------------------------------------------------


SHARES = np.array([1.7 * k / 24 - 0.35 for k in range(25)])  # of the landscape's plane
HIGH = "(status, text) => { status.textContent = text; return status.offsetHeight; }"
ASKED = "() => { const {name, job} = jobs.at(-1); return [name, {...job, starts: job.starts.map(Q => [...Q])}]; }"
PLANES = """surfaces => { const {answered} = jobs.find(({name}) => name === "planes");
    surfaces.forEach(surface => answered({...surface, alpha: 1})); }"""
ANSWER = "points => { points.forEach(point => jobs.at(-1).answered(point)); jobs.at(-1).answered(null); }"


def surfaces(rng, count):
    """Of several data sets, as a worker sends them; the two halves of a plane differ."""
    b, a = np.meshgrid(SHARES, SHARES, indexing="ij")
    for _ in range(count):
        rough = 1e-5 * rng.standard_normal(a.shape)
        losses = 3e-3 + 2e-3 * a**2 * b**2 + 4e-4 * ((a + 1.3 * b - 1) ** 2 + 0.3 * (a - 0.6) ** 2) + rough
        p = {"m": 1.0 + 0.1 * rng.random(), "theta": 0.1 * rng.random(), "loss": losses[8, 19] + 1e-4 * rng.random()}
        s = {"m": 0.1 * rng.random(), "theta": 0.55 + 0.1 * rng.random(), "loss": losses[19, 8]}
        yield {"losses": losses.ravel().tolist(), "minima": [p, s], "weights": rng.standard_normal((2, 3)).tolist()}


def test_the_landscape_draws_the_mean_surface_its_cut_and_descents(page):
    job = page.evaluate("() => jobs.find(({name}) => name === 'planes').job")
    sent, root = [*surfaces(np.random.default_rng(8), len(job["seeds"]))], page.locator(".landscape")
    assert job["shares"] == pytest.approx(SHARES) and job["d"] == 200
    page.evaluate(PLANES, sent)
    losses = np.mean([surface["losses"] for surface in sent], 0).reshape(25, 25)  # by b, the semantic share, and a
    p, s = np.mean([[[*minimum.values()] for minimum in surface["minima"]] for surface in sent], 0)
    middle = (p[2] + s[2]) / 2
    plane, cut = (Drawing(svg) for svg in root.locator("svg").all())
    expected = [(b, 1e3 * (losses[k, 24 - k] - middle)) for k, b in enumerate(SHARES)][1:-1]
    cut.same("cut", [point for point in expected if point[1] < 2.2])
    cut.same("dot positional", [(0, 1e3 * (p[2] - middle))])
    cut.same("dot semantic", [(1, 1e3 * (s[2] - middle))])
    plane.same("dot positional", [p[:2]])
    plane.same("dot semantic", [s[:2]])
    axes = np.column_stack([p[:2], s[:2]])
    depths = plane.of("depth")
    assert len(depths) == 13
    lowest, top = min(p[2], s[2]), np.sqrt(np.sort(np.maximum(losses - min(p[2], s[2]), 0).ravel())[500])
    nodes = np.array([axes @ (a, b) for b in SHARES for a in SHARES])
    excess = np.maximum(losses - lowest, 0).ravel()
    inner = np.array([0 < k // 25 < 24 and 0 < k % 25 < 24 for k in range(625)])
    compared = 0
    for k, rings in enumerate(depths):
        level = np.inf if k == 0 else (top * (13 - k - 0.5) / 12) ** 2
        inside = sum((Outline(ring).contains_points(nodes) for ring in rings), start=0 * excess) % 2 == 1
        clear = inner & (abs(excess / level - 1) > 0.02)
        assert (inside == (excess < level))[clear].all(), k
        compared += inside[clear].sum()
    assert compared > 500
    leads = [1e3 * (surface["minima"][0]["loss"] - surface["minima"][1]["loss"]) for surface in sent]
    lead = Measured.mean(leads)
    deeper = "semantic" if lead.value > 0 else "positional"
    said = root.locator("[role=status]").inner_text()
    tie = abs(lead.value) < 2 * lead.error
    head = f"Within two errors both valleys are equally deep. The {deeper} one" if tie else f"The {deeper} valley"
    told = re.match(rf"{head} is deeper on (.*?) data sets, by (.*?) · 10⁻³ on average", said)
    assert told[1] == f"{(np.array(leads) * lead.value > 0).sum()} of {len(leads)}"
    assert says(told[2], abs(lead.value), lead.error)

    place = {"x": 180, "y": 120}
    root.locator("svg").first.click(position=place)
    name, asked = page.evaluate(ASKED)
    a, b = np.linalg.solve(axes, plane.place((place["x"], place["y"])))
    assert name == "descents" and asked["alpha"] == 1
    for start, surface in zip(asked["starts"], sent, strict=True):
        assert start == pytest.approx((a, b) @ np.array(surface["weights"]), abs=0.02)
    paths = np.random.default_rng(9).uniform((0.3, 0.2), (0.7, 0.4), (len(sent), 5, 2))
    for k, minimum in enumerate((1, 1, 1, 0, 0)):  # the other descents end in neither valley
        end = [sent[k]["minima"][minimum][name] + 0.05 for name in ("m", "theta")]
        paths[k, -1] = np.negative(end) if k in (0, 4) else end  # those two outside of the frame, in mirror images
    paths[5, -1] = 0
    steps = [(k, *point) for step in range(5) for k, point in enumerate(paths[:, step])]
    page.evaluate(ANSWER, [{"k": k, "m": m, "theta": theta, "loss": 0.0} for k, m, theta in steps])
    page.evaluate(FRAMES)
    plane = Drawing(root.locator("svg").first)
    plane.same("rolled", *paths)
    plane.same("ball", *[[path[-1]] for path in paths])
    status = root.locator("[role=status]")
    counted, _, rest = status.inner_text().partition(f"positional one, {len(sent) - 5} in neither. ")
    assert counted.endswith(" 3 ended in the semantic valley, 2 in the ")
    assert rest.startswith("2 of them ended in the mirror image of a valley, outside the frame. 1 stayed at zero")
    (frame,) = plane.rings(root.locator("#landscape-frame path").get_attribute("d"))
    assert frame[[0, 2]] == pytest.approx(np.array([[-0.4, 0.9], [1.5, -0.25]]), abs=0.01)
    clips = root.locator(".rolled, .ball").evaluate_all("all => all.map(part => getComputedStyle(part).clipPath)")
    assert len(clips) == 2 * len(sent) and {*clips} == {'url("#landscape-frame")'}
    for size in (PHONE, DESK):  # what follows stays where it is
        page.set_viewport_size(size)
        assert status.evaluate(HIGH, "") == status.evaluate(HIGH, f"{counted}{rest.partition(' 1 stayed')[0]}")
    page.evaluate(FRAMES)
    for key in ("ArrowRight", "ArrowUp", "ArrowUp"):
        root.locator("svg").first.press(key)
    aim = (0.55, 0.4)
    Drawing(root.locator("svg").first).same("ball", [aim])
    root.locator("svg").first.press("Enter")
    a, b = np.linalg.solve(axes, aim)
    start, weights = page.evaluate(ASKED)[1]["starts"][0], np.array(sent[0]["weights"])
    assert start == pytest.approx((a, b) @ weights, abs=1e-6)


# Reading -------------------------------------------------------------------------------------------------------------

POINTED = """([places, told]) => {
    window.figureReadout.made = told;
    const picture = document.querySelector("figure#made .themes");
    return places.map(([clientX, clientY]) => {
        picture.dispatchEvent(new PointerEvent("pointermove", {clientX, clientY, bubbles: true, pointerType: "mouse"}));
        const box = document.querySelector(".readout-box"), ring = document.querySelector(".readout-point");
        return !box?.isConnected || box.hidden ? null
            : [box.querySelector("b")?.innerText, box.querySelector("span")?.innerText,
                parseFloat(ring.style.left), parseFloat(ring.style.top)];
    });
}"""


def test_the_point_next_to_the_pointer_is_told(page):
    """Of points, of lines across, and of a map's cells, which give way to points that are near."""
    rng, boxes = np.random.default_rng(13), {"1": [0.1, 0.05, 0.45, 0.8], "2": [0.55, 0.15, 0.95, 0.9]}
    series = []
    for name, axes, count, value in (
        ("few", 1, 6, ""),
        ("many", 1, 25, ""),
        ("cells", 2, 30, "0.5"),
        ("over", 2, 4, ""),
    ):
        points = [[*rng.random(2).round(3).tolist(), f"{name} {k}", "1", value] for k in range(count)]
        series.append({"axes": axes, "name": name, "labels": ["x", "y", "z"], "points": points})
    series.append({"axes": 2, "name": "across", "labels": ["x", "y", "z"], "points": [[0.3, None, "across 0", "", ""]]})
    page.locator("figure#made").scroll_into_view_if_needed()
    image = page.locator("figure#made img").bounding_box()
    scale = min(image["width"] / 400, image["height"] / 200)
    size = np.array([400, 200]) * scale
    corner = np.array([image["x"], image["y"]]) + (np.array([image["width"], image["height"]]) - size) / 2
    pointers = corner + rng.uniform(-0.05, 1.05, (150, 2)) * size
    told = page.evaluate(POINTED, [pointers.tolist(), {"boxes": {"tall": boxes}, "series": series}])
    seen = Counter()
    for pointer, shown in zip(pointers, told, strict=True):
        best, expected = 40, None
        for some in series:
            left, top, right, low = corner[[0, 1, 0, 1]] + np.array(boxes[str(some["axes"])]) * size[[0, 1, 0, 1]]
            if not (left - 9 <= pointer[0] <= right + 9 and top - 9 <= pointer[1] <= low + 9):
                continue
            for x, y, text, _, value in some["points"]:
                at = np.array([left + x * (right - left), pointer[1] if y is None else low - y * (low - top)])
                away = np.hypot(*(at - pointer))
                away = 12 + away / 1000 if value else away
                if away < best:
                    best, expected = away, [some["name"], text, *at]
        seen[expected and expected[0]] += 1
        assert (shown is None) == (expected is None)
        assert shown is None or (shown[:2] == expected[:2] and shown[2:] == pytest.approx(expected[2:], abs=0.1))
    assert seen.keys() == {None, "few", "many", "cells", "over", "across"}, seen


FOUND = "items => items.map(item => [item.firstChild.getAttribute('href'), item.lastChild.innerText])"


def words_of(text):
    """Words as a search compares them: letters by their names, one word for α_c, the library's name one word."""
    text = re.sub("attention[-_]phases", "attentionphases", text.lower())
    names = {"alpha": "α", "theta": "θ", "omega": "ω"}
    return re.findall(r"[^\W_]+", re.sub("[_{}]", "", re.sub("[a-z]+", lambda word: names.get(word[0], word[0]), text)))


def stem(word):
    return re.sub("(es|s|ing|ed)$", "", word) if len(word) > 4 else word


@pytest.mark.parametrize(("query", "ways"), cases("queries"))
def test_a_search_finds_the_pages_that_say_most_of_it(page, query, ways):
    typed = [word for word in words_of(query) if word not in ("of", "the")]  # which ask for nothing
    pages, terms = page.evaluate("SEARCH_TEXTS"), [*dict.fromkeys(map(stem, typed))]

    def count(words, term):
        return sum(word.startswith(term) if len(term) > 2 else word == term for word in words)

    sections = {}
    for name, parts in pages.items():
        file = name.split("/")[-1].replace("_", " ")
        heads = [words_of(f"{heading} {file}" if k == 0 else heading) for k, (_, heading, _) in enumerate(parts)]
        sections[name] = [(head, words_of(text)) for head, (_, _, text) in zip(heads, parts)]
    having = []
    for term in terms:
        having.append({name for name in pages if any(count(head + words, term) for head, words in sections[name])})
    rare = [np.log(1 + len(pages) / max(len(some), 1)) for some in having]
    ranked = []
    for name in (name for name in pages if all(name in some for some in having)):
        scores = []
        for k, ((head, words), (anchor, *_)) in enumerate(zip(sections[name], pages[name])):
            weight = 12 if k == 0 else 18 if anchor.startswith("term-") else 5
            here = [(bool(count(head, term)), count(words, term)) for term in terms]
            score = sum(r * (weight * named + n / (n + 2)) for r, (named, n) in zip(rare, here))
            said = [" ".join(map(stem, part)) for part in (head, words)]
            score += 20 * (len(terms) > 1 and any(f" {' '.join(terms)}" in f" {part}" for part in said))
            scores.append(score / 2 if anchor == "all-figures" else score)
        k = int(np.argmax(scores))
        address = f"{name}.html" + f"#{pages[name][k][0]}" * (k > 0)
        ranked.append((max(scores) * 3 / 4 + sum(scores) / 4, address, k, name))
    ranked.sort(key=lambda page: -round(page[0], 9))
    page.evaluate("query => { Search.output.replaceChildren(); Search.query(query); }", query)
    found = page.locator("#results li").evaluate_all(FOUND)
    if not ranked:  # a way on, and no page
        pages = [address.partition("#")[0] for address, _ in found]
        assert pages == ways.split()
        found = []
    assert [address for address, _ in found] == [address for _, address, *_ in ranked]
    assert len(found) > 3 if ways == "pages" else not found
    assert page.evaluate("Search.status.textContent").startswith(f"{len(found)} page")
    for (_, excerpt), (_, _, k, name) in zip(found, ranked):
        text = pages[name][k][2]
        assert excerpt.strip("… ") in text and len(excerpt) < 300

        def near(part):
            return len({term for term in terms if count(words_of(part), term)})

        windows = [text[at : at + 100].rpartition(" ")[0] for at in range(len(text)) if text[at - 1 : at] in ("", " ")]
        assert near(excerpt) >= max(map(near, windows)), excerpt


# Words ---------------------------------------------------------------------------------------------------------------

# Names and words of each element, in the order of the page; where a drawing has a word, in hundreds of pixels.
WRITTEN = """() => [...document.body.querySelectorAll(":not(script, style, #results *)")].flatMap(part => {
    const own = [...part.childNodes].filter(node => node.nodeType === Node.TEXT_NODE && node.data.trim());
    const said = [...part.attributes].filter(({name}) => /^(aria-(?!hidden)|title$|alt$|placeholder$)/.test(name));
    if (!own.length && !said.length && !part.matches("li :is(path, circle, rect)")) return [];
    const at = part.matches("svg text") && part.transform.baseVal.numberOfItems ? part.getCTM() : null;
    const place = at ? ` at ${(at.e / 100).toFixed(1)} ${(at.f / 100).toFixed(1)}${at.b ? " turned" : ""}` : "";
    const words = [...own.map(node => node.data), ...said.map(({name, value}) => `${name}=${value}`)].join(" | ");
    const name = [part.tagName.toLowerCase(), ...part.classList].join(".");
    return [`${name}${place}: ${words}`.replace(/\\s+/g, " ").trim()];
})"""


def test_scripts_write_the_same_words(compare, page):
    """All words of a view, then those that are new when students, balls and descents have come back."""
    load(page, page.url.partition("#")[0])
    view(page, "standard", 0.3, 1.2)
    page.wait_for_function("() => document.querySelector('.explorer-said').textContent.includes('α = 1.20')")
    rng, written = np.random.default_rng(3), page.evaluate(WRITTEN)
    answered(page, "circle", [*made_students(rng, [1.2], 20)])
    page.locator(".guess button[type=submit]").click()
    point = {"m": 0.3, "theta": 0.2, "loss": 1}
    page.evaluate(ANSWER, [{"k": k, **point, "valley": ("semantic", "positional")[k % 2]} for k in range(20)])
    job = page.evaluate("() => jobs.find(({name}) => name === 'planes').job")
    page.evaluate(PLANES, [*surfaces(rng, len(job["seeds"]))])
    page.locator(".landscape svg").first.press("Enter")
    page.evaluate(ANSWER, [{"k": k, **point} for k in range(len(job["seeds"]))])
    page.evaluate(FRAMES)
    compare("scripts", [*written, "then", *(line for line in page.evaluate(WRITTEN) if line not in written)])
