"""The paper's own numbers, each with where it stands, and their comparison with ours.

Unless said, sigma = 0.5, lambda = 0.01, omega = 0.3, A = ((.6, .4), (.4, .6)) and d = 1000. Experiments are
means over 24 instances whose spread is not published. Theory carries the error of a 144-point cubature.
"""

from dataclasses import dataclass
from decimal import Decimal
from math import floor, hypot, log10, sqrt

import pandas as pd

from .errors import check_positive, check_real


@dataclass(frozen=True)
class Published:
    """A number as published.

    Attributes
    ----------
    text : str
        As printed.
    source : str
        Where it stands.
    stderr : float or None
        Its standard error; None where none is given.
    value : float
    rounding : float
        Standard error by rounding to the last printed digit.
    """

    text: str
    source: str
    stderr: float | None = None

    @property
    def value(self):
        return float(self.text)

    @property
    def rounding(self):
        return 10.0 ** Decimal(self.text).as_tuple().exponent / sqrt(12)


def _table(source, values):
    return {name: Published(value, source) for name, value in values.items()}


# alpha_c by omega: the training losses of the two minima cross
CRITICAL_ALPHA = _table("Fig. 3 centre, theory", {
    0.0: "0.548", 0.1: "0.707", 0.15: "0.818", 0.2: "0.928", 0.25: "1.06", 0.3: "1.241", 0.35: "1.454",
    0.4: "1.751", 0.425: "1.939",
})  # fmt: skip

# alpha_l by omega: the semantic minimum meets the linear baseline
LINEAR_ALPHA = _table("Fig. 3 right, theory", {
    0.0: "0.722", 0.05: "0.765", 0.075: "0.808", 0.1: "0.851", 0.15: "0.942", 0.2: "1.071", 0.25: "1.225",
    0.275: "1.327", 0.3: "1.451", 0.325: "1.584", 0.35: "1.750", 0.38: "1.993",
})  # fmt: skip

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
    alpha: _table("Fig. 2, experiments", dict(zip(_COLUMNS, row, strict=True)))
    for alpha, row in {
        0.5075: ("0.00322", "0.00197", "0.001162", "0.899"),
        1.005: ("0.00328", "0.00195", "0.002200", "1.008"),
        1.5025: ("0.00338", "0.00195", "0.003311", "1.040"),
        2.0: ("0.00349", "0.00201", "0.004585", "1.047"),
    }.items()
}

# by d at alpha = 1.5: the semantic minimum's overlap and test error, the positional minimum's overlap
SCALING = {
    "theta/sigma^2": _table("Fig. 3 left", {10: "0.381", 36: "0.444", 87: "0.489", 209: "0.522", 500: "0.534"}),
    "test_mse": _table("Fig. 7", {10: "0.00424", 36: "0.00263", 87: "0.00220", 209: "0.00208", 500: "0.00202"}),
    "m/sigma^2": _table("Fig. 3 left", {10: "0.68", 36: "0.86", 87: "0.96", 209: "1.01", 500: "1.03"}),
}


def _mean_of_ten(text, std):
    return Published(text, "Table 1", stderr=std / sqrt(10))


# the histogram task: means of ten runs, the spread between them turned into a standard error
HISTOGRAM = {
    "positional": {
        "accuracy": _mean_of_ten("0.99885", 0.00045),
        "start to trained": _mean_of_ten("158.9", 4.4),
        "trained to final": _mean_of_ten("0.612", 0.126),
        "of_zeros": _mean_of_ten("0.115", 0.009),
    },
    "semantic": {
        "accuracy": _mean_of_ten("0.99894", 0.00117),
        "start to trained": _mean_of_ten("163.7", 8.9),
        "trained to final": _mean_of_ten("0.465", 0.237),
        "of_zeros": _mean_of_ten("0.103", 0.019),
    },
}
SHOWN_SEQUENCES = (  # in Figures 4, 5 and 6
    (1, 1, 2, 2, 3, 3, 1, 1, 1, 1),
    (11, 12, 3, 12, 12, 12, 0, 7, 7, 1),
    (14, 13, 12, 11, 10, 9, 8, 7, 6, 5),
)


def with_error(value, error):
    """Text "1.2514(56)" for 1.2514 ± 0.0056: the error to two digits, the value to the same decimal place."""
    check_real("value", value, "a finite number", lambda v: True)
    check_positive("error", error)
    rounded = float(f"{error:.1e}")  # 0.0996 becomes 0.10: its leading digit has moved
    decimals = max(1 - floor(log10(rounded)), 0)
    shown = round(rounded * 10**decimals) if rounded < 1 else f"{rounded:.{decimals}f}"
    return f"{value:.{decimals}f}({shown})"


def compare(rows):
    """Published numbers beside ours.

    Parameters
    ----------
    rows : iterable of (str, Published, float, float)
        Name of the quantity, its published value, our value and our standard error (> 0).

    Returns
    -------
    pandas.DataFrame
        Columns "quantity", "published", "ours (error)", "difference" (ours less published, in per cent of the
        published value), "in errors" (over our standard error, the published one where it is known, and that of
        rounding, added in quadrature) and "source".

    Raises
    ------
    BadInput
        A value is not finite, or an error is not > 0.
    """
    return pd.DataFrame(
        [
            {
                "quantity": quantity,
                "published": theirs.text if theirs.stderr is None else with_error(theirs.value, theirs.stderr),
                "ours (error)": with_error(value, error),
                "difference": f"{100 * (value / theirs.value - 1):+.1f} %",
                "in errors": f"{(value - theirs.value) / hypot(error, theirs.stderr or 0, theirs.rounding):+.1f}",
                "source": theirs.source,
            }
            for quantity, theirs, value, error in rows
        ]
    )
