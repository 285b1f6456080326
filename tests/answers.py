"""Answers of commands, read strictly in the format that they claim to have."""

import json

import pytest


def only_object(text):
    """Return the only JSON object in `text`, which must obey the standard."""
    assert text.endswith("}\n") and text.count("\n") == 1
    return json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
