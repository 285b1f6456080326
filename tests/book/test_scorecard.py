"""The scorecard: every comparison once, valid by its schema, the same on the page as in the data."""

import json
from pathlib import Path

import jsonschema
import matplotlib.pyplot as plt
import pytest
import scorecard
import seen

from attention_book import published as paper
from attention_book.published import LIMIT, REASONS, Comparison, compare
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


def test_every_number_is_compared_once_with_the_smaller_error(frame):
    assert frame["id"].to_list() == [
        "fig02-critical-omega-0.3-theory",
        "fig02-test-mse-alpha-2-branch-positional-students",
        "fig02-linear-mse-alpha-2-students",
        "fig02-theta-sigma-2-d-10-branch-semantic-students",
    ]
    assert frame["value"].to_list() == [1.25, 2.1, 2.1, 9.0]
    swapped = scorecard.gathered([page("fig03", [alpha_c(1.26, 0.001)]), page("fig02", [alpha_c(1.25, 0.002)])])
    assert swapped["figure"].to_list() == ["fig03"]


def test_the_document_by_hand(frame):
    document = scorecard.document(frame, PROVENANCE)
    assert document["verdicts"] == {"agrees": 1, "differs": 2, "not comparable": 1} and document["limit"] == LIMIT
    assert [reason["name"] for reason in document["reasons"]] == list(REASONS)
    first, second, third, fourth = document["rows"]
    assert first["page"] == "_executed/fig02.html#table-table-0" and second["page"].endswith("#table-table-1")
    assert first["published"] == {
        "text": "1.241",
        "value": 1.241,
        "rounding": pytest.approx(0.001 / 12**0.5),
        "uncertainty": None,
        "n": None,
        "source": "Fig. 3",
    }
    assert first["ours"] == {"value": 1.25, "uncertainty": 0.0005, "kind": "theory", "n": 16}
    assert first["difference"]["absolute"] == pytest.approx(0.009)
    assert first["difference"]["percent"] == pytest.approx(0.9 / 1.241)
    assert first["difference"]["sigma"] == pytest.approx(0.009 / (0.0005**2 + 1e-6 / 12) ** 0.5)
    assert first["reason"] == {"number": 1, "name": "quadrature"} and first["verdict"] == "differs"
    assert first["provenance"] == PROVENANCE | {"inputs": "2" * 64}
    assert second["published"]["n"] == 10 and second["published"]["uncertainty"] == 0.3 and second["reason"] is None
    assert third["verdict"] == "not comparable"
    assert fourth["reason"]["number"] == list(REASONS).index("cause unknown") + 1


def test_the_picture_looks_as_before(frame, compare):
    figure = scorecard.draw_scorecard(frame)
    figure.draw_without_rendering()
    compare("scorecard", seen.text_of(figure).splitlines())
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


def test_the_page_has_the_rows_of_the_document(frame):
    texts, rows = scorecard.texts(frame), scorecard.document(frame, PROVENANCE)["rows"]
    tables = texts["tables"]
    assert tables.count('<section class="comparisons"') == 1 and '#fig02"' in tables
    assert tables.count("<tr>") - tables.count("<thead>") == len(rows)
    assert texts["summary"] == (
        "Our numbers agree with 0 of the 1 published ones of **theory** and differ from 1. All 1 thresholds are larger "
        "here, by 0.7 to 0.7 %. Our numbers agree with 1 of the 3 published ones of **experiments** and differ from 1; "
        "1 cannot be compared like for like. Numbers differ if they are more than 3 standard errors apart."
    )
    reasons = texts["reasons"].splitlines()
    assert len(reasons) == len({row["reason"]["name"] for row in rows if row["reason"]})
    assert reasons[0].startswith("- **Quadrature.**") and reasons[0].endswith("*Here: 1.*")
