"""Readers of the page of scripts: tables interpolated by NumPy, and drawings in the numbers of their axes."""

import re
from functools import cache

import numpy as np
import pytest
from built import FRAMES
from cases import case_text
from explorer import Nodes, interpolate, polynomial
from scipy.optimize import brentq

from attention_phases import Task
from attention_phases.theory.branches import OWN_OVERLAP

SIGMA, LAM = 0.6, 0.02  # values that differ from the book's, so that a value left out or used twice is noticed
RHO = SIGMA**2
MADE = Task(omega=0.27, sigma=SIGMA, lam=LAM, matrix=((0.7, 0.3), (0.45, 0.55)))
PARTS = ("values", "errors")
QUANTITIES = {  # name and scale of panels and rows of numbers, by words of their titles
    "training loss": ("train_loss", 1e3),
    "test error": ("test_mse", 1e3),
    "θ/σ²": ("theta", 1),
    "m/σ²": ("m", 1),
}


def load(page, address):
    page.goto(address)
    page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true; })")
    page.evaluate(FRAMES)


class Theory:
    """The tables of a task, interpolated by the library's method and by NumPy."""

    def __init__(self, task):
        self.task, self.nodes = task, {}
        for name, branch in task["branches"].items():
            self.nodes[name] = []
            for omega, line in zip(branch["omega"], branch["lines"], strict=True):
                values, errors = (np.transpose(list(line[part].values())) for part in PARTS)
                self.nodes[name].append(Nodes(omega, np.array(line["alpha"]), values, errors))

    def along(self, what, omega, count=4):
        """Return the value and error of a curve, NaN outside its range."""
        table = self.task[what] if isinstance(what, str) else what
        nodes = np.array(table["omega"])
        if not nodes[0] - 1e-6 <= omega <= nodes[-1] + 1e-6:
            return np.nan, np.nan
        both = (("value", count), ("error", 2))
        return tuple(float(polynomial(nodes, np.array(table[part]), omega, size)) for part, size in both)

    @cache  # noqa: B019
    def linear(self, omega):
        """Return alpha_l and its error: the crossing of test errors close to the stored alpha_l, or the stored one."""
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
        """Return the range of alpha in which there is a valley, or None."""
        start = self.along(self.task["begins"][name], omega, 2)[0]
        if np.isnan(start) or omega > self.task["branches"][name]["omega"][-1] + 1e-6:
            return None
        end = self.along(self.task["ends"].get(name, {"omega": [9]}), omega, 2)[0]
        return start, max(line.alpha[-1] for line in self.nodes["semantic"]) if np.isnan(end) else end

    @cache  # noqa: B019
    def minimum(self, name, omega, alpha):
        """Return the value, the error and the band of each quantity, or None where there is no valley."""
        within = self.range(name, omega)
        if within is None or not within[0] <= alpha <= within[1]:
            return None
        values, errors = (interpolate(self.nodes[name], omega, alpha, part) for part in PARTS)
        if values is None or errors is None:
            return {}  # beyond the last node both values would be extrapolations
        (loss, test, q, square), errors = values, abs(errors)
        low, own, high = np.sqrt(np.maximum(square + errors[3] * np.array([-1, 0, 1]), 0)) / RHO
        ridge = LAM * q / RHO / 2
        parts = {name: (own, (high - low) / 2, low, high)}
        overlaps = {overlap: parts.get(other, (0, 0, 0, 0)) for other, overlap in OWN_OVERLAP.items()}
        losses = zip(("train_loss", "test_mse"), (loss, test), errors)
        both = {key: (value, error, value - error, value + error) for key, value, error in losses}
        return both | overlaps | {"ridge": ridge, "misfit": (loss - ridge) / alpha}

    def at(self, omega, alpha):
        return {name: self.minimum(name, omega, alpha) for name in OWN_OVERLAP}


def says(text, *expected):
    """Return whether a text such as "1.23 ± 0.04" has these numbers, to half a unit of their last digits."""
    numbers = re.findall(r"−?\d+(?:\.\d+)?", text)
    units = [10.0 ** -len(number.partition(".")[2]) for number in numbers]
    told = [float(number.replace("−", "-")) for number in numbers]
    return len(told) == len(expected) and all(abs(a - b) <= 0.501 * unit for a, b, unit in zip(told, expected, units))


class Drawing:
    """A drawing in the numbers of its axes, which are read from their ticks."""

    def __init__(self, svg):
        read = svg.evaluate(case_text("drawn.js"))
        self.words = read["words"]
        self.rulers, self.pixel = [], []
        for axis, ticks in enumerate(read["ticks"]):
            at = np.array([tick[axis] - 0.5 for tick in ticks])  # d3 shifts ticks by half a pixel to make lines sharp
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
        """Return the points of each part of a path."""
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
        """Return whether the drawn shapes of a kind are exactly these points, to a fiftieth of a pixel."""
        drawn = [ring for rings in self.of(kind) for ring in rings]
        assert len(drawn) == len(expected), (kind, len(drawn), len(expected))
        for ring, points in zip(drawn, expected):
            assert np.shape(ring) == np.shape(points), kind
            assert (abs(ring - np.array(points)) <= 0.02 * np.array(self.pixel)).all(), (kind, ring, points)


def view(page, matrix, omega, alpha):
    page.evaluate("view => explorer.move(view)", {"matrix": matrix, "omega": omega, "alpha": alpha})


def made_students(rng, alphas, sets, stay=(0.8, 0.75), slope=1, critical=1.15):
    """Return rows as a worker sends them: losses cross, and some students leave their valley, some to zero weights.

    stay: shares of semantic and of positional students that remain
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


def answered(page, train, rows):
    """Press a button of the trainer, send these rows as the worker, and return the text."""
    page.locator(f".explorer-training button[value={train}]").click()
    page.evaluate("rows => [...rows, null].forEach(row => jobs.at(-1).answered(row))", rows)
    page.evaluate(FRAMES)
    return page.locator(".explorer-training output").inner_text()


SHARES = np.array([1.7 * k / 24 - 0.35 for k in range(25)])  # coordinates of the plane of the landscape
PLANES = """surfaces => { const {answered} = jobs.find(({name}) => name === "planes");
    surfaces.forEach(surface => answered({...surface, alpha: 1})); }"""
ANSWER = "points => { points.forEach(point => jobs.at(-1).answered(point)); jobs.at(-1).answered(null); }"


def surfaces(rng, count):
    """Return surfaces of several data sets as a worker sends them; the two halves of a plane differ."""
    b, a = np.meshgrid(SHARES, SHARES, indexing="ij")
    for _ in range(count):
        rough = 1e-5 * rng.standard_normal(a.shape)
        losses = 3e-3 + 2e-3 * a**2 * b**2 + 4e-4 * ((a + 1.3 * b - 1) ** 2 + 0.3 * (a - 0.6) ** 2) + rough
        p = {"m": 1.0 + 0.1 * rng.random(), "theta": 0.1 * rng.random(), "loss": losses[8, 19] + 1e-4 * rng.random()}
        s = {"m": 0.1 * rng.random(), "theta": 0.55 + 0.1 * rng.random(), "loss": losses[19, 8]}
        yield {"losses": losses.ravel().tolist(), "minima": [p, s], "weights": rng.standard_normal((2, 3)).tolist()}
