"""The parameters of a notebook, as its parameters cell documents them.

A line of that cell says everything about a parameter, and is what a value is checked against:

    omega = 0.3  # weight of the positional part of the teacher; no unit; in [0, 1]

that is, the published value, then what it is, its unit, and what is allowed, in one of the forms of `FORMS`.
"""

import ast
import json
import re
import tomllib
from typing import NamedTuple

import jupytext

from attention_phases.errors import BadInput, NotebookError, check_choice

from ..experiments import PROFILES

LINE = re.compile(r"(\w+) = (.+?)  # ([^;]+); ([^;]+); (.+)")


def _interval(value, opened, low, high, closed):
    above = float(low) <= value if opened == "[" else float(low) < value
    return above and (value <= float(high) if closed == "]" else value < float(high))


FORMS = {  # what an allowed range is written as, and whether a value is in it
    r"in ([\[(])(\S+), (\S+)([\])])": _interval,
    r"a whole number, at least (\d+)": lambda value, least: value >= int(least),
    r"a power of two, at least (\d+)": lambda value, least: value >= int(least) and value.bit_count() == 1,
    r"one of (.+)": lambda value, words: value in words.split(", "),
    r"each (.+)": lambda values, rest: len(values) > 0 and all(allows(rest, each) for each in values),
    r"2x2, each (.+)": lambda rows, rest: (
        list(map(len, rows)) == [2, 2] and all(allows(rest, each) for row in rows for each in row)
    ),
    r"empty or of the form (.+)": lambda text, form: not text or bool(re.fullmatch(form, text)),
}


def allows(words, value):
    """Whether `value` is in the range that `words` describe.

    Raises
    ------
    NotebookError
        The words have none of the `FORMS`.
    """
    for form, holds in FORMS.items():
        if found := re.fullmatch(form, words):
            return holds(value, *found.groups())
    raise NotebookError(f"no range that can be checked: {words}")


class Parameter(NamedTuple):
    """A line of the parameters cell: name, published value, what it is, its unit, what is allowed."""

    name: str
    value: object
    meaning: str
    unit: str
    allowed: str

    def check(self, value):
        """Return `value` as this parameter's type if it is allowed, else raise `BadInput`."""
        try:
            value = _cast(value, self.value)
            good = allows(self.allowed, value)
        except (TypeError, ValueError):
            good = False
        if not good:
            kind = _kind(self.value)
            raise BadInput(self.name, value, self.allowed if kind in self.allowed else f"{kind}, {self.allowed}")
        return value

    def parse(self, text):
        """The same of a value written as text."""
        try:
            value = text if isinstance(self.value, str) else json.loads(text)
        except ValueError:
            value = text
        return self.check(value)


def _cast(value, like):
    """`value` with the type of `like`, a whole number as a float where that is one; else TypeError."""
    if isinstance(like, list):
        if not isinstance(value, list):
            raise TypeError
        return [_cast(each, like[0]) for each in value]
    if isinstance(like, float) and type(value) is int:
        return float(value)
    if type(value) is not type(like):
        raise TypeError
    return value


def _kind(like):
    if isinstance(like, list):
        return f"a JSON list such as {json.dumps(like)}"
    return {str: "a text", int: "a whole number", float: "a number"}[type(like)]


def declared(text):
    """Parameters of a text notebook, by name.

    Raises
    ------
    NotebookError
        A line of the parameters cell does not document its parameter, a published value is not in its own range,
        or there is no parameter `profile`.
    """
    cells = [cell for cell in jupytext.read(text).cells if "parameters" in cell.metadata.get("tags", ())]
    if len(cells) != 1:
        raise NotebookError(f"{text.name}: {len(cells)} parameters cells, not one")
    found = {}
    for line in cells[0].source.splitlines():
        match = LINE.fullmatch(line)
        if not match:
            raise NotebookError(f"{text.name}: no line `name = value  # meaning; unit; range`: {line}")
        name, value, *words = match.groups()
        found[name] = Parameter(name, ast.literal_eval(value), *words)
        try:
            found[name].check(found[name].value)
        except BadInput as error:
            raise NotebookError(f"{text.name}: {error}") from error
    if "profile" not in found:
        raise NotebookError(f"{text.name}: no parameter profile, which says at which size it runs")
    return found


def of_profile(text, profile):
    """Values that `profile` sets in a notebook: `profile` itself, and the sizes in "profiles.toml" beside the text."""
    check_choice("profile", profile, PROFILES)
    with open(text.with_name("profiles.toml"), "rb") as file:
        tables = tomllib.load(file)
    texts = sorted(path.stem for path in text.parent.glob("*.md"))
    for name, each in tables.items():  # a table that nothing reads is a slip of the pen
        check_choice("profile of profiles.toml", name, PROFILES)
        for table in each:
            check_choice(f"notebook of profile {name}", table, texts)
    return checked(text, {**tables.get(profile, {}).get(text.stem, {}), "profile": profile})


def checked(text, values):
    """Values for the parameters of a notebook, each checked; a text is parsed where the parameter is none."""
    known = declared(text)
    for name, value in values.items():
        if name not in known:
            raise BadInput(name, value, f"a parameter of the notebook {text.stem}: {', '.join(known)}")
    return {name: known[name].check(value) for name, value in values.items()}


def assigned(text, settings):
    """Values from a shell: settings "name=value"; `profile` is not among them."""
    known, values = declared(text), {}
    names = [name for name in known if name != "profile"]
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            raise BadInput("set", setting, "of the form name=value")
        if name in values:
            raise BadInput(name, value, "set once")
        if name not in names:
            raise BadInput(name, value, f"a parameter of the notebook {text.stem}: {', '.join(names) or 'it has none'}")
        values[name] = known[name].parse(value)
    return values
