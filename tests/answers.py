"""What commands print, read by the letter of their format."""

import json

import pytest


def only_object(text):
    """The one JSON object that `text` is, by the letter of the standard."""
    assert text.endswith("}\n") and text.count("\n") == 1
    return json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
