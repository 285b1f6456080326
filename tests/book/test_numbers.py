"""Numbers in the text of pages: each comes from the run, is a parameter or a published number, or is a tested claim."""

import ast
import re
from functools import partial
from importlib import import_module
from importlib.util import find_spec

import numpy as np
import pytest
from cases import cases
from claims import load
from pages import stored

import attention_phases
from attention_book import published
from attention_book.analysis import instances, thresholds
from attention_book.paths import NOTEBOOKS
from attention_phases.measured import Measured
from attention_phases.training.optimizers import GD_RATE

# Numbers that may be typed: parameters of a task or a training after their name or "=", and statements of the paper.
PARAMETER = re.compile(
    r"(\|m\|/\\sigma\^2|\\omega|\\alpha|\\sigma|\\lambda|\\eta|\\beta|\bd|A)\s*"
    r"(=|\\approx|\\ge|\\le|>|<)\s*\(*[\d., ()]*\d"
    r"|0\.1\s*\\,\s*\\mathcal|0\.15\s*\\,\s*\\lambda|[Rr]ate 0\.\d+|\\le 0\.01|> 0\.01"
    r"|[Ee]xponent \d+\.\d+|Result \d\.\d"
)
DECIMAL = re.compile(r"(?<![\w.{-])\d+\.\d+(?![\w.]*\.(md|py))|(?<![\w.])\d+ %")


def prose(page):
    """Return the text of a page without its header, code, displayed formulas, roles and captions."""
    text = (NOTEBOOKS / f"{page}.md").read_text(encoding="utf-8").split("---", 2)[2]
    text = re.sub(r"```.*?```", " ", text, flags=re.S)
    return " ".join(re.sub(r"\{[\w:]+\}`[^`]*`|`[^`]*`", " ", text).split())


def typed(text):
    """Return the decimals and percentages of a text that are not parameters."""
    bare = PARAMETER.sub(" ", text)
    # A number after a parameter in a list is a parameter as well, for example in "omega = 0.1 and 0.2".
    bare = re.sub(r"(?<=\s)(\$?\s*(,|and|or|to|for)\s+\d\.\d+\b)+", " ", bare)
    return [match[0] for match in DECIMAL.finditer(bare)]


def test_parameters_are_told_from_results():
    assert typed(r"at $\omega = 0.1$ and 0.2, for $\alpha \le 2.0$, with rate 0.15") == []
    assert typed(r"Result 4.2 at exponent 1.5") == []
    assert typed(r"students cross at 0.71, and $m = 0.3$ is 4 % too low") == ["0.71", "0.3", "4 %"]


@pytest.mark.parametrize("page", sorted(path.stem for path in NOTEBOOKS.glob("*.md")))
def test_no_number_is_typed_into_a_page_unchecked(page):
    known = {printed.text for printed in (*published.CRITICAL_ALPHA.values(), *published.LINEAR_ALPHA.values())}
    assert [number for number in typed(unclaimed(page)) if number not in known] == []


# Whole numbers that no other test checks: the places where they may stand, and their meaning.
WHOLE = re.compile(r"(?<![\w.{\\^_/-])\d[\d,]*(?![\w^]|\.\d)")
FORMULA = r"\$[^$]*\$|(?:Figures?|Table|Results?|Appendix) [\w.,]+(?: (?:and|to) \d+)?|[CD]\.\d+"
NEITHER_COMPUTED_NOR_CLAIMED = [text for text, _ in cases("whole_numbers")]  # the second field explains the number


def whole_numbers(text):
    """Return the whole numbers of a text that are neither computed nor have a reason, with the words before them."""
    bare = re.sub("|".join((FORMULA, *NEITHER_COMPUTED_NOR_CLAIMED)), " ", PARAMETER.sub(" ", text))
    return [bare[max(0, match.start() - 30) : match.end()] for match in WHOLE.finditer(bare)]


def unclaimed(page):
    text = prose(page)
    if find_spec(f"claims.{page}"):
        for quotation in getattr(import_module(f"claims.{page}"), "CLAIMS", ()):
            text = text.replace(quotation, " ")
    return text


def test_every_whole_number_in_prose_is_computed_or_claimed_or_has_its_reason():
    pages = [unclaimed(path.stem) for path in sorted(NOTEBOOKS.glob("*.md"))]
    assert [number for text in pages for number in whole_numbers(text)] == []
    for reason in NEITHER_COMPUTED_NOR_CLAIMED:  # every reason is still used
        assert any(re.search(reason, text) for text in pages), reason
    assert whole_numbers("between 10 and 35 at rank 2") == ["between 10", "between 10 and 35"]


@pytest.mark.slow
def test_the_lines_of_exercises_give_the_quoted_answers(monkeypatch):
    for name in ("solve", "threshold"):  # few points, for speed
        monkeypatch.setattr(attention_phases, name, partial(getattr(attention_phases, name), points=2**9, scrambles=4))
    whole = {path.stem: path.read_text(encoding="utf-8") for path in NOTEBOOKS.glob("*.md")}
    texts = {page: text.partition("## Exercises")[2] for page, text in whole.items()}
    assert not any(re.search(r"`[\w.]+\(", text) for text in texts.values())
    blocks = {page: re.findall(LINES, text, re.MULTILINE | re.DOTALL) for page, text in texts.items()}
    assert {page for page, some in blocks.items() if some} == set(MAKE_ANSWERS)
    for page, (name, parameters) in MAKE_ANSWERS.items():
        asked = stored(page, **parameters)
        asked.cell_of(name)
        for code, answer in blocks[page]:
            *lines, last = ast.parse(code).body
            exec(ast.unparse(lines), names := {})
            given = eval(ast.unparse(last), names)
            if "steps_to_ten" in answer:
                given = np.log(10) / GD_RATE / (given["positional"].value - given["semantic"].value)
            texts = [asked.quoted[name] for name in re.findall(r"`(\w+)`", answer)]
            said = np.array([float(text.partition("(")[0]) for text in texts if text != "none"])
            for number in filter(np.isfinite, numbers_in(given)):
                assert min(abs(said / number - 1)) < 0.05, (code, texts)


LINES = r"^```python\n(.*?)^```\n\n(.*?)^:::$"
MAKE_ANSWERS = {  # by page, the parameters, and the name whose cell makes the answers of the exercises
    "fig02_slice": ("sentence_difference", {"points": 2**9}),
    "fig03_phase_diagram": ("strong", {}),
    "fig15_random": ("rate_gap", {}),
    "optimal": ("learners", {}),
}


def numbers_in(given):
    """Return the numbers of lines: the alpha of thresholds, and the value of measured numbers."""
    if isinstance(given, list):
        return [number for each in given for number in numbers_in(each)]
    given = getattr(given, "alpha", given)
    return [getattr(given, "value", given)]


@pytest.mark.slow
def test_one_quantity_has_one_value_on_all_pages():
    """The values agree as written, with errors, because a page takes such a number from the data of another page."""
    of_slice, of_map = stored("fig02_slice", points=2**9), stored("fig03_phase_diagram").crossings
    line_of_map = load("fig03_theory")
    _, limits = instances.crossing_limits(load("crossing"))
    beyond, landing = (stored(page, points=2**7) for page in ("beyond_replica_symmetry", "landing"))
    values = {}
    for kind in instances.GAPS:
        in_map = Measured(*of_map[kind].loc[0.3])
        without = dict(zip(("rank one", "none", "full", "none, small"), stored("fig13_value").crossings))["none"]
        values[f"{kind}, students"] = {of_slice.crossings[kind].text, in_map.text, without[kind].text}
        theory = [Measured(*thresholds.curve(line_of_map, kind).loc[0.3]), of_slice.thresholds[kind]]
        values[f"{kind}, theory"] = {place.text for place in theory} | {landing.quotes[f"alpha_{kind[0]}"]}
    for omega in limits.index:
        both = limits.loc[omega], beyond.crossings.loc[omega, ["informed", "informed_error"]]
        values[f"{omega}, d to infinity"] = {Measured(*place).text for place in both}
    off = 100 * beyond.excesses.loc[(0.1, "positional"), ["excess", "excess_error"]]
    values["response"] = {landing.quotes["response_off"], Measured(*off).text}
    assert {name: texts for name, texts in values.items() if len(texts) != 1} == {}
