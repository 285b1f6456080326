"""Means over data sets with their errors, as columns `x` and `x_error`."""

import pandas as pd


def with_errors(groups):
    """Means of grouped columns `x` with their standard errors as `x_error`, a row for each group.

    groups: a grouped frame or series, such as ``table.groupby("alpha")[["q", "m"]]``.
    """
    means, errors = groups.mean(), groups.sem()
    if isinstance(means, pd.Series):
        return pd.DataFrame({means.name: means, f"{means.name}_error": errors})
    return means.join(errors.add_suffix("_error"))
