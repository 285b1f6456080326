"""Figure 13: students with a value matrix."""

from attention_phases.measured import UNKNOWN

from ..analysis.instances import GAPS
from ..analysis.thresholds import crossing


def trained_thresholds(table, rng):
    """`Measured` alpha of "critical" and "linear" where means of trained students cross, NaN where they do not."""
    crossed = {kind: crossing(gap(table), rng) for kind, gap in GAPS.items()}
    return {kind: alpha if alpha.error > 0 else UNKNOWN for kind, alpha in crossed.items()}
