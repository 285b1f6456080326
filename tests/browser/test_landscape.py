"""The landscape: the mean surface, its cross-section, and descents on it."""

import re

import numpy as np
import pytest
from built import DESK, FRAMES, PHONE
from matplotlib.path import Path as Outline

from attention_phases import Measured
from browser import ANSWER, PLANES, SHARES, Drawing, says, surfaces

HIGH = "(status, text) => { status.textContent = text; return status.offsetHeight; }"
ASKED = "() => { const {name, job} = jobs.at(-1); return [name, {...job, starts: job.starts.map(Q => [...Q])}]; }"


def test_the_landscape_draws_the_mean_surface_its_cut_and_descents(page):
    job = page.evaluate("() => jobs.find(({name}) => name === 'planes').job")
    sent, root = [*surfaces(np.random.default_rng(8), len(job["seeds"]))], page.locator(".landscape")
    assert job["shares"] == pytest.approx(SHARES) and job["d"] == 200
    page.evaluate(PLANES, sent)
    losses = np.mean([surface["losses"] for surface in sent], 0).reshape(25, 25)  # axes: b, the semantic share, and a
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
    head = f"{'Within two standard errors both valleys are equally deep. ' * tie}The {deeper} valley"
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
        paths[k, -1] = np.negative(end) if k in (0, 4) else end  # two of them end outside the frame, as mirror images
    paths[5, -1] = 0
    steps = [(k, *point) for step in range(5) for k, point in enumerate(paths[:, step])]
    page.evaluate(ANSWER, [{"k": k, "m": m, "theta": theta, "loss": 0.0} for k, m, theta in steps])
    page.evaluate(FRAMES)
    plane = Drawing(root.locator("svg").first)
    plane.same("rolled", *paths)
    plane.same("ball", *[[path[-1]] for path in paths])
    status = root.locator("[role=status]")
    counted, _, rest = status.inner_text().partition(f"positional valley, {len(sent) - 5} in neither. ")
    assert counted.endswith(" 3 ended in the semantic valley, 2 in the ")
    assert rest.startswith("2 of them ended in the mirror image of a valley, outside the frame. 1 stayed at zero")
    (frame,) = plane.rings(root.locator("#landscape-frame path").get_attribute("d"))
    assert frame[[0, 2]] == pytest.approx(np.array([[-0.4, 0.9], [1.5, -0.25]]), abs=0.01)
    clips = root.locator(".rolled, .ball").evaluate_all("all => all.map(part => getComputedStyle(part).clipPath)")
    assert len(clips) == 2 * len(sent) and {*clips} == {'url("#landscape-frame")'}
    for size in (PHONE, DESK):  # the content below keeps its place
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
