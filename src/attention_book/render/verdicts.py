"""The paper's numbers beside ours: how far apart, whether that is more than the errors allow, and why."""

from collections.abc import Hashable
from dataclasses import dataclass
from math import hypot, nan

import pandas as pd

from attention_phases.errors import check_choice, check_positive, check_real
from attention_phases.measured import Measured

from ..analysis.instances import in_errors
from ..published import Published

LIMIT = 3.0  # errors; numbers that are further apart differ
VERDICTS = ("agrees", "differs", "not comparable")
EVIDENCE = ("theory", "students", "transformers")
# Why numbers differ, or cannot be compared. A row names its reason by the key; pages number them in this order.
REASONS = {
    "quadrature": """**Quadrature.** The published theory curves use 144 quadrature points and give no error estimate.
Such a rule, run here, gives the published overlaps and comes close to $\\alpha_l$ ({ref}`Figure 3 <fig03>`). Our errors
are far smaller than what it can promise, so that a difference of many errors can be a small difference in the value:
look at both columns.""",
    "instances": """**Data sets.** Published experiments are means over data sets whose scatter is not given. Ours
are other data sets.""",
    "many minima": """**Many minima.** At small $\\omega$ both valleys hold many minima near the transition, and no
replica-symmetric theory, published or ours, describes where training ends ({ref}`Figure 3 <fig03>`).""",
    "lost letters": """**Lost letters.** Some starts of the semantic transformer lose a letter, which they then count
badly. That no published run did may be chance ({ref}`Table 1 <table1>`).""",
    "definition": """**Another definition.** The published linear model reads the tokens alone, ours tokens and
positions. At finite $d$ these are two quantities ({ref}`Figure 7 <fig07>` computes both).""",
    "unknown": """**Unknown.** We have not found the reason. For training losses and $\\alpha_c$ it may be how the loss
is integrated: with 144 points this decides the value, and it is not published ({ref}`Figure 3 <fig03>`).""",
}

OF_THRESHOLD = {"critical": "unknown", "linear": "quadrature"}  # why a published threshold differs
COLUMNS = (
    *("quantity", "parameters", "evidence", "published", "published_value", "rounding", "published_error"),
    *("published_n", "source", "value", "error", "n", "difference", "percent", "sigma", "limit"),
    *("verdict", "reason"),
)


@dataclass(frozen=True)
class Comparison:
    """A published number, and ours for the same quantity.

    quantity: a name of `quantities`.
    parameters: where it is measured, such as {"omega": 0.3, "branch": "semantic"}.
    ours: its error (> 0) is of the quadrature for theory, of the mean over instances for students.
    evidence: one of `EVIDENCE`, what ours comes from.
    n: independent quadratures, instances or runs behind ours.
    reason: a key of `REASONS`, what a difference would come from.
    comparable: whether the two are the same quantity.
    """

    quantity: str
    parameters: dict[str, Hashable]
    published: Published
    ours: Measured
    evidence: str
    n: int
    reason: str
    comparable: bool = True


def compare(comparisons):
    """Published numbers beside ours: a frame with the columns `COLUMNS`, a row for each `Comparison`.

    `published` is the text, `rounding` the standard error by rounding of `published_value`; `published_error` is NaN
    where none is given, `published_n` for theory. `difference` is ours minus published, `percent` of the published
    value, `sigma` over our error, the published one where it is known, and that of rounding, in quadrature. Beyond
    `limit` of these the two differ: `LIMIT`, and more where the published scatter is not given, which is then taken to
    be ours. `reason` is a key of `REASONS`, missing where they agree.

    Raises BadInput if a value is not finite, an error not > 0, a reason or a kind of evidence unknown.
    """
    return pd.DataFrame([_row(comparison) for comparison in comparisons], columns=COLUMNS)


def _row(comparison):
    published, (value, error) = comparison.published, comparison.ours
    check_real("value", value, "a finite number", lambda v: True)
    check_positive("error", error)
    check_choice("reason", comparison.reason, REASONS)
    check_choice("evidence", comparison.evidence, EVIDENCE)
    errors = (error, published.stderr or 0.0, published.rounding)
    difference = value - published.value
    sigma = in_errors(difference, *errors)
    not_given = error * (comparison.n / published.n) ** 0.5 if published.n and published.stderr is None else 0.0
    limit = LIMIT * hypot(1.0, in_errors(not_given, *errors))
    verdict = VERDICTS[int(abs(sigma) > limit)] if comparison.comparable else "not comparable"
    return {
        "quantity": comparison.quantity,
        "parameters": comparison.parameters,
        "evidence": comparison.evidence,
        "published": published.text,
        "published_value": published.value,
        "rounding": published.rounding,
        "published_error": nan if published.stderr is None else published.stderr,
        "published_n": nan if published.n is None else published.n,
        "source": published.source,
        "value": value,
        "error": error,
        "n": comparison.n,
        "difference": difference,
        "percent": 100 * difference / published.value,
        "sigma": sigma,
        "limit": limit,
        "verdict": verdict,
        "reason": None if verdict == "agrees" else comparison.reason,
    }
