"""The numbers that the paper publishes, and their comparison with ours.

Unless a source says otherwise, sigma = 0.5, lambda = 0.01, omega = 0.3, A = ((.6, .4), (.4, .6)) and d = 1000.
Published experiments are means over instances, and the paper does not give the standard deviation between instances.
Published theory has the error of a cubature with 144 points, which `experiments.audit.authors_rule` computes.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from decimal import Decimal
from math import hypot, nan, sqrt

from attention_phases.errors import check_choice, check_positive, check_real
from attention_phases.measured import Measured


@dataclass(frozen=True)
class PublishedNumber:
    """A published number with its source and, where it is known, its standard error."""

    text: str  #: the number as printed
    source: str  #: figure, table or notebook that contains the number
    stderr: float | None = None  #: its standard error; None if the paper gives none
    n: int | None = None  #: number of instances or runs behind a mean; None for theory

    @property
    def value(self):
        return float(self.text)

    @property
    def rounding(self):
        """The standard error that results from rounding to the last printed digit."""
        return 10.0 ** Decimal(self.text).as_tuple().exponent / sqrt(12)


def _numbers(source, names, texts, **more):
    return {name: PublishedNumber(text, source, **more) for name, text in zip(names, texts.split(), strict=True)}


# The thresholds have as many digits as in the authors' public plotting notebook. At omega = 0.3 the authors' public
# curves of the training losses, joined by straight lines, cross at alpha = 1.262. The authors' public curve of the test
# error crosses the error of the authors' linear model at alpha = 1.451, and the error of the exact linear model at
# alpha = 1.465.

# alpha_c by omega, where the training losses of the two minima cross
CRITICAL_ALPHA = _numbers(
    "Fig. 3 centre, theory",
    (0.0, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.425),
    "0.5480511 0.7071599 0.8180016 0.9277861 1.06 1.2410177 1.4541110 1.7505719 1.9392972",
)
# alpha_l by omega, where the test error of the semantic minimum crosses the test error of the linear model
LINEAR_ALPHA = _numbers(
    "Fig. 3 right, theory",
    (0.0, 0.05, 0.075, 0.1, 0.15, 0.2, 0.25, 0.275, 0.3, 0.325, 0.35, 0.38),
    """0.7224525 0.7652804 0.8076328 0.8505675 0.9415349 1.0714067 1.2254411 1.3270521 1.4505799 1.5843728 1.7495295
    1.9932320""",
)
THRESHOLDS = {"critical": CRITICAL_ALPHA, "linear": LINEAR_ALPHA}

# Theoretical test error of the linear model at omega = 0.3, stored as the sum over both tokens.
LINEAR_MODEL = PublishedNumber("0.0019904589", "public notebook of the theory")

_SOURCE = "Fig. 2, theory, alpha = 2"
FIG2_THEORY = {  # theoretical solutions of both branches at alpha = 2
    "semantic": _numbers(
        _SOURCE, ("q", "V", "theta", "train_loss", "test_mse"), "0.1142 12.33 0.1586 0.003599 0.001397"
    ),
    "positional": _numbers(_SOURCE, ("q", "m", "V", "train_loss", "test_mse"), "0.0500 0.2586 11.04 0.004515 0.003490"),
}
FIG2_STUDENTS = {  # students trained by gradient descent from the positional start, by alpha
    alpha: _numbers("Fig. 2, experiments", ("test_mse", "linear_mse", "train_loss", "m/sigma^2"), texts, n=24)
    for alpha, texts in {
        0.5075: "0.00322 0.00197 0.001162 0.899",
        1.005: "0.00328 0.00195 0.002200 1.008",
        1.5025: "0.00338 0.00195 0.003311 1.040",
        2.0: "0.00349 0.00201 0.004585 1.047",
    }.items()
}
# Means at alpha = 1.5 by d: the overlap and the test error of the semantic minimum, and the overlap of the positional
# minimum. Overlaps are absolute values. The paper says 30 runs, but its public tables have means over 70 runs.
SCALING = {
    name: _numbers(source, (10, 36, 87, 209, 500), texts, n=70)
    for name, source, texts in (
        ("theta/sigma^2", "Fig. 3 left", "0.381 0.444 0.489 0.522 0.534"),
        ("test_mse", "Fig. 7", "0.00424 0.00263 0.00220 0.00208 0.00202"),
        ("m/sigma^2", "Fig. 3 left", "0.68 0.86 0.96 1.01 1.03"),
    )
}

RUNS = 10  # number of runs of the histogram task
# Standard deviations in Table 1 are computed with the divisor n for accuracies, and n - 1 for distances.
LOST_DEGREES = {"accuracy": 0, "start to trained": 1, "trained to final": 1, "of_zeros": 1}


def _mean_and_spread(name, texts):
    """Return a published mean and a published standard deviation over ten runs, each with its standard error.

    The standard error of the standard deviation assumes that the runs are normally distributed.
    """
    mean, spread = texts.split()
    errors = float(spread) / sqrt(RUNS - 1 + LOST_DEGREES[name]), float(spread) / sqrt(2 * (RUNS - 1))
    return tuple(PublishedNumber(text, "Table 1", stderr=error, n=RUNS) for text, error in zip((mean, spread), errors))


HISTOGRAM = {  # mean and standard deviation of ten runs of the histogram task
    variant: {name: _mean_and_spread(name, text) for name, text in zip(LOST_DEGREES, texts, strict=True)}
    for variant, texts in {
        "positional": ("0.99885 0.00045", "158.9 4.4", "0.612 0.126", "0.115 0.009"),
        "semantic": ("0.99894 0.00117", "163.7 8.9", "0.465 0.237", "0.103 0.019"),
    }.items()
}
SHOWN_SEQUENCES = ("BBCCDDBBBB", "LMDMMMAHHB", "ONMLKJIHGF")  # sequences of tokens in Figures 4, 5 and 6

# The comparison with our numbers
LIMIT = 3.0  # largest difference of two numbers that agree, in standard errors
VERDICTS = ("agrees", "differs", "not comparable")
EVIDENCE = ("theory", "students", "transformers")
# Reasons why two numbers differ or cannot be compared. The scorecard explains each reason, and its data number the
# reasons in this order.
REASONS = ("quadrature", "instances", "many minima", "lost letters", "definition", "cause unknown")
COLUMNS = ["quantity", "parameters", "evidence", "published", "published_value", "rounding", "published_error"]
COLUMNS += ["published_n", "source", "value", "error", "n", "difference", "percent", "sigma"]
COLUMNS += ["verdict", "reason"]


@dataclass(frozen=True)
class Comparison:
    """A published number together with our number for the same quantity."""

    quantity: str  #: a name of `render.headings`
    parameters: dict[str, Hashable]  #: conditions of the measurement, such as {"omega": 0.3, "branch": "semantic"}
    published: PublishedNumber  #: the published number
    ours: Measured  #: our number; its error (> 0) comes from the quadrature (theory) or from data sets
    evidence: str  #: source of our number, one of `EVIDENCE`
    n: int  #: number of independent quadratures, instances or runs behind our number
    reason: str  #: possible cause of a difference, one of `REASONS`
    comparable: bool = True  #: whether both numbers are the same quantity


def compare(comparisons):
    """Return a data frame that compares published numbers with ours, with a row for each `Comparison`.

    The columns are `COLUMNS`. `published` is the printed text. `rounding` is the standard error of `published_value`
    that results from rounding. `published_error` is NaN if the paper gives none, and `published_n` is NaN for theory.
    `difference` is ours minus published, and `percent` is the difference in per cent of the published value. `sigma` is
    the difference divided by the combined standard error: our error, the published error and the error of rounding,
    added in quadrature. If the paper does not give the standard deviation behind a mean, it is taken to be equal to
    ours. The two numbers differ if `sigma` exceeds `LIMIT`. `reason` is one of `REASONS`, and it is missing if the
    numbers agree.

    Raises BadInput if a value is not finite, if an error is not > 0, or if a reason or a kind of evidence is unknown.
    """
    import pandas as pd  # slow to load, and not needed by the command line

    return pd.DataFrame([_row(comparison) for comparison in comparisons], columns=COLUMNS)


def _row(comparison):
    published, (value, error) = comparison.published, comparison.ours
    check_real("value", value, "a finite number", lambda v: True)
    check_positive("error", error)
    check_choice("reason", comparison.reason, REASONS)
    check_choice("evidence", comparison.evidence, EVIDENCE)
    theirs = published.stderr or 0.0
    if published.n and published.stderr is None:
        theirs = error * (comparison.n / published.n) ** 0.5
    difference = value - published.value
    sigma = difference / hypot(error, theirs, published.rounding)
    verdict = VERDICTS[int(abs(sigma) > LIMIT)] if comparison.comparable else "not comparable"
    return vars(comparison) | {
        "published": published.text,
        "published_value": published.value,
        "rounding": published.rounding,
        "published_error": nan if published.stderr is None else published.stderr,
        "published_n": nan if published.n is None else published.n,
        "source": published.source,
        "value": value,
        "error": error,
        "difference": difference,
        "percent": 100 * difference / published.value,
        "sigma": sigma,
        "verdict": verdict,
        "reason": None if verdict == "agrees" else comparison.reason,
    }
