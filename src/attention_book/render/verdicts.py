"""The paper's numbers beside ours: how far apart, whether that is more than the errors allow, and why."""

from collections.abc import Hashable
from dataclasses import dataclass
from math import hypot

import numpy as np
import pandas as pd

from attention_phases.errors import check_choice, check_positive, check_real

from ..analysis.differences import in_errors
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
    "unknown": "**Unknown.** We have not found the reason.",
    "losses": """**Integration of the losses.** What a rule of 144 points gives for a training loss, and for
$\\alpha_c$, which compares two of them, depends on how the loss is integrated. How the published ones were integrated
is not known, so that the reason for the difference is not shown ({ref}`Figure 3 <fig03>`).""",
}


OF_THRESHOLD = {"critical": "losses", "linear": "quadrature"}  # why a published threshold differs


@dataclass(frozen=True)
class Comparison:
    """A published number, and ours for the same quantity.

    Attributes
    ----------
    quantity : str
        A key of `columns.SYMBOLS`.
    parameters : dict
        Where it is measured, such as {"omega": 0.3, "branch": "semantic"}.
    published : Published
    value, error : float
        Ours with its standard error (> 0): of the quadrature for theory, of the mean over instances for students.
    evidence : {"theory", "students", "transformers"}
        What ours comes from.
    n : int
        Independent quadratures, instances or runs behind ours.
    reason : str
        A key of `REASONS`: what a difference would come from.
    comparable : bool
        Whether the two are the same quantity.
    broken, broken_error : float
        By how much one step of replica symmetry breaking moves ours, for theory, where that is known. It is no part of
        the difference, which compares replica-symmetric theory with the same.
    """

    quantity: str
    parameters: dict[str, Hashable]
    published: Published
    value: float
    error: float
    evidence: str
    n: int
    reason: str
    comparable: bool = True
    broken: float = np.nan
    broken_error: float = np.nan


def compare(rows):
    """Published numbers beside ours, as numbers.

    Parameters
    ----------
    rows : iterable of Comparison

    Returns
    -------
    pandas.DataFrame
        `quantity`, `parameters` and `evidence`; `published` (text), `published_value`, `rounding` (its standard error),
        `published_error` (NaN where none is given), `published_n` (NaN for theory) and `source`; `value`, `error`, `n`,
        `broken` and `broken_error`; `difference` (ours less published), `percent` (of the published value), `sigma`
        (over our error, the published one where it is known, and that of rounding, in quadrature); `limit`, the sigma
        beyond which the two differ: `LIMIT`, and more where the published scatter is not given, which is then taken
        to be ours; `verdict`; `reason`, a key of `REASONS`, missing where they agree.

    Raises
    ------
    BadInput
        A value is not finite, an error is not > 0, a reason or a kind of evidence is unknown.
    """
    return pd.DataFrame([_row(each) for each in rows], columns=COLUMNS)


COLUMNS = (
    "quantity", "parameters", "evidence", "published", "published_value", "rounding", "published_error", "published_n",
    "source", "value", "error", "n", "broken", "broken_error", "difference", "percent", "sigma", "limit", "verdict",
    "reason",
)  # fmt: skip


def _row(each):
    theirs = each.published
    check_real("value", each.value, "a finite number", lambda v: True)
    check_positive("error", each.error)
    check_choice("reason", each.reason, REASONS)
    check_choice("evidence", each.evidence, EVIDENCE)
    errors = (each.error, theirs.stderr or 0.0, theirs.rounding)
    difference = each.value - theirs.value
    sigma = in_errors(difference, *errors)
    not_given = each.error * (each.n / theirs.n) ** 0.5 if theirs.n and theirs.stderr is None else 0.0
    limit = LIMIT * hypot(1.0, in_errors(not_given, *errors))
    verdict = VERDICTS[int(abs(sigma) > limit)] if each.comparable else "not comparable"
    values = {
        **vars(each),
        "published": theirs.text, "published_value": theirs.value, "rounding": theirs.rounding,
        "published_error": np.nan if theirs.stderr is None else theirs.stderr,
        "published_n": np.nan if theirs.n is None else theirs.n, "source": theirs.source,
        "difference": difference, "percent": 100 * difference / theirs.value, "sigma": sigma, "limit": limit,
        "verdict": verdict, "reason": None if verdict == "agrees" else each.reason,
    }  # fmt: skip
    return {name: values[name] for name in COLUMNS}


def count(frame):
    """How many rows of `compare` have which verdict, for which reason, by evidence.

    Returns
    -------
    pandas.DataFrame
        `verdict`, `reason` (missing where they agree), `evidence`, `rows`, in the order of `VERDICTS`, the most first.
    """
    counts = frame.groupby(["verdict", "reason", "evidence"], dropna=False, observed=True).size().rename("rows")
    counts = counts.reset_index().sort_values("rows", ascending=False, kind="stable")
    return counts.sort_values("verdict", key=lambda each: each.map(VERDICTS.index), kind="stable", ignore_index=True)
