"""A wrong argument of the library or of its drawing functions raises a one-line error that names the argument."""

from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import torch
from cases import cases

import attention_phases
from attention_book import grid, style, sweep
from attention_phases import BadInput, Task, data_set
from attention_phases.amp.recovery import recover
from attention_phases.beyond.one_step.solution import one_step
from attention_phases.beyond.optimal import optimal
from attention_phases.histogram import parse_letters
from attention_phases.model import two_tokens
from attention_phases.records import canonical
from attention_phases.training.optimizers import start_weights

OWN = data_set(Task(omega=0.3), 1.0, 20)


def of_risk(change):
    """Return a risk that is compiled as usual but has another gradient."""

    def risk(data, weights, lam):
        values, gradient = two_tokens.risk(data, weights, lam)
        return values, change(gradient, weights)

    return risk


NAMES = {name: getattr(attention_phases, name) for name in dir(attention_phases)}
NAMES |= {"one_step": one_step, "optimal": optimal, "recover": recover, "start_weights": start_weights}
NAMES |= {"canonical": canonical, "grid": grid, "parse_letters": parse_letters}
NAMES |= {"np": np, "plt": plt, "torch": torch, "style": style, "sweep": sweep, "SimpleNamespace": SimpleNamespace}
NAMES |= {"TASK": OWN.task, "OWN": OWN, "START": OWN.teacher[None], "two_tokens": two_tokens, "of_risk": of_risk}
NAMES |= {"OVERLAPS": {"q": 0.1, "m": 0.0, "theta": 0.0}}
NAMES |= {"ROWS": pd.DataFrame({"q": [0.1], "q_error": [0.01], "m": [1.0]})}


@pytest.mark.parametrize(("call", "said"), cases("refused"))
def test_what_is_wrong_is_refused_in_one_line_that_names_it(call, said):
    with pytest.raises(BadInput) as caught:
        eval(call, {**NAMES})
    assert str(caught.value).startswith(said) and "\n" not in str(caught.value)
    plt.close("all")
