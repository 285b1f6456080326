"""Figure 7 and the left panel of Figure 3: both minima as the dimension grows.

Experiments:
    fig07: Both minima in growing dimension, at alpha = 1.5; Figure 3's left panel and Figure 7.
"""

from ..students import students


def linear_baselines(cell):
    """Return the exact test errors of two linear models that are fitted to a cell's data (see `fit_both_linear`)."""
    from attention_phases.theory.baseline import linear_test_error

    teacher, fits = fit_both_linear(cell.task, cell.alpha, cell.d, cell.rng())
    length = (teacher.double() @ teacher.double()).item() / cell.d
    return {
        name: linear_test_error(cell.task, attention, cell.d, length, positions=name != "tokens")
        for name, attention in fits.items()
    }


def fit_both_linear(task, alpha, d, rng):
    """Draw a data set, and return its teacher and two linear models that are fitted to it.

    The data set is the same as from `two_tokens.sample`.

    "tokens" is the ridge regression of the labels on xi, as in the published experiments. "tokens and positions" is the
    ridge regression on x, the input of the student.
    """
    from attention_phases.model.sentences import draw, fit_linear, labels, moments, positional_encoding

    teacher, xi, y = draw(task, alpha, d, rng)
    goal = labels(task, xi, y)
    read = {"tokens": xi, "tokens and positions": positional_encoding(task, xi)}
    return teacher, {name: fit_linear(moments(x, x), moments(goal, x)) for name, x in read.items()}


DIMENSIONS = [10, 15, 23, 36, 56, 87, 135, 209, 323, 500]
# At small d, the published gradient descent stays in the valley in which it starts, but L-BFGS may leave it.
students("fig07", {"alpha": 1.5})(
    paper={"optimizer": ["lbfgs", "gd"], "seed": range(100), "d": DIMENSIONS},
    laptop={"optimizer": "gd", "seed": range(8), "d": DIMENSIONS},
    smoke={"optimizer": "gd", "seed": range(4), "d": DIMENSIONS[:7:3]},
)
