"""The book's scripts on one page made of their sources: what they compute, against an independent computation on random
tables, and what they draw, read back from the drawing and compared with the data."""

import json
import re
from collections import Counter
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import torch
from built import DESK, FRAMES, HERE
from cells import cell
from explorer import EXPERIMENTS, Nodes, interpolate, polynomial, write_script
from matplotlib.path import Path as Outline
from scipy import stats
from scipy.interpolate import KroghInterpolator
from scipy.optimize import minimize
from test_dark import hue

from attention_book.experiments.results import read
from attention_book.render.style import COLOURS
from attention_phases import Measured, Task
from attention_phases.theory import prediction_error
from attention_phases.theory.branches import OWN

STATIC = HERE / "book/_static"
SIGMA, LAM = 0.6, 0.02  # neither is the book's: what is forgotten or taken twice shows
RHO = SIGMA**2
MADE = Task(omega=0.27, sigma=SIGMA, lam=LAM, matrix=((0.7, 0.3), (0.45, 0.55)))
BEFORE = ("d3-explorer", "training")
AFTER = ("explorer-theory", "explorer", "explorer-students", "landscape", "readout", "search")
WORKER = """window.jobs = []; window.inWorker = () => (name, job, answered) => { jobs.push({name, job, answered}); };"""
QUANTITIES = {  # of the panels and the rows of numbers, by a word of their titles: name and scale
    "training loss": ("train_loss", 1e3),
    "test error": ("test_mse", 1e3),
    "θ/σ²": ("theta", 1),
    "m/σ²": ("m", 1),
}
FIGURE = """<figure class="readout" id="made"><span class="themes"><img style="width: 300px; height: 260px; object-fit:
contain" src="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='400' height='200'/%3E"></span></figure>
<ul id="results"></ul>"""


SEARCHED = "window.SEARCH_TEXTS = {}; window.Search = {};"


# A page of all scripts, with random tables beside the stored ones ------------------------------------------------------


def made_up(rng):
    """A task like those of `explorer-data.js`, of random numbers: no two lines have the same nodes."""

    def curve(first, last, low, high, falls=False):
        omega = np.sort(np.r_[first, rng.uniform(first, last, 5), last])
        value = np.sort(rng.uniform(low, high, 7))[:: -1 if falls else 1]
        return {"omega": omega.tolist(), "value": value.tolist(), "error": rng.uniform(0.001, 0.02, 7).tolist()}

    def branch(begins, last, scale):
        omegas = np.sort(np.r_[0.02, rng.uniform(0.02, last, 6), last])
        lines = []
        for omega in omegas:
            start = np.interp(omega, begins["omega"], begins["value"])
            alpha = np.sort(np.r_[start, rng.uniform(start, 2.1, 8), 2.1])
            values = {name: scale * (2 + alpha * rng.uniform(0.5, 0.6)) for name in ("train_loss", "test_mse", "q")}
            values["own2"] = rng.uniform(0.1, 0.3) * (alpha - start)
            errors = {name: np.abs(column) * rng.uniform(0.002, 0.01, len(alpha)) for name, column in values.items()}
            parts = {"values": values, "errors": errors}
            lines.append(
                {"alpha": alpha.tolist()}
                | {part: {name: list(column) for name, column in some.items()} for part, some in parts.items()}
            )
        return {"omega": omegas.tolist(), "lines": lines}

    begins = {"semantic": curve(0.02, 0.41, 0.2, 0.8), "positional": curve(0.02, 0.37, 0.05, 0.3)}
    return {
        "A": MADE.matrix,
        "branches": {"semantic": branch(begins["semantic"], 0.41, 1e-3), "positional": branch(begins["positional"], 0.37, 1.01e-3)},
        "baseline": curve(0.02, 0.5, 0.002, 0.004),
        "critical": curve(0.02, 0.37, 0.8, 1.9),
        "linear": curve(0.02, 0.31, 1.1, 1.8),
        "begins": begins,
        "ends": {"positional": {"last": 0.18, **curve(0.02, 0.22, 1.2, 1.95)}},
    }


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """What `explorer-data.js` holds, with constants of our own and a third task, made up."""
    folder = tmp_path_factory.mktemp("scripts")
    write_script(folder)
    text = (folder / "explorer-data.js").read_text(encoding="utf-8")
    data = json.loads(text.removeprefix("window.explorerData = ").rstrip(";\n"))
    data["tasks"]["made"] = made_up(np.random.default_rng(1))
    return {**data, "sigma": SIGMA, "lam": LAM, "folder": folder}


@pytest.fixture(scope="module")
def page(chromium, data):
    """That page; jobs of its workers wait in `jobs`, to be answered by hand."""
    shown = []
    here = {"omega": 0.27, "A": MADE.matrix}
    cell("fig01_landscape", "MOVING", HTML=shown.append, task=MADE, critical=Measured(1.234, 0.001))
    landscape = re.sub("<(script src|link).*?>(</script>)?", "", shown[0]).replace(json.dumps(MADE.matrix), json.dumps(here["A"]))
    scripts = [(STATIC / f"{name}.js").read_text(encoding="utf-8") for name in BEFORE + AFTER]
    given = json.dumps({name: value for name, value in data.items() if name != "folder"})
    scripts[len(BEFORE) : len(BEFORE)] = [WORKER, f"window.explorerData = {given};", SEARCHED]
    path = data["folder"] / "page.html"
    path.write_text(
        '<html data-content_root=""><meta charset="utf-8"><body>'
        + "".join(f"<style>{(STATIC / f'{name}.css').read_text(encoding='utf-8')}</style>" for name in ("explorer",))
        + (HERE / "book/explorer.html").read_text(encoding="utf-8") + FIGURE + landscape
        + "".join(f"<script>{script}</script>" for script in scripts),
        encoding="utf-8",
    )  # fmt: skip
    context = chromium.new_context(offline=True, viewport=DESK, reduced_motion="reduce")
    page, complaints = context.new_page(), []
    page.on("pageerror", lambda error: complaints.append(error))
    page.goto(path.as_uri())
    yield page
    context.close()
    assert complaints == []


class Theory:
    """What the tables of a task say, by the library's interpolation and by NumPy."""

    def __init__(self, task):
        self.task = task
        self.nodes = {
            name: [
                Nodes(omega, *(np.array(part) for part in (line["alpha"], *(
                    np.transpose(list(line[part].values())) for part in ("values", "errors")))))
                for omega, line in zip(branch["omega"], branch["lines"])
            ]
            for name, branch in task["branches"].items()
        }  # fmt: skip

    def along(self, table, omega, count=4):
        """Value and error of a curve, None outside of it."""
        nodes = np.array(table["omega"])
        if not nodes[0] - 1e-6 <= omega <= nodes[-1] + 1e-6:
            return None
        value, error = (np.array(table[name]) for name in ("value", "error"))
        return float(polynomial(nodes, value, omega, count)), float(polynomial(nodes, error, omega, 2))

    def range(self, name, omega):
        """Between which alpha there is a valley; None where there is none."""
        omegas = self.task["branches"][name]["omega"]
        start = self.along(self.task["begins"][name], omega, 2)
        if start is None or omega > omegas[-1] + 1e-6:
            return None
        ends = self.task["ends"].get(name)
        end = self.along(ends, omega, 2) if ends else None
        return start[0], end[0] if end else max(line.alpha[-1] for line in self.nodes["semantic"])

    def minimum(self, name, omega, alpha):
        """Of each quantity value, error, and the ends of its band; None where there is no valley."""
        within = self.range(name, omega)
        if within is None or not within[0] <= alpha <= within[1]:
            return None
        values, errors = (interpolate(self.nodes[name], omega, alpha, part) for part in ("values", "errors"))
        if values is None or errors is None:
            return {}  # beyond the last node, where both extrapolate
        (loss, test, q, square), errors = values, abs(errors)
        low, own, high = np.sqrt(np.maximum(square + errors[3] * np.array([-1, 0, 1]), 0)) / RHO
        found = {"train_loss": (loss, errors[0]), "test_mse": (test, errors[1])}
        found = {key: (value, error, value - error, value + error) for key, (value, error) in found.items()}
        none = (0, 0, 0, 0)
        found |= {branch_own: (own, (high - low) / 2, low, high) if branch == name else none for branch, branch_own in OWN.items()}
        ridge = LAM * q / RHO / 2
        return found | {"ridge": ridge, "misfit": (loss - ridge) / alpha}

    def at(self, omega, alpha):
        return {name: self.minimum(name, omega, alpha) for name in OWN}


@pytest.fixture(scope="module")
def theories(data):
    return {name: Theory(task) for name, task in data["tasks"].items()}


def places(count, seed):
    """Points of the sliders, between the stored omegas and on them."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield round(0.02 + 0.005 * int(rng.integers(97)), 3), round(0.02 + 0.01 * int(rng.integers(199)), 2)


# Theory ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("matrix", [*EXPERIMENTS, "made"])
def test_theory_between_the_nodes(page, theories, matrix):
    theory, compared = theories[matrix], Counter()
    points = [*places(80, 2)]
    asked = "([matrix, points]) => points.map(([o, a]) => explorerTheory.at(explorerTheory.tasks[matrix], o, a))"
    for (omega, alpha), shown in zip(points, page.evaluate(asked, [matrix, points])):
        expected = theory.at(omega, alpha)
        for name, minimum in expected.items():
            assert (minimum is None) == (shown[name] is None)
            for key, number in (minimum or {}).items():
                told = shown[name][key]
                both = [told] if key in ("ridge", "misfit") else [told["value"], told["error"]]
                assert both == pytest.approx(np.atleast_1d(number)[: len(both)], rel=1e-7, abs=1e-13), (name, key)
                compared[name] += 1
        for what in ("baseline", "critical", "linear"):
            curve = theory.along(theory.task[what], omega)
            assert (curve is None) == (shown[what] is None)
            assert curve is None or [*shown[what].values()] == pytest.approx(curve)
        if all(expected.values()):
            losses = np.array([expected[name]["train_loss"] for name in ("semantic", "positional")])
            assert shown["difference"]["value"] == pytest.approx(losses[0, 0] - losses[1, 0], abs=1e-12)
            assert shown["difference"]["error"] == pytest.approx(np.sqrt((losses[:, 1] ** 2).sum()), rel=1e-7)
    assert compared["semantic"] > 100 and compared["positional"] > (8 if matrix == "alternative" else 100)


@pytest.mark.parametrize("matrix", EXPERIMENTS)
def test_the_explorer_carries_the_stored_theory_and_its_errors(data, matrix):
    """Errors: of the quadrature as they are stored, and what the neighbours say of a node that they are not given."""
    lines, task = read(EXPERIMENTS[matrix], "paper"), data["tasks"][matrix]
    for what in ("critical", "linear", "baseline"):
        name = "test_mse" if what == "baseline" else "alpha"
        rows = lines[lines["what"] == what].sort_values("omega")
        assert task[what]["omega"] == pytest.approx(rows["omega"]) and len(rows) > 2
        for column, part in (("value", name), ("error", f"{name}_error")):
            assert task[what][column] == pytest.approx(rows[part].fillna(0), rel=1e-6)
    checked = 0
    for branch, own in OWN.items():
        nodes = Theory(task).nodes[branch]
        for k, line in enumerate(nodes):
            rows = lines[np.isclose(lines["omega"], line.omega) & (lines["what"] == branch)].set_index("alpha")
            for i in range(1 + k % 4, len(line.alpha) - 1, 4):
                row = rows.loc[rows.index[np.isclose(rows.index, line.alpha[i])][0]]
                stored = [*row[["train_loss", "test_mse", "q"]], row[own] ** 2]
                assert line.values[i] == pytest.approx(stored, rel=1e-6)
                quadrature = np.array([*row[["train_loss_error", "test_mse_error", "q_error"]], 2 * row[own] * row[f"{own}_error"]])
                missed = np.sqrt(np.maximum(line.errors[i] ** 2 - quadrature**2, 0))
                assert (line.errors[i] >= quadrature * (1 - 1e-6)).all()
                if 1 < i < len(line.alpha) - 2 and 1 < k < len(nodes) - 2:
                    others = [nodes[k + by] for by in (-2, -1, 1, 2)]
                    omegas = [other.omega for other in others]
                    ends = KroghInterpolator(omegas, [other.alpha[[0, -1]] for other in others])(line.omega)
                    share = (line.alpha[i] - ends[0]) / np.ptp(ends)
                    places = [other.alpha[0] + share * np.ptp(other.alpha) for other in others]
                    across = [_through(other.alpha, other.values, at) for other, at in zip(others, places)]
                    along = _through(np.delete(line.alpha, i), np.delete(line.values, i, 0), line.alpha[i])
                    attempts = [along, KroghInterpolator(omegas, across)(line.omega)]
                    missed = abs(np.array(attempts) - line.values[i]).max(0)
                    assert line.errors[i] == pytest.approx(np.sqrt(quadrature**2 + missed**2), rel=1e-3, abs=1e-9)
                    checked += 1
                assert (line.errors[i] >= quadrature * (1 - 1e-6)).all()
    assert checked > 20


def _through(x, y, at):
    """The cubic through the four nodes around a point."""
    first = np.clip((x <= at).sum() - 2, 0, len(x) - 4)
    return KroghInterpolator(x[first : first + 4], y[first : first + 4])(at)


# What the explorer says --------------------------------------------------------------------------------------------


def view(page, matrix, omega, alpha):
    page.evaluate("view => explorer.move(view)", {"matrix": matrix, "omega": omega, "alpha": alpha})


def says(text, *expected):
    """Whether the numbers of a text "1.23 ± 0.04" are these to half of a unit of their last digits."""
    numbers = re.findall(r"−?\d+(?:\.\d+)?", text)
    units = [10.0 ** -len(number.partition(".")[2]) for number in numbers]
    told = [float(number.replace("−", "-")) for number in numbers]
    return len(told) == len(expected) and all(abs(a - b) <= 0.501 * unit for a, b, unit in zip(told, expected, units))


VERDICT = "() => [...document.querySelector('.explorer-verdict').children].map(part => part.innerText)"
NUMBERS = """() => [...document.querySelectorAll(".explorer-numbers tr")].map(row => [...row.children].map(cell =>
    cell.textContent))"""


def test_the_verdict_is_that_of_the_losses(page, theories):
    heads = Counter()
    views = [(matrix, *place) for seed, matrix in enumerate(theories) for place in places(40, seed)]
    told = page.evaluate(f"views => views.map(([matrix, omega, alpha]) => {{ explorer.move({{matrix, omega, alpha}}); return ({VERDICT})(); }})", views)
    for (matrix, omega, alpha), (head, rest) in zip(views, told):
        theory = theories[matrix]
        minima = theory.at(omega, alpha)
        if {} in minima.values():
            continue
        there = [name for name, minimum in minima.items() if minimum]
        losses = {name: minima[name]["train_loss"] for name in there}
        winner = min(there, key=lambda name: losses[name][0], default=None)
        if winner is None:
            kind, expected = "none", "No valley."
        elif len(there) == 1:
            kind, expected = "alone", f"Only the {winner} student."
        else:
            (other,) = set(there) - {winner}
            lead, error = losses[other][0] - losses[winner][0], np.hypot(losses[other][1], losses[winner][1])
            kind, expected = ("tie", "A tie.") if lead < 2 * error else ("win", f"The {winner} student wins")
        heads[kind] += 1
        assert head.startswith(expected), (matrix, omega, alpha)
        assert re.match(rf"At ω = {omega:g}0?, α = {alpha:.2f}\b", rest)
        if kind == "win":
            assert says(head, 100 * lead / losses[other][0]), head
            assert says(re.search(r"difference is (.*?) \(in", rest)[1], 1e3 * lead, 1e3 * error), rest
        if kind in ("win", "alone"):
            better = minima[winner]["test_mse"][0] < theory.along(theory.task["baseline"], omega)[0]
            assert f"predicts new sentences {'better' if better else 'worse'} than the linear model." in rest
            assert (kind == "alone") or ("It also" if better else "But it") in rest
        for name in set(OWN) - set(there) if kind != "tie" else ():
            within, omegas = theory.range(name, omega), theory.task["branches"][name]["omega"]
            if within is None:
                later = min(each for each in theory.task["baseline"]["omega"] if each > omegas[-1] + 1e-6)
                told = f"the {name} valley ends between ω = {omegas[-1]:.2f} and {later:.2f}"
            else:
                verb, where = ("begins", within[0]) if alpha < within[0] else ("ended", within[1])
                told = f"the {name} valley {verb} at α = {where:.2f}"
            assert told in rest, (rest, told)
    assert heads.keys() == {"none", "alone", "tie", "win"} and heads["win"] > 15, heads


@pytest.mark.parametrize("matrix, omega, alpha", [("standard", 0.135, 1.2), ("alternative", 0.05, 1.2), ("made", 0.1, 1.1)])
def test_the_numbers_of_a_point_stand_in_their_rows(page, theories, matrix, omega, alpha):
    theory = theories[matrix]
    minima = theory.at(omega, alpha)
    view(page, matrix, omega, alpha)
    (_, *names), *rows = page.evaluate(NUMBERS)
    keys = ["train_loss", "test_mse", "theta", "m", "ridge", "misfit"]
    words = ["training loss", "test error", "θ", "m/", "ridge", "misfit"]
    for (head, *cells), key, word in zip(rows, keys, words, strict=True):
        assert word in head
        for name, text in zip(names, cells, strict=True):
            if minima[name] is None:
                assert text == "no valley"
                continue
            numbers = np.atleast_1d(minima[name][key])[:2] * (1 if key in ("theta", "m") else 1e3)
            assert says(text, *(numbers if numbers[-1] else [0])), (name, key, text)
    baseline, thresholds = page.locator(".explorer-numbers p span").text_content().split(" (in 10⁻³). ")
    told = re.findall(r"α([cl]) = (.*?)\. (?=α|$)", thresholds)
    curves = {letter: theory.along(theory.task[what], omega) for letter, what in (("c", "critical"), ("l", "linear"))}
    assert [letter for letter, _ in told] == [letter for letter, curve in curves.items() if curve]
    assert all(says(text, *curves[letter]) for letter, text in told)
    value, error = theory.along(theory.task["baseline"], omega)
    assert says(baseline.partition("error")[2], *([1e3 * value, 1e3 * error] if error else [1e3 * value]))


# What it draws -----------------------------------------------------------------------------------------------------

DRAWN = """svg => ({
    ticks: [...svg.querySelectorAll(".axis")].map(axis => [...axis.querySelectorAll(".tick")].map(tick =>
        [tick.transform.baseVal[0].matrix.e, tick.transform.baseVal[0].matrix.f, tick.textContent])),
    shapes: [...svg.querySelectorAll(":scope > path, :scope > circle")].map(shape => [shape.getAttribute("class"),
        shape.getAttribute("d") ?? `M${shape.getAttribute("cx")},${shape.getAttribute("cy")}`]),
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
        self.shapes = [(kind, self.rings(d)) for kind, d in read["shapes"] if d]

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


VIEWS = [("standard", 0.3, 1.2), ("standard", 0.145, 0.7), ("alternative", 0.05, 1.2), ("made", 0.2, 1.3), ("made", 0.11, 1.0)]


@pytest.mark.parametrize("matrix, omega, alpha", VIEWS)
def test_the_panels_draw_the_theory_along_alpha(page, theories, matrix, omega, alpha):
    theory = theories[matrix]
    view(page, matrix, omega, alpha)
    seen = []
    for panel in page.locator(".explorer-panels > div").all():
        title = panel.locator("p").inner_text()
        ((word, (key, scale)),) = [(word, what) for word, what in QUANTITIES.items() if word in title]
        seen.append(key)
        drawing = Drawing(panel.locator("svg"))
        for name in OWN:
            from_, to = theory.range(name, omega)
            ((curve,),), ((band,),) = drawing.of(f"curve {name}"), drawing.of(f"band {name}")
            x, low, high = sides(band)
            assert len(x) > 55 and x[0] <= from_ + 0.05 and x[-1] >= to - 0.05 and (x == curve[:, 0]).all()
            compared = 0
            for at, *drawn in [*zip(x, low, curve[:, 1], high)][1:-1]:  # at its ends an overlap is a root
                minimum = theory.minimum(name, omega, at)
                if minimum:
                    expected = scale * np.maximum(np.array(minimum[key])[[2, 0, 3]], 0)
                    assert drawn == pytest.approx(expected, abs=0.05 * drawing.pixel[1]), (key, name, at)
                    compared += 1
            assert compared > 50
            there = theory.minimum(name, omega, alpha)
            drawing.same(f"dot {name}", *([[(alpha, scale * there[key][0])]] if there else []))
        curves = {what: theory.along(theory.task[what], omega) for what in ("critical", "linear", "baseline")}
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
        curve = [(omega, value[0]) for omega in omegas if (value := theory.along(theory.task[what], omega))]
        drawn = np.concatenate([ring for rings in drawing.of(what) for ring in rings])
        expected = np.array([point for point in curve if point[1] <= 2])
        assert len(drawn) == len(expected) > 5
        assert (abs(drawn - expected) < 0.02 * np.array(drawing.pixel)).all(), what
    borders = {name: np.concatenate([ring for rings in drawing.of(f"border {name}") for ring in rings]) for name in OWN}
    for name, border in borders.items():
        begins = [(omega, within[0]) for omega in omegas if (within := theory.range(name, omega))]
        last = theory.task["ends"]["positional"]["last"] + 1e-6
        ends = [(omega, theory.range(name, omega)[1]) for omega in omegas if omega <= last] if name == "positional" else []
        expected = np.array([(omega, alpha) for omega, alpha in begins + ends if alpha <= 2])
        assert (abs(border - np.maximum(expected, 0.02)) < 0.02 * np.array(drawing.pixel)).all(), name

    def among(kind, points):
        """How many of the areas of a kind contain each point."""
        return sum((sum(Outline(ring).contains_points(points) for ring in rings) % 2 for rings in drawing.of(kind)), start=0 * points[:, 0])

    rows = 0.02 + 0.0495 * np.arange(41)[1:-1]  # of the grid that shades are made of, on which they are exact
    points = np.array([(omega, alpha) for omega in omegas[1:-1:2] for alpha in rows])
    regions = {name: among(f"region {name}", points + [1e-5, 0]) for name in OWN}
    alone, compared = among("alone", points + [1e-5, 0]), Counter()
    for k, (omega, alpha) in enumerate(points):
        ranges = {name: theory.range(name, omega) for name in OWN}
        if any(abs(edge - alpha) < 0.03 for within in ranges.values() if within for edge in within):
            continue
        minima = theory.at(omega, alpha)
        there = [name for name in OWN if minima[name] is not None]
        if {} in minima.values():
            continue
        assert alone[k] == (len(there) == 1), (omega, alpha)
        if len(there) < 2:
            assert {name for name in OWN if regions[name][k]} == set(there), (omega, alpha)
            compared[len(there)] += 1
            continue
        lead = minima["positional"]["train_loss"][0] - minima["semantic"]["train_loss"][0]
        if min(abs(abs(lead) / np.array([1e-4, 3e-4, 1e-3]) - 1)) < 0.02 or abs(lead) < 1e-5:
            continue
        shades = {name: 1 + sum(abs(lead) > shade for shade in (1e-4, 3e-4, 1e-3)) if (lead > 0) == (name == "semantic") else 0 for name in OWN}
        assert {name: regions[name][k] for name in OWN} == shades, (omega, alpha, lead)
        compared[2] += 1
    assert compared[2] > 30 and compared[1] > 30, compared
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


# Students of the browser, in the place of whose worker rows are made up -------------------------------------------------


def made_students(rng, alphas, sets):
    """Rows as a worker sends them: losses cross, some leave their valley."""
    names = [*OWN, "random"]
    for alpha in alphas:
        for seed in range(sets):
            for start in names:
                loss = 3e-3 + 1e-3 * (alpha - 1.15) * (start == "positional") + 2e-4 * rng.standard_normal()
                other = str(rng.choice([*OWN]))
                yield {
                    "start": start, "alpha": alpha, "seed": seed, "train_loss": loss, "test_mse": rng.uniform(1e-3, 3e-3),
                    "valley": start if start != "random" and rng.random() < 0.8 else other, "theta": rng.uniform(0, 0.9),
                    "m": rng.uniform(0, 0.9), "converged": bool(rng.random() < 0.97),
                }  # fmt: skip


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
    table = pd.DataFrame(rows)
    losses = table.pivot(index=["alpha", "seed"], columns="start", values="train_loss")
    leads = losses["positional"] - losses["semantic"]
    text = said.inner_text()
    if train == "circle":
        lead = Measured.mean(leads)
        winner = "semantic" if lead.value > 0 else "positional"
        told = re.match(rf"The {winner} student's loss is lower by (.*?) \(in 10⁻³\) on average, and on (.*?) data sets", text)
        assert says(told[1], 1e3 * abs(lead.value), 1e3 * lead.error) and told[2] == f"{(leads * lead.value > 0).sum()} of {sets}"
        for name in OWN:
            left = ((table["start"] == name) & (table["valley"] != name)).sum()
            assert left and f"{left} left the {name} valley." in text
    else:
        means = leads.groupby("alpha").agg(["mean", "sem"])
        k = np.flatnonzero(means["mean"] < 0)[-1]  # the last before semantic students win for good
        between = np.random.default_rng(6).normal(*means.iloc[k : k + 2].to_numpy().T, (100_000, 2))
        share = lambda a, b: -a / (b - a)
        place, drawn = (alphas[k] + 0.2 * share(*means["mean"].iloc[k : k + 2]), alphas[k] + 0.2 * share(*between.T))
        value, error = map(float, re.search(r"cross at α = ([\d.]+) ± ([\d.]+)", text).groups())
        spread = np.diff(np.quantile(drawn, stats.norm.cdf([-0.5, 0.5]))).item()
        assert value == pytest.approx(place, abs=0.06 * error + 0.005) and error == pytest.approx(spread, rel=0.15, abs=0.006)
    random = table[table["start"] == "random"]["valley"].value_counts()
    assert f"Of {random.sum()} random starts {random['positional']} ended positional, {random['semantic']} semantic." in text
    stuck = (~table["converged"]).sum()
    assert stuck and text.endswith(f" {stuck} did not converge.")
    stayed = table[table["start"] == table["valley"]].groupby(["start", "alpha"])
    for panel, (key, scale) in zip(page.locator(".explorer-panels svg").all(), QUANTITIES.values(), strict=True):
        drawing = Drawing(panel)
        for name in OWN:
            means = scale * stayed[key].agg(["mean", "sem"]).loc[name].fillna(0)
            lone = table[(table["start"] == "random") & (table["valley"] == name)]
            for kind, points in ((f"student {name}", means["mean"]), (f"student random {name}", scale * lone.set_index("alpha")[key])):
                inside = points.clip(upper=drawing.place((0, 6))[1])  # what is higher stands on the frame
                drawing.same(kind, *[[point] for point in inside.items()])
            bars = [rings[0] for rings in drawing.of(f"curve {name}") if len(rings[0]) == 2]
            for (alpha, (mean, error)), bar in zip(means.iterrows(), bars, strict=True):
                ends = np.clip([mean - error, mean + error], *np.sort(drawing.place([(0, 6), (0, drawing.foot)])[:, 1]))
                assert bar[:, 0] == pytest.approx([alpha] * 2, abs=0.001)
                assert bar[:, 1] == pytest.approx(ends, abs=0.02 * drawing.pixel[1])
    view(page, "standard", 0.305, 1.4)
    assert page.evaluate("explorer.students()") == []  # of another task


def test_a_mean_has_the_error_of_a_mean(page):
    values = np.random.default_rng(7).exponential(2.0, 7)
    expected = Measured.mean(values)
    assert page.evaluate("measured", values.tolist()) == pytest.approx({"value": expected.value, "error": expected.error})


# Training in the browser ------------------------------------------------------------------------------------------------

SAMPLED = """([task, count, d, seed]) => {
    const {normals, sample} = attentionTraining(explorerData), normal = normals(seed);
    const {teacher, inputs} = sample(task, count, d, normal);
    return {teacher: [...teacher], inputs: [...inputs], random: [...teacher].map(() => 0.1 * normal())};
}"""
TASK = {"omega": MADE.omega, "A": MADE.matrix}


class Sentences:
    """Training sentences that the browser has drawn, and the risk as Eq. 3 has it, nothing of it reduced."""

    def __init__(self, page, count, d, seed):
        drawn = page.evaluate(SAMPLED, [TASK, count, d, seed])
        self.d, self.teacher, self.random = d, torch.tensor(drawn["teacher"]), torch.tensor(drawn["random"])
        self.teacher, self.random = self.teacher.double(), self.random.double()
        self.x = torch.tensor(drawn["inputs"], dtype=torch.float64).reshape(count, 2, d) * d**0.5
        self.xi = self.x - torch.tensor([1.0, -1.0])[:, None] / d**0.5
        y = self.xi @ self.teacher / d**0.5
        A = torch.tensor(MADE.matrix, dtype=torch.float64)
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
    numbers = page.evaluate("() => { const normal = attentionTraining(explorerData).normals(11); return Array.from({length: 20001}, normal); }")
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
    for row in rows:
        data = Sentences(page, round(row["alpha"] * d), d, row["seed"])
        starts = {"semantic": data.teacher, "positional": torch.full((d,), d**-0.5), "random": data.random}
        found = minimize(data.slope, starts[row["start"]].numpy(), jac=True, method="L-BFGS-B", options={"gtol": 1e-9, "ftol": 0, "maxiter": 5000})
        of = data.overlaps(found.x)
        own, cosine = (of["theta"] / RHO, of["theta"] / of["rho"] ** 0.5), SIGMA * of["m"]
        valley = "semantic" if abs(own[1]) > abs(cosine) else "positional"
        assert row["converged"] and row["valley"] == valley
        assert row["train_loss"] == pytest.approx(found.fun / d, rel=1e-5)
        sign = np.sign(of[OWN[valley]]) / RHO
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
            assert minimum == pytest.approx({"m": of["m"] / RHO, "theta": of["theta"] / RHO, "loss": value / d}, rel=1e-9)
    starts = [np.array(plane["weights"]).mean(0).tolist() for plane in planes[2:]]
    job |= {"largest": 2.2, "alpha": 0.9, "starts": starts, "rate": 0.7, "every": 4}
    points = page.evaluate("job => [...attentionTraining(explorerData).descents({...job, starts: job.starts.map(Q => Float64Array.from(Q))})]", job)
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


# The landscape ----------------------------------------------------------------------------------------------------------


def surfaces(rng, count):
    """Of several data sets, as a worker sends them; the two halves of a plane differ."""
    shares = np.array([1.7 * i / 24 - 0.35 for i in range(25)])
    for k in range(count):
        b, a = np.meshgrid(shares, shares, indexing="ij")
        rough = 1e-5 * rng.standard_normal(a.shape)
        losses = 3e-3 + 2e-3 * a**2 * b**2 + 4e-4 * ((a + 1.3 * b - 1) ** 2 + 0.3 * (a - 0.6) ** 2) + rough
        minima = [{"m": 1.0 + 0.1 * rng.random(), "theta": 0.1 * rng.random(), "loss": losses[8, 19] + 1e-4 * rng.random()}]
        minima += [{"m": 0.1 * rng.random(), "theta": 0.55 + 0.1 * rng.random(), "loss": losses[19, 8]}]
        yield {"losses": losses.ravel().tolist(), "minima": minima, "weights": rng.standard_normal((2, 3)).tolist()}, shares


def test_the_landscape_draws_the_mean_surface_its_cut_and_descents(page):
    job = page.evaluate("() => jobs.find(({name}) => name === 'planes').job")
    sent, shares = zip(*surfaces(np.random.default_rng(8), len(job["seeds"])))
    assert job["shares"] == pytest.approx(shares[0]) and job["d"] == 200
    page.evaluate("""surfaces => { const {answered} = jobs.find(({name}) => name === "planes");
        surfaces.forEach(surface => answered({...surface, alpha: 1})); }""", sent)  # fmt: skip
    losses = np.mean([surface["losses"] for surface in sent], 0).reshape(25, 25)  # by b, the semantic share, and a
    (p, s), root = np.mean([[[*minimum.values()] for minimum in surface["minima"]] for surface in sent], 0), page.locator(".landscape")
    middle = (p[2] + s[2]) / 2
    plane, cut = (Drawing(svg) for svg in root.locator("svg").all())
    expected = [(b, 1e3 * (losses[k, 24 - k] - middle)) for k, b in enumerate(shares[0])][1:-1]
    cut.same("cut", [point for point in expected if point[1] < 2.2])
    cut.same("dot positional", [(0, 1e3 * (p[2] - middle))])
    cut.same("dot semantic", [(1, 1e3 * (s[2] - middle))])
    plane.same("dot positional", [p[:2]])
    plane.same("dot semantic", [s[:2]])
    axes = np.column_stack([p[:2], s[:2]])
    depths = plane.of("depth")
    assert len(depths) == 13
    lowest, top = min(p[2], s[2]), np.sqrt(np.sort(np.maximum(losses - min(p[2], s[2]), 0).ravel())[500])
    nodes = np.array([axes @ (a, b) for b in shares[0] for a in shares[0]])
    excess = np.maximum(losses - lowest, 0).ravel()
    inner = np.array([0 < k // 25 < 24 and 0 < k % 25 < 24 for k in range(625)])
    compared = 0
    for k, rings in enumerate([*depths[:1], *depths[1:]]):
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
    told = re.match(rf"The {deeper} valley is deeper on (.*?) data sets, by (.*?) · 10⁻³ on average", said)
    assert told[1] == f"{(np.array(leads) * lead.value > 0).sum()} of {len(leads)}" and says(told[2], abs(lead.value), lead.error)

    box, place = root.locator("svg").first.bounding_box(), {"x": 180, "y": 120}
    root.locator("svg").first.click(position=place)
    asked = page.evaluate("() => { const {name, job} = jobs.at(-1); return [name, {...job, starts: job.starts.map(Q => [...Q])}]; }")
    a, b = np.linalg.solve(axes, plane.place((place["x"], place["y"])))
    assert asked[0] == "descents" and asked[1]["alpha"] == 1 and box["width"] > 200
    for start, surface in zip(asked[1]["starts"], sent, strict=True):
        assert start == pytest.approx(a * np.array(surface["weights"][0]) + b * np.array(surface["weights"][1]), abs=0.02)
    paths = np.random.default_rng(9).uniform((-0.2, -0.1), (1.2, 0.8), (len(sent), 5, 2))
    steps = [{"k": k, "m": m, "theta": theta, "loss": 0.0} for step in range(5) for k, (m, theta) in enumerate(paths[:, step])]
    page.evaluate("points => { points.forEach(point => jobs.at(-1).answered(point)); jobs.at(-1).answered(null); }", steps)
    page.evaluate(FRAMES)
    plane = Drawing(root.locator("svg").first)
    plane.same("rolled", *paths)
    plane.same("ball", *[[path[-1]] for path in paths])
