"""What the columns that several kinds of stored results share mean, and their units.

Those of one kind are beside its cells, in `attention_book.experiments`. "x_error" is the standard error of "x".
"""

from attention_book.experiments.kinds import RATIO, Column
from attention_book.experiments.lines import BOTH_THRESHOLDS
from attention_phases.errors import ResultError
from attention_phases.model.architectures import FORMS

STARTS = {
    "semantic": "the teacher's weights",
    "positional": "the positional encoding 1_d/sqrt(d)",
    "near_semantic": "the teacher's weights plus N(0, 1)",
    "near_positional": "the positional encoding plus 0.1 N(0, 1)",
    "random": "0.1 N(0, 1)",
    "mixed": "the first column semantic, the second positional",
    "second": "the second column of the teacher",
    "encoding": "0.3 times 1_d",
}
OPTIMIZERS = {
    "lbfgs": "L-BFGS to |grad R| <= 1e-4",
    "gd": "full-batch gradient descent as published",
    "adam": "Adam",
}
COLUMNS = {
    # what fixes a cell
    "experiment": Column("name of the experiment, that of the file"),
    "cell": Column("everything that fixes the cell, as canonical JSON: the key of the rows of one cell"),
    "omega": Column("weight of the positional part of the teacher, in [0, 1]", RATIO),
    "sigma": Column("standard deviation of a token's entries", RATIO),
    "lam": Column("ridge penalty lambda on the student's weights", RATIO),
    "matrix": Column("positional matrix A of the teacher, as JSON"),
    "spectrum": Column("eigenvalue, weight, teacher and encoding of each share of the directions, as JSON"),
    "clusters": Column("weight, and means along encoding and teacher, of each joint choice of clusters, as JSON"),
    "teachers": Column("mean square of the entries of each column of the teacher, as JSON"),
    "density": Column("share of the teacher's entries that are not zero", RATIO),
    "l1": Column("l1 penalty on the student's weights", RATIO),
    "alpha": Column("sample complexity n/d: training sentences per dimension", RATIO),
    "d": Column("embedding dimension"),
    "seed": Column("number of the data set, which seeds its random draws"),
    "optimizer": Column("how students were trained", names=OPTIMIZERS),
    "starts": Column("starts of the cell, as JSON; a row for each"),
    "start": Column(
        "initial weights; two columns that start alike and add up are displaced by 0.1 N(0, 1)", names=STARTS
    ),
    "form": Column("form of the student", names={name: form.about for name, form in FORMS.items()}),
    "tokens": Column("length of a sentence"),
    "correlation": Column("of the entries of any two tokens of a sentence", RATIO),
    "noise": Column("standard deviation of the noise on the starts", RATIO),
    "count": Column("starts on one data set"),
    "alphas": Column("all values of alpha of the cell, as JSON"),
    "branches": Column("branches of the cell, as JSON"),
    "points": Column("quadrature points of a scramble"),
    "scrambles": Column("independent scrambles of the quadrature, from which its error bars come"),
    # overlaps and losses
    "q": Column("sigma^2 |Q|^2/d, size of the student; with two columns the trace", RATIO),
    "m": Column(
        "Q.p/sqrt(d), overlap with p, the positional encoding of a token of mark 1 (1_d/sqrt(d) in the paper);"
        " with two columns the norm over them",
        RATIO,
    ),
    "theta": Column("sigma^2 Q.Q*/d, overlap with the teacher; with two columns the norm over them", RATIO),
    "V": Column("response of a field, sigma^2 chi", RATIO),
    **{f"q_{i}{j}": Column(f"Q_{i}.Q_{j}/d of two columns, without sigma^2", RATIO) for i, j in ("11", "12", "22")},
    **{f"m_{i}": Column(f"Q_{i}.p/sqrt(d) of column {i}", RATIO) for i in "12"},
    **{f"theta_{i}": Column(f"Q_{i}.Q*/d of column {i}, without sigma^2", RATIO) for i in "12"},
    **{
        f"teacher_{i}": Column(f"W^T Sigma Q*/d with column {i} of the teacher, the norm over the student's", RATIO)
        for i in "12"
    },
    "train_loss": Column("training loss R/d, the penalty included (Eq. 14)", RATIO),
    "test_mse": Column(
        "test error epsilon_g (Eq. 10), an expectation given the weights or in the limit of theory", RATIO
    ),
    "linear_mse": Column("test error of the linear model fitted to the same data", RATIO),
    "grad_norm": Column("|grad R| where training stopped", RATIO),
    "steps": Column("gradient evaluations of the training; of a cell: iterations, or those after which is measured"),
    "seconds": Column("wall time of the training; students trained together share it equally", "s"),
    "replicon": Column(
        "Lambda: by which a step multiplies the squared size of a perturbation, jumps left out (Appendix B.5)", RATIO
    ),
    "gain": Column("by which a step multiplies overlaps that the branch holds at zero; above 1 a saddle", RATIO),
    # control variates
    "length": Column("control variate |Q*|^2/d - 1; with structure Q*^T Sigma Q*/d over its limit, minus 1", RATIO),
    # comparisons with the paper
    "reason": Column(
        "why the search for a solution failed, or why there is none beyond an end, or that the end did not settle;"
        " empty where it converged"
    ),
    "quantity": Column(
        "what is compared",
        names={
            "linear_mse": "test error of a linear model that reads the tokens alone",
            **dict.fromkeys(("test_mse", "train_loss"), ""),
            **dict.fromkeys(("q", "V"), "of theory"),
            **{name: "absolute value" for name in ("m", "theta")},
            **{f"{name}^2": "summed over two columns of weights" for name in ("m", "theta")},
            **BOTH_THRESHOLDS,
        },
    ),
    # many starts
    "step": Column("of gradient descent, counted from the start"),
    "number": Column("of the start; in a valley 0 has no noise"),
    # how it was computed
    "version": Column("of this package"),
    "commit": Column('of this repository; "+changes" where the code differed from it'),
    "python": Column("version of Python"),
    "numpy": Column("version of NumPy"),
    "torch": Column("version of PyTorch"),
    "cpu": Column("model of the processor"),
    "platform": Column("operating system"),
    "accelerator": Column("GPU, where one was used"),
    "cell_seconds": Column("time of the whole cell", "s"),
    "finished": Column("when the cell was done, ISO 8601 in UTC"),
}


def described(name, own):
    """Return the `Column` of a stored column; `ResultError` if nothing is known of it.

    name: of the column; "x_error" is the standard error of "x".
    own: columns that only tables of this kind have, or that mean something else there.
    """
    known = own.get(name) or COLUMNS.get(name)
    if known:
        return known
    if name.endswith("_error"):
        value = name.removesuffix("_error")
        return Column(f"standard error of {value}", described(value, own).unit)
    raise ResultError(f"column {name!r}: say its meaning and unit beside its cells, or in COLUMNS of data/columns.py")
