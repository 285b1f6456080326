"""One kind of error for bad input: one line that names the parameter, its value and what is allowed.

And one for results that cannot be read or written.
"""

from numbers import Integral, Real


class BadInput(ValueError):
    """A parameter has a value outside its allowed range."""

    def __init__(self, name, value, allowed):
        super().__init__(name, value, allowed)  # as they are, for an error that comes from another process

    def __str__(self):
        return "{} = {}: must be {}".format(*self.args)


class StoreError(RuntimeError):
    """Results cannot be read or written; the message is one line and names the file."""


class SweepError(RuntimeError):
    """The sweep had to stop; the message is one line. Results reported before are stored."""


class NotebookError(RuntimeError):
    """A notebook failed, or is not as it should be; the message is one line."""


def check_real(name, value, allowed, holds):
    """Return `value` as a finite float for which ``holds(value)``, else raise `BadInput`."""
    # NaN fails every comparison and infinity is no parameter of anything here.
    if isinstance(value, bool) or not isinstance(value, Real) or not abs(value) < float("inf") or not holds(value):
        raise BadInput(name, value, allowed)
    return float(value)


def check_positive(name, value):
    """Return `value` as a float if it is finite and > 0, else raise `BadInput`."""
    return check_real(name, value, "a finite number > 0", lambda v: v > 0)


def check_count(name, value, at_least=1):
    """Return `value` as an int if it is whole and >= `at_least`, else raise `BadInput`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < at_least:
        raise BadInput(name, value, f"a whole number >= {at_least}")
    return int(value)


def check_choice(name, value, choices):
    """Return `value` if it is one of `choices`, else raise `BadInput`."""
    if value not in choices:
        raise BadInput(name, value, "one of " + ", ".join(choices))
    return value
