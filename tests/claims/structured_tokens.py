"""Claims of the page `structured_tokens` about the stored results."""

import numpy as np
import pandas as pd

from attention_phases import Task
from claims import each_holds, load, stored

page = stored("structured_tokens")


def value_powers_off(power):
    """Return the powers of d with which a value matrix's gain falls minus a given power, in standard errors."""
    powers = page.powers
    return pd.Series({start: (found - power) / error for start, (found, error) in powers.items()})


def two_columns_end_by_their_start():
    """Return whether start decides, for two teachers and rank 2, if m or the weak column remains from alpha = 3 on."""
    rows = load("two_teachers", form="rank2", d=1000).query("alpha >= 3")
    of_positions = rows["m"].abs() / Task().sigma ** 2 > 0.5
    of_second = rows["teacher_2"].abs() / (0.5 * Task().sigma ** 2) > 0.5
    lines = load("two_teachers_theory", form="rank2").query("what in ('semantic', 'both')")
    return (
        (of_second == (rows["start"] == "semantic")).all()
        and (of_positions == ~of_second).all()
        and set(rows["alpha"]) == {3.0, 4.0, 5.0}
        and lines.groupby("what", observed=True)["alpha"].apply(set).tolist() == [{3.0, 4.0, 5.0}] * 2
    )


CLAIMS = {
    r"Below a flatness of about 0.75 such a teacher is found without a jump": lambda: (
        (jumps := page.even_teachers["critical"].notna()).loc[:0.75].all()
        and not jumps.loc[0.72:].any()
        and len(jumps) == 11
    ),
    r"Over all exponents $a$ and all $K$, each threshold rises with the flatness": lambda: all(
        page.even_teachers[kind].dropna().is_monotonic_decreasing for kind in ("critical", "linear")
    ),
    r"the flatness tends to $(1-a)e^a$ for $a<1$": lambda: all(
        abs(np.exp(-a * np.log(k).mean()) / (k**-a).mean() / ((1 - a) * np.exp(a)) - 1) < 0.03
        for k in [np.arange(1.0, 1e6)]
        for a in (0.25, 0.5, 0.75)
    ),
    r"At $\alpha=3$, 4 and 5 theory has both minima, and the start of a student decides in which of them it ends": (
        two_columns_end_by_their_start
    ),
    r"The penalty also moves $\alpha_c$. The $\alpha_c$ of students is within": lambda: (
        len(penalties := page.penalties) == 4 and penalties["trained_critical"].notna().all()
    ),
    r"A scaling argument gives $p=-1$": lambda: (
        value_powers_off(-1).abs().max() < 2.5 and value_powers_off(-0.5).max() < -4 and len(value_powers_off(-1)) == 2
    ),
}
test_claims = each_holds("structured_tokens", CLAIMS)
