"""Thresholds on the published kind of quadrature, 144 points, beside the published and the converged ones."""

import numpy as np
import pandas as pd

from .. import published
from ..analysis.lines import curve

WAYS = ("rule", "exact", "theory")


def by_omega(table, lines):
    """Every published threshold, and what the rule of `theory.published_rule` gives for it.

    Parameters
    ----------
    table : pandas.DataFrame
        The experiment "published_rule".
    lines : pandas.DataFrame
        Rows of `theory.theory_line`. Their thresholds are the better known ones, where they have this omega.

    Returns
    -------
    pandas.DataFrame
        `threshold`, `omega`, `published_alpha`; `rule`, everything on the 144 points; `exact`, only the overlaps on the
        144 points, their losses exact; `theory` with `theory_error`. NaN where the rule has no crossing near theory's.
    """
    better = {kind: curve(lines, kind) for kind in published.THRESHOLDS}

    def theory(row):
        at = better[row.what]
        return (row.alpha, row.alpha_error) if row.omega not in at.index else at.loc[row.omega]

    rows = [
        {
            "threshold": row.what,
            "omega": row.omega,
            "published_alpha": published.THRESHOLDS[row.what][row.omega].value,
            "rule": row.rule,
            "exact": row.exact,
            **dict(zip(("theory", "theory_error"), theory(row))),
        }
        for row in table.itertuples()
        if row.omega in published.THRESHOLDS[row.what]
    ]
    return pd.DataFrame(rows).sort_values(["threshold", "omega"], ignore_index=True)


def off(frame):
    """Root mean square differences of each way to compute a threshold from the published values.

    Parameters
    ----------
    frame : pandas.DataFrame
        From `by_omega`.

    Returns
    -------
    pandas.DataFrame
        By `threshold`: `count`, the number of omega that all ways have, and `rule_off`, `exact_off`, `theory_off`.
    """
    rows = []
    for name, each in frame.dropna(subset=list(WAYS)).groupby("threshold"):
        squares = {f"{way}_off": np.mean((each[way] - each["published_alpha"]) ** 2) ** 0.5 for way in WAYS}
        rows.append({"threshold": name, "count": len(each), **squares})
    return pd.DataFrame(rows)
