"""Means over data sets with their errors, as columns `x` and `x_error`; differences in errors; shares of runs."""

import numpy as np
import pandas as pd


def with_errors(groups):
    """Means of grouped columns `x` with their standard errors as `x_error`, a row for each group.

    groups: a grouped frame or series, such as ``table.groupby("alpha")[["q", "m"]]``.
    """
    means, errors = groups.mean(), groups.sem()
    if isinstance(means, pd.Series):
        return pd.DataFrame({means.name: means, f"{means.name}_error": errors})
    return means.join(errors.add_suffix("_error"))


def root_mean_squares(squares):
    """Root mean squares of grouped columns `x`, which are squares already, as `x_rms` and `x_rms_error`."""
    roots = squares.mean() ** 0.5
    return roots.add_suffix("_rms").join((squares.sem() / (2 * roots)).add_suffix("_rms_error"))


def in_errors(difference, *errors):
    """Difference of two numbers over the errors of both, added in quadrature; at least one of these is > 0."""
    return difference / np.sqrt(sum(np.square(error) for error in errors))


def wilson(share, count, z=1.96):
    """Wilson's interval of a share among `count` independent runs."""
    centre = (share + z**2 / (2 * count)) / (1 + z**2 / count)
    half = z * np.sqrt(share * (1 - share) / count + z**2 / (4 * count**2)) / (1 + z**2 / count)
    return min(max(centre - half, 0.0), share), max(min(centre + half, 1.0), share)  # rounding at shares 0 and 1
