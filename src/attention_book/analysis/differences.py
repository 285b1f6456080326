"""How far two numbers are apart, counted in their errors."""

import numpy as np


def in_errors(difference, *errors):
    """Difference of two numbers over the errors of both, added in quadrature.

    Parameters
    ----------
    difference : float or array
    *errors : float or array
        Independent standard errors; at least one of them > 0.

    Returns
    -------
    float or array
    """
    return difference / np.sqrt(sum(np.square(error) for error in errors))
