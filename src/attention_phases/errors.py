"""Exceptions with one-line messages, and functions that check arguments."""

import os
import sys
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from math import isfinite
from numbers import Integral, Real
from types import UnionType
from typing import Any, TypeVar

Choice = TypeVar("Choice")
LIMITS_NOTE = '; the page "Limits" lists what is covered'  # the end of a message about a case that is not covered
LONGEST_VALUE, LONGEST_ARRAY = 300, 100  # largest lengths of a value and of an array in a message, in characters


class BadInput(ValueError):
    """Raised if a parameter has a value outside its allowed range, or if parameters are inconsistent.

    The message is "NAME = VALUE: must be ALLOWED". A complete sentence as the only argument is the message itself.
    """

    def __init__(self, name: str, value: object = None, allowed: str = ""):
        super().__init__(name, value, allowed)  # pickle recreates the error from these arguments

    def __str__(self) -> str:
        name, value, allowed = self.args
        shown = " ".join(repr(value).split())  # the repr of an array has several lines
        if len(shown) > LONGEST_ARRAY and getattr(value, "ndim", 0):
            shown = f"{type(value).__name__} of the shape {tuple(value.shape)}"
        shown = shown if len(shown) <= LONGEST_VALUE else shown[:LONGEST_VALUE] + "..."
        return f"{name} = {shown}: must be {allowed}" if allowed else name


class ResultError(RuntimeError):
    """Raised if a result does not exist or cannot be trusted, with the reason in a one-line message."""


class StoreError(RuntimeError):
    """Raised if stored results cannot be read or written, with a one-line message that names the file."""


class SweepError(RuntimeError):
    """Raised if a sweep had to stop, with a one-line message. The results that were finished before are stored."""


class NotebookError(RuntimeError):
    """Raised if a notebook failed or is malformed, with a one-line message."""


def as_number(value: Any) -> Any:
    """Convert a zero-dimensional array or tensor to a number; return any other value unchanged.

    A number of less than double precision becomes the shortest decimal that rounds to it. The float32 number closest
    to 0.3, for example, becomes 0.3.
    """
    if getattr(value, "ndim", None) != 0:
        return value
    number = value.item()
    if isinstance(number, float) and isfinite(number):
        shorter = (float(f"{number:.{digits}g}") for digits in range(1, 18))
        return next(decimal for decimal in shorter if value - value + decimal == value)
    return number


def check_real(name: str, value: Any, allowed: str, holds: Callable[[float], bool]) -> float:
    """Return `value` as a finite float if ``holds(value)`` is true; raise `BadInput` otherwise."""
    # NaN fails every comparison, and no parameter may be infinite.
    value = as_number(value)
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not (is_number and abs(value) <= sys.float_info.max and holds(float(value))):  # pyright: ignore[reportOperatorIssue]
        raise BadInput(name, value, allowed)
    return float(value)


def check_positive(name: str, value: object) -> float:
    """Return `value` as a float if it is finite and > 0; raise `BadInput` otherwise."""
    return check_real(name, value, "a finite number > 0", lambda v: v > 0)


def check_count(name: str, value: object, at_least: int = 1) -> int:
    """Return `value` as an int if it is a whole number >= `at_least`; raise `BadInput` otherwise."""
    value = as_number(value)
    if isinstance(value, bool) or not isinstance(value, Integral) or value < at_least:
        raise BadInput(name, value, f"a whole number >= {at_least}")
    return int(value)


def check_several(name: str, values: object, at_least: int = 1) -> list:
    """Return several values as a list; raise `BadInput` if there are too few. A string counts as one value."""
    several = [*values] if is_several(values) else None  # pyright: ignore[reportGeneralTypeIssues]
    if several is None or len(several) < at_least:
        raise BadInput(name, values, f"several values, at least {at_least}")
    return several


def is_several(values: object) -> bool:
    """Return whether an object holds several values; a string or a zero-dimensional array counts as one value."""
    return isinstance(values, Iterable) and not isinstance(values, str) and getattr(values, "ndim", 1) > 0


def check_seeds(seeds: object) -> list[int]:
    """Return the seeds of several data sets as a list.

    A whole number n stands for the seeds 0 to n - 1. The seeds in a list must differ.
    """
    if not is_several(seeds):
        return [*range(check_count("seeds", seeds))]
    named = [check_count("seed", seed, at_least=0) for seed in check_several("seeds", seeds)]
    if len({*named}) < len(named):
        raise BadInput(f"seeds = {named} names a data set twice")
    return named


def check_memory(sizes: dict[str, float], needed: float, device: str = "cpu") -> None:
    """Raise `BadInput` if the needed bytes exceed the memory of the GPU or machine, or the limit of `ulimit -v`.

    sizes: the parameters on which the memory depends, by name; the message names the largest of them
    """
    there = float("inf")
    if device == "cuda":
        import torch  # imported here because torch is slow to load

        there = torch.cuda.mem_get_info()[1]
    with suppress(ImportError, AttributeError, ValueError, OSError):  # Windows provides neither of the two limits
        import resource

        limits = resource.getrlimit(resource.RLIMIT_AS)[0], os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        there = min(limit for limit in limits if limit > 0) if device == "cpu" else there  # -1 means no limit
    if needed > there:
        name = max(sizes, key=lambda name: sizes[name])
        needs = f"{name} = {sizes[name]} needs at least {needed / 1e9:.2g} GB of memory"
        raise BadInput(f"{needs}; {there / 1e9:.2g} GB are available. Choose a smaller {name}")


def check_kind(name: str, value: object, kind: type | UnionType) -> None:
    """Raise `BadInput` if `value` is not an instance of `kind`."""
    if not isinstance(value, kind):
        kinds = [each.__name__ for each in (kind.__args__ if isinstance(kind, UnionType) else (kind,))]
        raise BadInput(name, value, "of the kind " + " or ".join(kinds).replace("NoneType", "None"))


def check_choice(name: str, value: Choice, choices: Collection[Choice]) -> Choice:
    """Return `value` if it is one of `choices`; raise `BadInput` otherwise."""
    if value not in choices:
        raise BadInput(name, value, "one of " + ", ".join(map(str, choices)) if choices else "left out")
    return value
