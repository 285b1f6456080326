"""Figure 13: students with a value matrix.

Experiments:
    fig13: Slice at omega = 0.3, a rank-one correction of the value matrix, and the standard student on the same data.
    fig13_full: Slice at omega = 0.3, a full value matrix, whose gradient costs of order d^3, and the standard student.
"""

from attention_phases.model.architectures import STANDARD, Architecture

from ..grids import ALPHAS
from ..students import variants
from .fig10 import SLICE

VALUE, FULL_VALUE = Architecture("value"), Architecture("full_value")
variants("fig13", {"architecture": [VALUE, STANDARD]})(**SLICE)
variants("fig13_full", {"architecture": [FULL_VALUE, STANDARD]})(
    paper={"seed": range(24), "alpha": ALPHAS, "d": 200},
    laptop={"seed": range(4), "alpha": ALPHAS[::4], "d": 100},
    smoke={"seed": range(3), "alpha": ALPHAS[8::8], "d": 40},
)
