"""The guess before a training: asked, answered and told once."""

import re
from collections import Counter

import numpy as np
import pytest
from built import FRAMES, HERE
from explorer import EXPERIMENTS

from browser import says, view


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
