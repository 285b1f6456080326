"""The scorecard: every comparison once, valid by its schema, the same on the page as in the data."""

import json
from pathlib import Path

import jsonschema
import matplotlib.pyplot as plt
import pytest
import scorecard
import seen

from attention_book import published as paper
from attention_book.published import Comparison, compare
from attention_book.render import markup
from attention_phases.measured import Measured

SCHEMA = json.loads((Path(__file__).parents[2] / "book/scorecard.schema.json").read_text(encoding="utf-8"))
PROVENANCE = {"commit": "a" * 40 + "+changes", "profile": "smoke", "data": "1" * 64}
THEORY, MEAN = paper.Published("1.241", "Fig. 3"), paper.Published("2.0", "Table 1", stderr=0.3, n=10)


def alpha_c(value, error):
    return Comparison("critical", {"omega": 0.3}, THEORY, Measured(value, error), "theory", 16, "quadrature")


def student(quantity, where, ours, reason, **more):
    return Comparison(quantity, where, MEAN, ours, "students", 10, reason, **more)


def page(figure, *tables):
    outputs = [markup.Table(compare(rows), f"Table {i}")._repr_mimebundle_() for i, rows in enumerate(tables)]
    tables = json.loads(json.dumps([numbers[markup.COMPARISON] for _, numbers in outputs]))  # as in a notebook
    where = {"title": f"Figure {figure[-1]}: a title", "page": f"_executed/{figure}.html", "inputs": "2" * 64}
    return where | {"figure": figure, "tables": tables}


@pytest.fixture
def frame():
    far, near = Measured(9.0, 0.4), Measured(2.1, 0.4)
    of_students = [
        student("test_mse", {"alpha": 2.0, "branch": "positional"}, near, "instances"),
        student("linear_mse", {"alpha": 2.0}, near, "definition", comparable=False),
        student("theta/sigma^2", {"d": 10, "branch": "semantic"}, far, "cause unknown"),
    ]
    return scorecard.gathered(
        [
            page("fig02", [alpha_c(1.25, 0.0005)], of_students),
            page("fig03", [alpha_c(1.26, 0.001)]),
            page("fig04"),
        ]
    )


def test_every_number_is_compared_once_with_the_smaller_error():
    swapped = scorecard.gathered([page("fig03", [alpha_c(1.26, 0.001)]), page("fig02", [alpha_c(1.25, 0.002)])])
    assert swapped["figure"].to_list() == ["fig03"]


def test_document_texts_and_picture_are_as_before(frame, compare):
    """What they compute is tested in `test_published`."""
    document = json.dumps(scorecard.document(frame, PROVENANCE), indent=0, ensure_ascii=False)
    figure = scorecard.draw_scorecard(frame)
    figure.draw_without_rendering()
    compare("scorecard", "\n".join([document, *scorecard.texts(frame).values(), seen.text_of(figure)]).splitlines())
    plt.close(figure)


def test_a_published_number_counts_once_beside_its_own_kind():
    """Students beside the published theory stay on their pages, and so do standard deviations of runs."""
    by_students = Comparison("critical", {"omega": 0.3}, THEORY, Measured(1.24, 0.01), "students", 24, "cause unknown")
    spread = student("accuracy", {"statistic": "standard deviation"}, Measured(2.0, 0.1), "cause unknown")
    mean = student("accuracy", {"statistic": "mean"}, Measured(2.0, 0.1), "cause unknown")
    frame = scorecard.gathered([page("fig02", [by_students, alpha_c(1.25, 0.0005)], [spread, mean])])
    assert frame["evidence"].to_list() == ["theory", "students"] and frame["parameters"][1] == {"statistic": "mean"}


def test_the_document_obeys_its_schema(frame):
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(scorecard.document(frame, PROVENANCE), SCHEMA)
    jsonschema.validate(scorecard.document(scorecard.gathered([page("fig04")]), PROVENANCE | {"commit": None}), SCHEMA)
