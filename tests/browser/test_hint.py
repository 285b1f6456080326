"""The picture of the landing page: its drawings and words, and whether its files show the current behaviour of
students.

The tests take the place of the workers.
"""

import re
from contextlib import ExitStack
from io import BytesIO

import numpy as np
import picture
import pytest
from built import FRAMES, PHONE, opening
from cases import case_text
from matplotlib.image import imread
from matplotlib.path import Path as Outline

from attention_book.paths import ROOT
from attention_phases import Measured

KINDS = {"semantic": 11, "positional": 4, "neither": 2, "still moving": 2, "zero": 1}
WORKER = case_text("worker.js")
JOB = "name => jobs.findLast(job => job.name === name)?.job"
ANSWER = case_text("results.js")
# On a busy machine the page may ask at each key press, so tests wait for the last job.
ASKED = "([name, key, value]) => jobs.findLast(job => job.name === name)?.job[key] === value"
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


@pytest.fixture
def hint(chromium, tmp_path):
    """Return a function that opens the picture as in its file, in a context of its own with given options."""
    path = picture.write_page(tmp_path, opening="")
    with ExitStack() as contexts:

        def opened(place="", **options):
            open_page = contexts.enter_context(opening(chromium, WORKER, **{"viewport": PHONE, **options}))
            return open_page(path, place)

        yield opened


def rolled(counts=KINDS):
    """Return points of twenty students, on their way and at their ends."""
    ends = [name for name, count in counts.items() for _ in range(count)]
    for k, end in enumerate(ends):
        yield {"k": k, "m": 0.0, "theta": 0.1, "loss": 1.0}
        yield {"k": k, "m": 0.1 + k / 20, "theta": 0.5, "loss": 1.0, "valley": end}


def surfaces(job, rng):
    """Return the loss of each data set on the plane, with equal places of the minima; two sets lack a minimum."""
    a, b = np.meshgrid(job["shares"], job["shares"])
    for k, _ in enumerate(job["seeds"]):
        p, s = rng.uniform(4e-3, 5e-3), rng.uniform(3e-3, 3.5e-3)
        losses = 2e-3 * (1 - (np.abs(a) - 1) ** 2) * (1 - (np.abs(b) - 1) ** 2)
        losses = (p * a**2 + s * b**2) / (a**2 + b**2 + 1e-9) + 4e-3 * (a**2 + b**2 - 1) ** 2 + abs(losses)
        minima = [{"m": 0.9, "theta": 0.0, "loss": p}, {"m": 0.0, "theta": 0.6, "loss": s}]
        yield {"losses": losses.ravel().tolist(), "minima": minima, "stayed": k > 1}


def test_a_hint_moves_the_start_and_its_students_are_counted(hint):
    page = hint()
    handle, tally = page.locator(".hint-handle"), page.locator(".hint-tally")
    shown = page.locator(".hint .end").all_text_contents()
    assert len(shown) == len(KINDS) and {"neither", "still moving", "shrunk to zero"} <= {*shown}
    for key in ("Home", "Shift+ArrowUp", "ArrowUp", "ArrowUp"):
        handle.press(key)
    assert handle.get_attribute("aria-valuetext") == "a hint of 0.12"
    page.wait_for_function(ASKED, arg=["rolls", "hint", 0.12])
    job = page.evaluate(JOB, "rolls")
    assert (job["hint"], job["alpha"], job["d"], job["rate"], len({*job["seeds"]})) == (0.12, 2, 200, 2, 20)
    assert page.evaluate(JOB, "planes") is None  # the losses come from the file
    points = [*rolled()]
    page.evaluate("points => points.forEach(jobs.at(-1).answered)", points[:10])
    page.evaluate(FRAMES)
    assert tally.get_attribute("aria-busy") == "true" and page.locator(".hint .found").text_content() == "5 of 20"
    page.evaluate(ANSWER, ["rolls", points[10:]])
    page.evaluate(FRAMES)
    assert page.locator(".hint .count").all_text_contents() == [str(count) for count in KINDS.values()]
    assert page.locator(".hint .found").text_content() == "11 of 20"
    said = tally.inner_text()
    ends = "11 of 20 students end in the semantic valley and 4 in the positional valley (ω = 0.3, α = 2, d = 200)."
    assert tally.get_attribute("aria-busy") == "false" and f"By gradient descent with a hint of 0.12, {ends}" in said
    assert said.endswith(" The others: 2 in neither valley, 2 still moving, 1 shrunk to zero.")
    balls = page.locator(".hint .rolled .ball").evaluate_all("all => all.map(ball => ball.classList[1])")
    assert [balls.count(name.partition(" ")[0]) for name in KINDS] == [*KINDS.values()]

    page.locator(".hint select").select_option("lbfgs")
    page.wait_for_function(ASKED, arg=["rolls", "every", 1])
    assert "rate" not in page.evaluate(JOB, "rolls") and not tally.inner_text()
    page.locator(".hint button").click()
    page.get_by_role("button", name="Copied").wait_for()
    (link,) = page.evaluate("copied")
    assert link == page.url and link.endswith("#omega=0.3&alpha=2&hint=0.12&way=lbfgs")
    other = hint("#" + link.partition("#")[2].replace("0.3", "0.25"))
    other.wait_for_function(ASKED, arg=["rolls", "hint", 0.12])
    again = other.evaluate(JOB, "rolls")
    assert (again["hint"], again["task"]["omega"], again["every"]) == (0.12, 0.25, 1)
    assert other.locator(".hint select").input_value() == "lbfgs"


def test_the_terrain_is_the_mean_loss_of_the_data_sets_that_keep_both_minima(hint):
    page = hint("#matrix=alternative&omega=0.2&alpha=1.5&hint=0.3&way=gd")
    page.wait_for_function(ASKED, arg=["planes", "d", 200])
    job = page.evaluate(JOB, "planes")
    assert (job["task"]["omega"], job["alphas"], len(job["seeds"])) == (0.2, [1.5], 20)
    assert job["task"]["A"] == [[0.3, 0.7], [0.8, 0.2]]
    assert job["seeds"] == page.evaluate(JOB, "rolls")["seeds"]
    given = [*surfaces(job, np.random.default_rng(3))]
    page.evaluate(ANSWER, ["planes", given])
    words = page.locator(".hint .names .valley").all_text_contents()
    for k, name in enumerate(("positional", "semantic")):
        depth = Measured.mean([1e3 * surface["minima"][k]["loss"] for surface in given[2:]])
        value, error = map(float, words[words.index(f"{name} valley") + 1].split(" ± "))
        assert (value, error) == (pytest.approx(depth.value, abs=0.006), pytest.approx(depth.error, abs=0.006))
    notes = page.locator(".hint .note").all_text_contents()
    assert notes[:2] == ["ω = 0.2, α = 1.5, d = 200", "second A"] and notes[-1] == "mean of 18 data sets"
    assert page.locator(".hint").get_attribute("data-deeper") == "semantic"
    assert page.locator(".hint .mirror").count() == 2
    lowest = page.locator(".hint .depth").last.get_attribute("d")
    rings = [np.array(NUMBER.findall(ring), float).reshape(-1, 2) for ring in lowest.split("Z") if ring]
    for theta in (0.6, -0.6):  # the deeper valley and its mirror image, and no other valley
        place = 218, 6 + (1.2 - theta) * 140
        assert sum(Outline(ring).contains_point(place) for ring in rings) == 1
    assert not any(Outline(ring).contains_point((218 + 0.9 * 110, 174)) for ring in rings)
    page.evaluate(ANSWER, ["rolls", [*rolled()]])
    page.evaluate(FRAMES)
    assert page.locator(".hint .result").all_text_contents()[0] == "reach the deeper valley"


def test_where_theory_has_no_valley_the_sentence_says_so(hint):
    page = hint("#omega=0.1&alpha=1.7&hint=0&way=gd")
    page.wait_for_function(ASKED, arg=["rolls", "hint", 0])
    page.evaluate(ANSWER, ["rolls", [*rolled()]])
    page.evaluate(FRAMES)
    alone = page.locator(".hint-tally").inner_text().partition("Theory, at infinite d, ")[2]
    assert alone.startswith("has no positional valley here.") and alone.endswith("minimum of its own training loss.")
    page.evaluate("() => explorer.move({omega: 0.3, alpha: 1.4})")
    page.locator(".explorer-training > summary").click()
    page.get_by_role("button", name="Roll twenty students down here").click()
    page.wait_for_function(ASKED, arg=["rolls", "alpha", 1.4])
    page.evaluate(ANSWER, ["rolls", [*rolled()]])
    page.evaluate(FRAMES)
    assert "Theory" not in page.locator(".hint-tally").inner_text()


def test_a_pointer_drags_the_ring_and_a_finger_too(hint):
    for options in ({}, {"has_touch": True}):
        page = hint("", **options)
        box, plane = (page.locator(f".hint-{part}").bounding_box() for part in ("handle", "plane svg"))
        assert min(box["width"], box["height"]) >= 44 and plane["width"] <= 390
        x, y = box["x"] + 23, box["y"] + 23
        touch = page.context.new_cdp_session(page)
        for kind, up in (("Start", 0), ("Move", 20), ("Move", 40), ("End", 40)):
            if options:
                points = [] if kind == "End" else [{"x": x, "y": y - up}]
                touch.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points})
            else:
                page.mouse.move(x, y - up)
                {"Start": page.mouse.down, "End": page.mouse.up}.get(kind, lambda: None)()
        told = float(page.locator(".hint-handle").get_attribute("aria-valuetext").rpartition(" ")[2])
        page.wait_for_function(ASKED, arg=["rolls", "hint", told])
        assert told == pytest.approx(40 / plane["height"] * 350 / 140, abs=0.02)


def test_the_start_holds_the_hint_and_weights_that_vanish_are_told(hint):
    """On random sentences: the overlap of the first point, and students with a strong penalty and vanishing weights."""
    page = hint()
    first, sample = page.evaluate(case_text("begun.js"))
    assert first["theta"] == pytest.approx(sample)
    ends = page.evaluate("""() => [...attentionTraining({...explorerData, lam: 1}).rolls({
        task: {omega: 0.3, A: explorerData.tasks.standard.A}, d: 40, seeds: [1, 2], alpha: 0.5, every: 1})]
        .map(({valley}) => valley).filter(Boolean)""")  # fmt: skip
    assert ends == ["zero", "zero"]
    stayed = page.evaluate("""() => [0.01, 1].map(lam => attentionTraining({...explorerData, lam}).planes({
        task: {omega: 0.3, A: explorerData.tasks.standard.A}, d: 60, seeds: [1], alphas: [2], shares: [0, 1]})
        .next().value.stayed)""")  # fmt: skip
    assert stayed == [True, False]


def test_without_scripts_the_picture_has_its_numbers_and_no_instruction(hint):
    page = hint("", java_script_enabled=False)
    shown = page.locator(".hint .found, .hint .count, .hint .valley").all()
    assert len(shown) == 10 and all(part.is_visible() for part in shown)
    hidden = page.locator(".hint .instruction, .hint-handle, .hint-controls").all()
    assert len(hidden) > 3 and not any(part.is_visible() for part in hidden)


def same(text, other):
    """Assert that two pictures have the same words, and numbers that agree to a fifth of a pixel."""
    numbers, others = (np.array(NUMBER.findall(some), float) for some in (text, other))
    return NUMBER.split(text) == NUMBER.split(other) and np.abs(numbers - others).max() < 0.21


def test_the_files_show_what_the_students_do(chromium):
    texts, card = picture.draw(chromium)
    assert len(texts) == 3
    for path, text in texts.items():
        assert same(path.read_text(encoding="utf-8"), text), f"{path.name} is old: run `make metadata`"
    now, kept = imread(BytesIO(card)), imread(picture.CARD)
    assert now.shape[:2] == kept.shape[:2] == (630, 1200)
    assert np.abs(now - kept)[..., :3].mean() < 0.01
    (tally,) = re.findall(r'class="hint-tally".*?>(.*?)</p>', texts[picture.PART])
    assert tally in (ROOT / "README.md").read_text(encoding="utf-8")
