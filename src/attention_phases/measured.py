"""Numbers with standard errors, for the results of measurements, quadratures and extrapolations."""

from collections.abc import Iterable
from math import floor, hypot, isnan, log10, nan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .errors import check_positive, check_real


class Measured(NamedTuple):
    """A value and its standard error, printed as 1.2514(56); both are NaN if there is no value.

    ``float`` returns the value. Sums and differences treat their terms as independent.

    >>> from attention_phases import Measured
    >>> critical, linear = Measured(1.25137, 0.00056), Measured(1.49288, 0.00072)
    >>> print(linear - critical, f"{critical:.2f}", float(critical))
    0.24151(91) 1.25 1.25137
    """

    value: float  #: any number
    error: float  #: at least 0
    __mul__ = __rmul__ = None  # otherwise twice a value would be a tuple of four numbers
    __next__ = None  # otherwise pandas would print a value with its error as a list

    @classmethod
    def mean(cls, values: Iterable[float]) -> "Measured":
        """Return the mean of independent values with its standard error.

        The error of a single value is NaN. If there are no values, both are NaN.
        """
        numbers = np.asarray(list(values), float)
        return cls(float(numbers.mean()), standard_error(numbers)) if len(numbers) else NO_VALUE

    @property
    def text(self) -> str:
        """The value and its error as text, such as "1.2514(56)", with a typographic minus sign.

        The text is "none" if there is no value.
        """
        return str(self).replace("-", "−")

    def __add__(self, other: Any) -> "Measured":  # pyright: ignore[reportIncompatibleMethodOverride]
        value, error = other if isinstance(other, Measured) else (other, 0.0)
        return Measured(self.value + value, hypot(self.error, error))

    def __sub__(self, other: Any) -> "Measured":
        return self + -other

    def __neg__(self) -> "Measured":
        return Measured(-self.value, self.error)

    def __rsub__(self, other: float) -> "Measured":
        return -self + other

    __radd__ = __add__

    def __float__(self) -> float:
        return float(self.value)

    def __format__(self, form: str) -> str:
        return format(self.value, form) if form else str(self)

    def __str__(self) -> str:
        if isnan(self.value):
            return "none"
        return with_error(self.value, self.error) if self.error > 0 else f"{self.value:.6g}"


NO_VALUE = Measured(nan, nan)


def standard_error(values: ArrayLike) -> Any:
    """Return the standard error of the mean of independent values along the first axis, as a float or an array."""
    values = np.asarray(values)
    if len(values) < 2:
        error = np.full(values.shape[1:], np.nan)
    else:
        error = np.std(values, axis=0, ddof=1) / np.sqrt(len(values))
    return error.item() if error.ndim == 0 else error


def with_error(value: float, error: float) -> str:
    """Format a value with its standard error: "1.2514(56)" stands for 1.2514 ± 0.0056.

    The error has two digits, and the value has as many decimals as the error.
    """
    check_real("value", value, "a finite number", lambda v: True)
    check_positive("error", error)
    rounded = float(f"{error:.1e}")  # 0.0996 becomes 0.10, whose leading digit is one place further left
    decimals = max(1 - floor(log10(rounded)), 0)
    shown = round(rounded * 10**decimals) if rounded < 1 else f"{rounded:.{decimals}f}"
    return f"{value:.{decimals}f}({shown})"
