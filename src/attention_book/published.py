"""The paper's own numbers, each with where it stands.

Unless said, sigma = 0.5, lambda = 0.01, omega = 0.3, A = ((.6, .4), (.4, .6)) and d = 1000. Experiments are
means over instances whose spread is not published. Theory carries the error of a 144-point cubature.
"""

from dataclasses import dataclass
from decimal import Decimal
from math import sqrt


@dataclass(frozen=True)
class Published:
    """A number as published.

    text: as printed.
    source: where it stands.
    stderr: its standard error; None where none is given.
    n: over how many instances or runs it is a mean; None for theory.
    """

    text: str
    source: str
    stderr: float | None = None
    n: int | None = None

    @property
    def value(self):
        return float(self.text)

    @property
    def rounding(self):
        """Standard error by rounding to the last printed digit."""
        return 10.0 ** Decimal(self.text).as_tuple().exponent / sqrt(12)


def _table(source, values, n=None):
    return {name: Published(value, source, n=n) for name, value in values.items()}


# alpha_c by omega: the training losses of the two minima cross
CRITICAL_ALPHA = _table(
    "Fig. 3 centre, theory",
    {
        0.0: "0.548",
        0.1: "0.707",
        0.15: "0.818",
        0.2: "0.928",
        0.25: "1.06",
        0.3: "1.241",
        0.35: "1.454",
        0.4: "1.751",
        0.425: "1.939",
    },
)

# alpha_l by omega: the semantic minimum meets the linear baseline
LINEAR_ALPHA = _table(
    "Fig. 3 right, theory",
    {
        0.0: "0.722",
        0.05: "0.765",
        0.075: "0.808",
        0.1: "0.851",
        0.15: "0.942",
        0.2: "1.071",
        0.25: "1.225",
        0.275: "1.327",
        0.3: "1.451",
        0.325: "1.584",
        0.35: "1.750",
        0.38: "1.993",
    },
)

THRESHOLDS = {"critical": CRITICAL_ALPHA, "linear": LINEAR_ALPHA}

# the two branches at alpha = 2
THEORY = {
    "semantic": _table(
        "Fig. 2, theory, alpha = 2",
        {"q": "0.1142", "V": "12.33", "theta": "0.1586", "train_loss": "0.003599", "test_mse": "0.001397"},
    ),
    "positional": _table(
        "Fig. 2, theory, alpha = 2",
        {"q": "0.0500", "m": "0.2586", "V": "11.04", "train_loss": "0.004515", "test_mse": "0.003490"},
    ),
}

# gradient descent from the positional start, by alpha
_COLUMNS = ("test_mse", "linear_mse", "train_loss", "m/sigma^2")
EXPERIMENT = {
    alpha: _table("Fig. 2, experiments", dict(zip(_COLUMNS, row, strict=True)), n=24)
    for alpha, row in {
        0.5075: ("0.00322", "0.00197", "0.001162", "0.899"),
        1.005: ("0.00328", "0.00195", "0.002200", "1.008"),
        1.5025: ("0.00338", "0.00195", "0.003311", "1.040"),
        2.0: ("0.00349", "0.00201", "0.004585", "1.047"),
    }.items()
}

# by d at alpha = 1.5: the semantic minimum's overlap and test error, the positional minimum's overlap. Overlaps are
# means of absolute values.
_DIMENSIONS = (10, 36, 87, 209, 500)
SCALING = {
    name: _table(source, dict(zip(_DIMENSIONS, values, strict=True)), n=30)
    for name, source, values in (
        ("theta/sigma^2", "Fig. 3 left", ("0.381", "0.444", "0.489", "0.522", "0.534")),
        ("test_mse", "Fig. 7", ("0.00424", "0.00263", "0.00220", "0.00208", "0.00202")),
        ("m/sigma^2", "Fig. 3 left", ("0.68", "0.86", "0.96", "1.01", "1.03")),
    )
}

RUNS = 10  # of the histogram task
# What the standard deviations of Table 1 have in the denominator: n for accuracies, n - 1 for distances.
LESS = {"accuracy": 0, "start to trained": 1, "trained to final": 1, "of_zeros": 1}


def _mean_and_spread(name, mean, spread):
    """Mean over ten runs with its standard error, and their standard deviation with the one of normal numbers."""
    error = float(spread) / sqrt(RUNS - 1 + LESS[name])
    return (
        Published(mean, "Table 1", stderr=error, n=RUNS),
        Published(spread, "Table 1", stderr=float(spread) / sqrt(2 * (RUNS - 1)), n=RUNS),
    )


# the histogram task: mean and standard deviation of ten runs
HISTOGRAM = {
    variant: {name: _mean_and_spread(name, *texts) for name, texts in rows.items()}
    for variant, rows in {
        "positional": {
            "accuracy": ("0.99885", "0.00045"),
            "start to trained": ("158.9", "4.4"),
            "trained to final": ("0.612", "0.126"),
            "of_zeros": ("0.115", "0.009"),
        },
        "semantic": {
            "accuracy": ("0.99894", "0.00117"),
            "start to trained": ("163.7", "8.9"),
            "trained to final": ("0.465", "0.237"),
            "of_zeros": ("0.103", "0.019"),
        },
    }.items()
}
SHOWN_SEQUENCES = (  # in Figures 4, 5 and 6
    (1, 1, 2, 2, 3, 3, 1, 1, 1, 1),
    (11, 12, 3, 12, 12, 12, 0, 7, 7, 1),
    (14, 13, 12, 11, 10, 9, 8, 7, 6, 5),
)
