"""Claims of the page `fig10_correlated` about the stored results."""

import numpy as np

from attention_phases.model.architectures import CORRELATION
from claims import ENDS, each_holds, line, load


def correlated_off():
    """Return the relative difference between the test errors of students and theory beyond alpha = 1.8."""
    lines, table, off = load("fig10_theory", correlation=0.3), load("fig10"), []
    for branch in ENDS:
        theory = lines[lines["what"] == branch].set_index("alpha")["test_mse"].sort_index()
        means = table[(table["start"] == branch) & (table["alpha"] > 1.8)].groupby("alpha")["test_mse"].mean()
        off.extend(means / np.exp(np.interp(means.index, theory.index, np.log(theory))) - 1)
    return np.array(off)


CLAIMS = {
    r"correlated tokens swap the thresholds": lambda: (
        line("fig10_theory", "linear", correlation=0.3).item()
        < line("fig10_theory", "critical", correlation=0.3).item()
        and line("fig02_theory", "critical").item() < line("fig02_theory", "linear").item()
    ),
    r"have correlation 0.3, and nothing else changes": lambda: CORRELATION == 0.3,
    r"within five per cent of the lines and mostly above them": lambda: (
        abs(correlated_off()).max() < 0.05 and (correlated_off() > 0).mean() > 0.7
    ),
}
test_claims = each_holds("fig10_correlated", CLAIMS)
