"""Small results whose statistics are known by hand."""

import numpy as np
import pandas as pd

ALPHAS = np.arange(0, 2.01, 0.25)


def students(omega, critical, linear, spread=0.01, **more):
    """Two instances whose mean losses cross at `critical` and mean test errors at `linear`, both falling with slope 2.

    The instances lie `spread` above and below their mean, so that the mean is exact.
    """
    rows = []
    for alpha in ALPHAS:
        for seed, sign in enumerate((1, -1)):
            same = {"omega": omega, "alpha": alpha, "seed": seed, "linear_mse": 5.0, "optimizer": "lbfgs"} | more
            away = sign * spread
            losses = {"train_loss": 1 + 2 * (critical - alpha) + away, "test_mse": 5 + 2 * (linear - alpha) + away}
            rows.append(same | losses | {"start": "semantic"})
            rows.append(same | {"start": "positional", "train_loss": 1.0, "test_mse": 9.0})
    return pd.DataFrame(rows)


def lines(rows, **more):
    """Rows of theory from (what, omega, alpha, alpha_error)."""
    return pd.DataFrame(rows, columns=["what", "omega", "alpha", "alpha_error"]).assign(**more)
