"""Words and drawings of the explorer about students, whose rows are artificial instead of from a worker."""

import re
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from built import FRAMES

from attention_book import crossings, read, training_gap
from attention_phases.theory.branches import OWN_OVERLAP
from browser import QUANTITIES, Drawing, answered, made_students, says, view

ENDS = {"positions": "positional", "teacher": "semantic", "zero": "zero"}


def leads_of(table):
    """Return the difference of the two losses on data sets on which both students remained in their valley."""
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
    ended = f"{random['semantic']} ended in the semantic valley, {random['positional']} in the positional valley"
    ended += f", {random['neither']} in neither valley, {random['zero']} at zero weights."
    assert f"Of {random.sum()} students that L-BFGS trains from random weights, {ended}" in text
    stuck = (~table["converged"]).sum()
    assert stuck and text.endswith(f" {stuck} of all students did not converge.")
    stayed = table[table["start"] == table["valley"]].groupby(["start", "alpha"])
    for panel, (key, scale) in zip(page.locator(".explorer-panels > div").all(), QUANTITIES.values(), strict=True):
        drawing = Drawing(panel.locator("svg"))
        top = drawing.place((0, 6))[1]
        for name in (*OWN_OVERLAP, "neither", "zero"):
            means = scale * stayed[key].agg(["mean", "sem"]).reindex([name], level=0).droplevel(0).fillna(0)
            lone = table[(table["start"] == "random") & (table["valley"] == name)]
            lone = scale * lone.set_index("alpha")[key]
            for kind, points in ((name, means["mean"]), (f"random {name}", lone)):
                drawing.same(f"student {kind}", *[[point] for point in points[points <= top].items()])
                higher = [ring[0, 0] for rings in drawing.of(f"above {kind}") for ring in rings]
                assert higher == pytest.approx([*points.index[points > top]], abs=0.001)
            bars = [rings[0] for rings in drawing.of(f"curve {name}") if len(rings[0]) == 2]
            for (alpha, (mean, error)), bar in zip(means[means["mean"] <= top].iterrows(), bars, strict=True):
                ends = [mean - error, min(mean + error, drawing.place((0, 0))[1])]
                assert bar[:, 0] == pytest.approx([alpha] * 2, abs=0.001)
                assert bar[:, 1] == pytest.approx(ends, abs=0.02 * drawing.pixel[1])
                assert bar[0, 1] > drawing.place((0, drawing.foot + 0.1))[1]
    grey = "said => said.classList.contains('past')"
    assert not said.evaluate(grey)
    view(page, "standard", 0.3, 1.41)
    assert said.evaluate(grey) == (train == "circle")
    view(page, "standard", 0.305, 1.4)
    assert page.evaluate("explorer.students()") == [] and said.evaluate(grey)  # students of another task


def test_no_sentence_on_students_contradicts_theory_or_their_errors(page):
    """Positions are random, and students remain or leave at random. No dot may lie outside its frame."""
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
                pattern = rf"(\d+) of 20 students with a {name} start ended (?:at|closer to the) (\w+)"
                counted = {ENDS[end]: int(count) for count, end in re.findall(pattern, text)}
                assert counted == gone.get(name, pd.Series()).to_dict(), text
            assert ("too few to compare" in text, "equal within the error" in text) == (kind == "few", kind == "tie")
            named = re.search(r"The (\w+) loss is lower by (.*?) \(in 10⁻³\) on average", text)
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
            assert f"at α = {leads.index[k]:g}, the {kind} value that can be compared, {sure[k]} student" in text
        else:
            # The last alpha before the semantic students win throughout.
            kind, k = "cross", np.flatnonzero(leads["mean"] < 0)[-1]
            (x, y), (a, b) = leads.index[k : k + 2], leads["mean"].iloc[k : k + 2]
            place, (s, t) = x - a * (y - x) / (b - a), leads["sem"].iloc[k : k + 2]
            error = np.hypot((y - place) * s, (place - x) * t) / (b - a)  # to first order
            assert says(re.search(r"cross at α = (.*?)\. In theory", text)[1], place, error), (text, place, error)
            assert ("In theory, at infinite d, they do not cross here." in text) == (at["critical"] is None)
            assert ("At small d the losses of students cross at a smaller α" in text) == (at["critical"] is not None)
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
