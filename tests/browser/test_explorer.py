"""Words and drawings of the explorer, compared with an independent computation on random tables."""

import re
from collections import Counter

import numpy as np
import pytest
from cases import case_text
from dark import oklab
from explorer import EXPERIMENTS
from matplotlib.path import Path as Outline
from scipy.interpolate import KroghInterpolator

from attention_book.experiments.results import read
from attention_book.render.style import COLOURS
from attention_phases.theory.branches import OWN_OVERLAP
from browser import QUANTITIES, Drawing, Theory, says, view


@pytest.mark.parametrize("matrix", EXPERIMENTS)
def test_the_explorer_carries_the_stored_theory_and_its_errors(data, matrix):
    """Each error combines the stored quadrature error with the interpolation error that neighbouring nodes give."""
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
                errors[3] *= 2 * row[own]  # error of the square
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
    """Return the cubic polynomial through the four nodes around a point."""
    first = np.clip((x <= at).sum() - 2, 0, len(x) - 4)
    return KroghInterpolator(x[first : first + 4], y[first : first + 4])(at)


ROWS = QUANTITIES | {"ridge": ("ridge", 1e3), "misfit": ("misfit", 1e3)}


@pytest.mark.parametrize("matrix", [*EXPERIMENTS, "made"])
def test_verdict_and_numbers_are_those_of_the_theory(page, theories, matrix):
    """The sliders move to the stored omegas and between them."""
    theory, heads, rng = theories[matrix], Counter(), np.random.default_rng(3)
    places = [(0.02 + 0.005 * o, 0.02 + 0.01 * a) for o, a in rng.integers((97, 199), size=(60, 2)).tolist()]
    for omega in (0.04, 0.05, 0.06, 0.2, 0.25, 0.27, 0.3):
        thresholds = theory.curves(omega)
        places += [(omega, thresholds[what][0]) for what in ("critical", "linear") if thresholds[what][0] < 2]
    views = [(matrix, round(omega, 3), round(alpha, 2)) for omega, alpha in places]
    for (_, omega, alpha), said in zip(views, page.evaluate(case_text("said.js"), views), strict=True):
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
        assert said["winner"] == (winner if kind in ("win", "alone") else "")  # the winner whose words are shown
        if kind in ("win", "alone"):
            (test, error), (linear, noise) = minima[winner]["test_mse"][:2], curves["baseline"]
            joined, told = ("It also", "better than") if test < linear else ("But it", "worse than")
            if abs(test - linear) < 2 * np.hypot(error, noise):
                joined, told = "It", "as well as"
            else:  # must not contradict the line on the map
                assert winner == "positional" or (test < linear) == (alpha > curves["linear"][0])
            heads[told] += 1
            assert f"predicts new sentences {told} the linear model" in rest
            assert ("within two standard errors" in rest) == (told == "as well as")
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


def sides(ring):
    """Return x, one side and the other side of an area along x."""
    there, back = ring[: len(ring) // 2], ring[len(ring) // 2 :][::-1]
    assert (there[:, 0] == back[:, 0]).all()
    return there[:, 0], *np.sort([there[:, 1], back[:, 1]], axis=0)


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
            # At its ends the overlap behaves like a square root.
            for at, *drawn in [*zip(x, low, curve[:, 1], high)][1:-1]:
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
        expected = expected[np.isfinite(expected[:, 1])]  # a line leaves the map at its edge, where it is clipped
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
        """Return how many areas of a kind contain each point."""
        parts = [sum(Outline(ring).contains_points(points) for ring in rings) % 2 for rings in drawing.of(kind)]
        return np.sum([0 * points[:, 0], *parts], axis=0)

    rows = 0.02 + 0.0495 * np.arange(41)[1:-1]  # points of the grid of the shades, at which they are exact
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


def hue(colour):
    return np.degrees(np.arctan2(*oklab(colour)[:0:-1]))


def test_both_mechanisms_have_the_colours_of_the_figures(page):
    look = "name => getComputedStyle(document.querySelector(`.explorer-map .border.${name}`)).stroke"
    for name, colour in COLOURS.items():
        shown = "#" + "".join(f"{int(part):02x}" for part in re.findall(r"\d+", page.evaluate(look, name))[:3])
        assert abs(hue(shown) - hue(colour)) < 30
