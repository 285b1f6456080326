"""What the book's programs share: they say what they do under any settings of Python and of the machine."""

import inspect
import sys


def about(thing):
    """The first line of a docstring, also where Python leaves docstrings out (PYTHONOPTIMIZE=2): from the source."""
    return (thing.__doc__ or inspect.getsource(thing).split('"""')[1]).splitlines()[0]


def print_anything():
    """Print as an escape, such as \\u03b1, what stdout cannot carry where the locale is not UTF-8; stderr does so."""
    if hasattr(sys.stdout, "reconfigure"):  # not in a notebook
        sys.stdout.reconfigure(errors="backslashreplace")
