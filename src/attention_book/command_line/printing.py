"""Functions that format and print text, whatever the encoding of stdout is."""

import inspect
import sys
from io import TextIOWrapper

from attention_phases.measured import with_error


def docstring_of(thing):
    """Return the first line of a docstring, and its other lines joined into one line.

    If Python runs without docstrings, they are read from the source.
    """
    first, _, rest = (thing.__doc__ or inspect.getsource(thing).split('"""')[1]).partition("\n")
    return first, " ".join(rest.split())


def print_anything():
    """Make stdout escape the characters that it cannot encode, as stderr does.

    The Greek letter alpha is then printed as \\u03b1.
    """
    if isinstance(sys.stdout, TextIOWrapper):  # notebooks have a different stdout
        sys.stdout.reconfigure(errors="backslashreplace")


def readable_text(result):
    """Format a result as text: first a line for each quantity, then the tables.

    The first line also has the standard error `stderr`.
    """
    result = dict(result)
    if error := result.pop("stderr", None):
        first = next(iter(result))
        result[first] = with_error(result[first], error)
    tables = {name: rows for name, rows in result.items() if isinstance(rows, list) and isinstance([*rows, 0][0], dict)}
    values = {name: _value_text(value) for name, value in result.items() if name not in tables}
    width = max(map(len, values), default=0)
    lines = "\n".join(f"{name:{width}} = {value}" for name, value in values.items())
    return "\n\n".join(filter(None, [lines, *map(_table, tables.values())]))


def _table(rows):
    """Format dicts with the same keys as the rows of a text table, with numbers aligned to the right."""
    lines = [[*rows[0]], *([_value_text(value) for value in row.values()] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines)]
    adjusts = [str.ljust if isinstance(value, str | list | tuple) else str.rjust for value in rows[0].values()]
    aligned = [[adjust(text, width) for adjust, text, width in zip(adjusts, line, widths)] for line in lines]
    return "\n".join("  ".join(line).rstrip() for line in aligned)


def _value_text(value):
    """Format a value as readable text: numbers with six digits, matrices as "a, b; c, d"."""
    if value is None:
        return "none"
    if isinstance(value, str | int):
        return str(value)
    if isinstance(value, dict):
        return ", ".join(f"{name} {_value_text(entry)}" for name, entry in value.items()) or "none"
    if isinstance(value, list | tuple):
        return ("; " if value and isinstance(value[0], list) else ", ").join(map(_value_text, value)) or "none"
    return f"{value:.6g}"
