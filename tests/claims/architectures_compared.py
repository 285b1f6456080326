"""Claims of the page `architectures_compared` about the stored results."""

import numpy as np

from attention_phases import Task
from attention_phases.model.architectures import CORRELATION, Architecture
from claims import each_holds, stored

page = stored("architectures_compared")


def compared_off():
    """Return the differences between students and theory in standard errors, by architecture and quantity."""
    return page.rows.set_index(["architecture", "quantity"])["sigma_off"]


CLAIMS = {
    r"matrix $A$ has 0.6 on its diagonal, and the other entries of each row share 0.4 equally": lambda: np.allclose(
        Architecture(tokens=4).attention(Task()), 0.6 * np.eye(4) + 0.4 / 3 * (1 - np.eye(4))
    ),
    r"This spacing, this matrix and the correlation 0.3 are our choices": lambda: CORRELATION == 0.3,
    r"all differences between students and theory are within one and a half standard errors": lambda: all(
        off.abs().max() < 1.55 for name, off in compared_off().groupby("architecture") if "token" in name
    ),
    r"teacher and the training losses are smaller than in theory, and the test errors are larger": lambda: all(
        (off if quantity == "test_mse" else -off).min() > 0.9
        for quantity in ("theta_1", "train_loss", "test_mse")
        for off in [compared_off().xs(quantity, level="quantity")[["rank 2", "untied queries and keys"]]]
    ),
}
test_claims = each_holds("architectures_compared", CLAIMS)
