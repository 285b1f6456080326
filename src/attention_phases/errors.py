"""Errors in one line: of bad input, with the parameter, its value and what is allowed, and of what else can fail."""

import os
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from math import isfinite
from numbers import Integral, Real
from types import UnionType
from typing import Any, TypeVar

Choice = TypeVar("Choice")
COVERED = '; the page "Limits" lists what is covered'  # ends a complaint of what theory or training leave out
LONGEST_VALUE, LONGEST_ARRAY = 300, 100  # characters of a value that a complaint shows


class BadInput(ValueError):
    """A parameter has a value outside its allowed range, or parameters do not fit each other.

    The message is "NAME = VALUE: must be ALLOWED". A complete sentence as the only argument is the message itself.
    """

    def __init__(self, name: str, value: object = None, allowed: str = ""):
        super().__init__(name, value, allowed)  # the arguments themselves, from which pickle makes the error again

    def __str__(self) -> str:
        name, value, allowed = self.args
        shown = " ".join(repr(value).split())  # the repr of an array has several lines
        if len(shown) > LONGEST_ARRAY and getattr(value, "ndim", 0):
            shown = f"{type(value).__name__} of the shape {tuple(value.shape)}"
        shown = shown if len(shown) <= LONGEST_VALUE else shown[:LONGEST_VALUE] + "..."
        return f"{name} = {shown}: must be {allowed}" if allowed else name


class ResultError(RuntimeError):
    """There is no result to show; the message is one line and says why."""


class StoreError(RuntimeError):
    """Results cannot be read or written; the message is one line and names the file."""


class SweepError(RuntimeError):
    """The sweep had to stop; the message is one line. Results reported before are stored."""


class NotebookError(RuntimeError):
    """A notebook failed, or is not as it should be; the message is one line."""


def as_number(value: Any) -> Any:
    """Return the number of an array or a tensor of no dimensions; anything else as it is.

    A number of few bits becomes the shortest decimal that has the same bits: 0.3 of float32 is 0.3, as it was meant.
    """
    if getattr(value, "ndim", None) != 0:
        return value
    number = value.item()
    if isinstance(number, float) and isfinite(number):
        shorter = (float(f"{number:.{digits}g}") for digits in range(1, 18))
        return next(decimal for decimal in shorter if value - value + decimal == value)
    return number


def check_real(name: str, value: object, allowed: str, holds: Callable[[float], bool]) -> float:
    """Return `value` as a finite float for which ``holds(value)``, else raise `BadInput`."""
    # NaN fails every comparison and infinity is no parameter of anything here.
    value = as_number(value)
    if isinstance(value, bool) or not isinstance(value, Real):
        raise BadInput(name, value, allowed)
    number = float(value)
    if not abs(number) < float("inf") or not holds(number):
        raise BadInput(name, value, allowed)
    return number


def check_positive(name: str, value: object) -> float:
    """Return `value` as a float if it is finite and > 0, else raise `BadInput`."""
    return check_real(name, value, "a finite number > 0", lambda v: v > 0)


def check_count(name: str, value: object, at_least: int = 1) -> int:
    """Return `value` as an int if it is whole and >= `at_least`, else raise `BadInput`."""
    value = as_number(value)
    if isinstance(value, bool) or not isinstance(value, Integral) or value < at_least:
        raise BadInput(name, value, f"a whole number >= {at_least}")
    return int(value)


def check_several(name: str, values: object, at_least: int = 1) -> list:
    """Return several values as a list, else raise `BadInput`; a text is one value."""
    several = [*values] if is_several(values) else None  # pyright: ignore[reportGeneralTypeIssues]
    if several is None or len(several) < at_least:
        raise BadInput(name, values, f"several values, at least {at_least}")
    return several


def is_several(values: object) -> bool:
    """Return whether something can be a list of values: a text and an array of no dimensions are one value."""
    return isinstance(values, Iterable) and not isinstance(values, str) and getattr(values, "ndim", 1) > 0


def check_seeds(seeds: object) -> list[int]:
    """Return numbers of data sets, all different: a list names them, a whole number n means 0 to n - 1."""
    if not is_several(seeds):
        return [*range(check_count("seeds", seeds))]
    named = [check_count("seed", seed, at_least=0) for seed in check_several("seeds", seeds)]
    if len({*named}) < len(named):
        raise BadInput("seeds", named, "different numbers, of independent data sets")
    return named


def check_memory(name: str, value: object, needed: float, device: str = "cpu") -> None:
    """Raise `BadInput` if so many bytes do not fit a GPU, or neither this machine nor the limit of `ulimit -v`."""
    there = float("inf")
    if device == "cuda":
        import torch  # slow to load

        there = torch.cuda.mem_get_info()[1]
    with suppress(ImportError, AttributeError, ValueError, OSError):  # as on Windows, which says neither
        import resource

        limits = resource.getrlimit(resource.RLIMIT_AS)[0], os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        there = min(limit for limit in limits if limit > 0) if device == "cpu" else there  # no limit is -1
    if needed > there:
        raise BadInput(name, value, f"smaller: at least {needed:.2g} bytes are needed, {there:.2g} are there")


def check_kind(name: str, value: object, kind: type | UnionType) -> None:
    """Raise `BadInput` if `value` is of another kind."""
    if not isinstance(value, kind):
        kinds = [each.__name__ for each in (kind.__args__ if isinstance(kind, UnionType) else (kind,))]
        raise BadInput(name, value, "of the kind " + " or ".join(kinds).replace("NoneType", "None"))


def check_choice(name: str, value: Choice, choices: Collection[Choice]) -> Choice:
    """Return `value` if it is one of `choices`, else raise `BadInput`."""
    if value not in choices:
        raise BadInput(name, value, "one of " + ", ".join(map(str, choices)) if choices else "left out")
    return value
