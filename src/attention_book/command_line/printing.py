"""What the book's programs print: what they do, and results for people, under any settings of Python and machine."""

import inspect
import sys
from io import TextIOWrapper

from attention_phases.measured import with_error

LONGEST_LIST = 12  # numbers that are shown of a list


def about(thing):
    """The first line of a docstring, and the rest of it as one; where Python leaves docstrings out, from the source."""
    first, _, rest = (thing.__doc__ or inspect.getsource(thing).split('"""')[1]).partition("\n")
    return first, " ".join(rest.split())


def print_anything():
    """Print as an escape, such as \\u03b1, what stdout cannot carry where the locale is not UTF-8; stderr does so."""
    if isinstance(sys.stdout, TextIOWrapper):  # not in a notebook
        sys.stdout.reconfigure(errors="backslashreplace")


def readable_text(result):
    """A line for each quantity, with its error in brackets; then tables.

    A `stderr` that names no quantity is that of the first one. A `mean`, with its errors, is the last row of the runs.
    """
    result = dict(result)
    errors = result.pop("stderr", {})
    if not isinstance(errors, dict):
        errors = {next(iter(result)): errors}
    if "mean" in result:
        mean = {name: _shown(value, errors[name]) for name, value in result.pop("mean").items()}
        result["runs"] = [*result["runs"], {"seed": "mean", **mean}]
    lists = {name: value for name, value in result.items() if isinstance(value, list)}
    tables = {name: rows for name, rows in lists.items() if rows and isinstance(rows[0], dict)}
    values = {name: _shown(value, errors.get(name)) for name, value in result.items() if name not in tables}
    values = {name: text for name, text in values.items() if text}  # no reason is none to show
    blocks = []
    if values:
        width = max(map(len, values))
        blocks.append("\n".join(f"{name:{width}} = {value}" for name, value in values.items()))
    blocks += [_table(rows) for rows in tables.values()]
    return "\n\n".join(blocks)


def _table(rows):
    """Rows (dicts) in aligned columns: words to the left, numbers to the right."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    lines = [names, *([_shown(row.get(name, "")) for name in names] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines)]
    adjusts = [str.ljust if isinstance(rows[0].get(name), str) else str.rjust for name in names]
    aligned = [[adjust(text, width) for adjust, text, width in zip(adjusts, line, widths)] for line in lines]
    return "\n".join("  ".join(line).rstrip() for line in aligned)


def _shown(value, error=None):
    """A value for people: 0.114813(83) with its error, six digits without one, matrices as "a, b; c, d"."""
    if isinstance(value, str):
        return value
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, dict):
        return ", ".join(f"{name} {_shown(entry)}" for name, entry in value.items()) or "none"
    if not isinstance(value, list | tuple):
        return with_error(value, error) if error else f"{value:.6g}"
    if len(value) > LONGEST_LIST:
        return f"{_shown(value[-1])} after {len(value)}"
    shown = [_shown(*pair) for pair in zip(value, error or [None] * len(value))]
    return ("; " if value and isinstance(value[0], list) else ", ").join(shown) or "none"
