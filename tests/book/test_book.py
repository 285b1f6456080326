"""Interactive pages of the book: the panel of attention matrices, the sentence in numbers, and the scorecard.

Single pages as the command `figure` writes them: their files, and whether their pictures show everything that they
draw.
"""

import base64
import json
import re
import subprocess
import sys
from io import StringIO
from urllib.parse import urldefrag

import jsonschema
import numpy as np
import pytest
import torch
from built import HERE, HTML, PHONE, opening
from cases import case_text, cases
from dark import MAPS
from pages import Page
from parameters import notebooks
from scipy.special import logit, softmax

from attention_phases import Task, histogram, test_error
from attention_phases.histogram import transformer as tf

pytestmark = pytest.mark.slow
test_error.__test__ = False  # keeps pytest from collecting it as a test

PANEL = HTML / "book/_executed/fig04_histogram.html"
MATRICES = """() => Object.fromEntries(Array.from(document.querySelectorAll(".attention-panel figure"), figure =>
    [figure.dataset.solution, Array.from(figure.querySelectorAll("tbody td[data-value]"), cell =>
        [Number(cell.dataset.value), Number(cell.textContent), cell.classList.contains("equal")])]))"""


def panel_solutions(page):
    """Return the weights in the page as tensors, with zeros for weights that the panel does not need."""
    data = json.loads(page.locator(".attention-panel script[type='application/json']").text_content())
    for name, parts in data["solutions"].items():
        flat = np.zeros(tf.SIZE, np.float32)
        for part, text in parts.items():
            shape = data["shapes"][part]
            getattr(tf.views(flat), part)[...] = np.frombuffer(base64.b64decode(text), "<f4").reshape(shape)
        yield name, tf.tensors_of(flat)


@pytest.fixture(scope="module")
def panel(chromium):
    """Yield the page with the panel, opened once; each test types its own sequence."""
    with opening(chromium) as opened:
        yield opened(PANEL)


@pytest.mark.parametrize("text", ["BBCCDDBBBB", "lmdmmmahhb", " ONMLKJIHGF", "AAAAAAAAAA"])
def test_the_panel_computes_what_torch_does(panel, text):
    panel.locator(".attention-panel input").fill(text)
    shown = panel.evaluate(MATRICES)
    tokens = histogram.parse_letters(text.strip())
    solutions = dict(panel_solutions(panel))
    assert shown.keys() == solutions.keys() == {"positional", "semantic"}
    for name, weights in solutions.items():
        theirs = tf.attention(weights, torch.from_numpy(tokens[None]))[0].numpy()
        values, per_cent, framed = np.array(shown[name], float).T.reshape(3, 10, 10)
        assert abs(values - theirs).max() < 1e-4
        assert abs(per_cent - 100 * theirs).max() < 0.51
        assert (framed == (tokens[:, None] == tokens)).all()
        counts = panel.locator(f'.attention-panel figure[data-solution="{name}"] td.count').all_inner_texts()
        given = tf.logits(weights, torch.from_numpy(tokens[None])).argmax(-1)[0].tolist()
        right = [(tokens == token).sum() for token in tokens]
        assert counts == [f"{n}" if n == known else f"({n})" for n, known in zip(given, right)]
    assert panel.locator(".attention-panel .message").text_content() == ""


@pytest.mark.parametrize(("text", "message"), cases("sequences"))
def test_the_panel_says_what_is_wrong_with_a_sequence(panel, text, message):
    panel.locator(".attention-panel input").fill(text)
    assert message in panel.locator(".attention-panel .message").text_content()
    assert panel.locator(".attention-panel .matrices[inert] table").count() == 2, "the last ones stay, greyed"
    assert panel.locator(".attention-panel input").get_attribute("aria-invalid") == "true"


def test_the_panel_is_worked_by_keyboard_and_fits_a_phone(panel):
    panel.set_viewport_size(PHONE)
    panel.locator(".attention-panel input").focus()
    for _ in range(2):
        panel.keyboard.press("Tab")
    panel.keyboard.press("Enter")
    assert panel.locator(".attention-panel input").input_value() == "LMDMMMAHHB"
    assert panel.locator(".attention-panel tbody th").all_inner_texts() == list("LMDMMMAHHB" * 2)
    boxes = [table.bounding_box() for table in panel.locator(".attention-panel table").all()]
    assert len(boxes) == 2 and all(box["x"] >= 0 and box["x"] + box["width"] <= PHONE["width"] for box in boxes)


@pytest.mark.parametrize("scripts", [True, False])
def test_one_sentence_in_numbers_follows_omega_and_stays_where_no_script_runs(chromium, scripts):
    """It shows the best student of each kind."""
    page = chromium.new_page(java_script_enabled=scripts)
    page.goto((HTML / "book/model.html").as_uri())
    root, slider, rho = page.locator(".sentence"), page.locator(".sentence input"), Task.sigma**2
    assert slider.is_visible() == scripts
    for key, omega in [("", 0.3), ("ArrowLeft", 0.2), ("End", 1.0)][: 3 if scripts else 1]:
        if key:
            slider.press(key)
        shown = re.findall(r'<(\w+) style="--value: ?([\d.-]+);?">(.*?)</', root.inner_html())
        assert all(text == f"{float(value):.2f}" * (tag != "i") for tag, value, text in shown)
        squares, cells, bold = (np.array([float(row[1]) for row in shown if row[0] == tag]) for tag in ("i", "td", "b"))
        (xi, output), (A, P, Y, *students) = squares.reshape(2, 2, 12), cells.reshape(-1, 2, 2)
        assert A.tolist() == [list(row) for row in Task.matrix] and abs(xi.sum(1)).max() < 0.01
        np.testing.assert_allclose(P, softmax([[1, 0], [0, 0]], 1), atol=1e-6)
        np.testing.assert_allclose(Y, omega * A + (1 - omega) * P, atol=2e-6)
        np.testing.assert_allclose(output, Y @ xi, atol=1e-5)
        for one, other, turn in (students[0], students[1][::-1, ::-1], 1), (students[2], students[3], 2):
            weight, errors = np.sqrt(logit(one[0, 0]) / turn), []
            for near in weight + np.array([-0.02, 0, 0.02]):
                overlaps = {"q": rho * near**2, "m": near * (turn == 2), "theta": rho * near * (turn == 1), "rho": rho}
                errors.append(test_error(Task(omega=omega), overlaps).value)
            assert (one == other).all() and np.argmin(errors) == 1
        assert bold.tolist() == [omega, round(1 - omega, 3), omega, omega, *Y[0], students[0][0, 0], students[2][0, 0]]
    page.close()


def test_without_scripts_no_field_is_offered_that_does_nothing(chromium):
    page = chromium.new_page(java_script_enabled=False)
    for name, field in (("search.html", ".bd-article-container .bd-search"), (PANEL, ".attention-panel form")):
        page.goto((HTML / name).as_uri())
        assert page.locator(field).count() == 1 and not page.locator(field).is_visible()
    assert "it needs JavaScript" in page.locator(".attention-panel .message").inner_text()
    page.close()


SCORECARD = HTML / "book/scorecard.html"


def test_the_scorecard_shows_its_data(open_page):
    page = open_page(SCORECARD)
    data = json.loads((HTML / "book/scorecard.json").read_text(encoding="utf-8"))
    schema = json.loads((HTML / "book/scorecard.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(data, schema)
    assert page.locator("section.comparisons tbody tr").count() == len(data["rows"]) > 0
    page.evaluate("() => document.querySelectorAll('details').forEach(element => { element.open = true; })")
    shown = page.locator("section.comparisons tbody tr").all_inner_texts()
    verdicts = [row["verdict"] for row in data["rows"]]
    assert sorted(next(verdict for verdict in set(verdicts) if verdict in text) for text in shown) == sorted(verdicts)
    for row in data["rows"]:
        address, anchor = urldefrag(row["page"])
        assert f'id="{anchor}"' in (SCORECARD.parent / address).read_text(encoding="utf-8"), row["id"]


# Single pages


def unseen(page, svg):
    """Return the lines of a picture that leave their frame above or below, or that a legend covers; maps are not
    tested.
    """
    page.set_content(svg)
    return {*page.evaluate(case_text("unseen.js").replace("MAPS", repr(", ".join(f"[id^={name}]" for name in MAPS))))}


# Figures whose frame omits a part on purpose: what diverges, or has only begun, lies outside the frame.
RUN_AWAY = {"fig-tracking", "fig-mode", "fig-own-training", "fig-08-best", "fig-14-areas"}


def test_every_page_on_its_own_has_its_files_and_complains_of_nothing(chromium, tmp_path):
    """The parameters are the parameters of the build, which differ from the published ones."""
    executed = [HERE / "book/_executed" / f"{text.stem}.ipynb" for text in notebooks().values()]
    command = [sys.executable, "-W", "ignore", HERE / "book/page.py", *executed, tmp_path]
    made = subprocess.run(command, capture_output=True)
    assert made.returncode == 0 and len(executed) > 25
    widgets = 0
    with opening(chromium) as opened:
        for path in executed:
            page = opened(tmp_path / "page" / f"{path.stem}.html")
            moving = page.locator(".landscape, .attention-panel")
            widgets += moving.count()
            assert all(part.is_visible() for part in moving.all()), path.stem
            page.close()
    assert widgets == 2
    page = chromium.new_page()
    faults = {path.stem: unseen(page, path.read_text(encoding="utf-8")) for path in tmp_path.glob("*.svg")}
    page.close()
    assert {name for name, found in faults.items() if found} <= RUN_AWAY and len(faults) > 30
    assert not any("covered" in found for found in faults.values())


@pytest.mark.parametrize("omega", [0.02, 0.1, 0.46])
def test_figure_1_shows_its_overlaps_at_another_omega(chromium, omega):
    names = Page("fig01_landscape", omega=omega).cell_of("borders")
    written, page = StringIO(), chromium.new_page()
    names["figure"].savefig(written, format="svg")
    assert unseen(page, written.getvalue()) == set()
    page.close()
