"""The values of the option --set: settings of the form "name=value"."""

import ast

from attention_phases.errors import BadInput


def texts_of(settings):
    """Split settings of the form "name=value" into a dictionary of strings."""
    values = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            raise BadInput("set", setting, "of the form name=value")
        if name in values:
            raise BadInput(f"{name} is set more than once")
        values[name] = value
    return values


def parse_value(text):
    """Parse a string as a Python literal or as a matrix "a,b;c,d", or else return it unchanged."""
    try:
        if ";" in text:
            return [ast.literal_eval(f"[{row}]") for row in text.split(";")]
        return ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):  # errors that `literal_eval` may raise
        return text
