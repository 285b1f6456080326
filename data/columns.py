"""What the stored tables are about, what their columns mean, and their units.

The docstring of an experiment's file, in `attention_book.experiments`, says what the experiment is about. The docstring
of a type of cells describes the columns that its tables have. Columns that several types share are described here. A
unit is in brackets: "1" for a pure number, "s" for seconds. Text and counts have none. "x_error" is the standard error
of "x". The names that may stand in a column are listed below it.

Columns:
    experiment: name of the experiment, that of the file
    cell: everything that fixes the cell, as canonical JSON: the key of the rows of one cell
    omega [1]: weight of the positional part of the teacher, in [0, 1]
    sigma [1]: standard deviation of a token's entries
    lam [1]: ridge penalty lambda on the student's weights
    matrix: positional matrix A of the teacher, as JSON
    spectrum: eigenvalue, weight, teacher and encoding of each share of the directions, as JSON
    clusters: weight, and means along encoding and teacher, of each joint choice of clusters, as JSON
    teachers: mean square of the entries of each column of the teacher, as JSON
    density [1]: share of the teacher's entries that are not zero
    l1 [1]: l1 penalty on the student's weights
    alpha [1]: sample complexity n/d: training sentences per dimension
    d: embedding dimension
    seed: number of the data set, which seeds its random draws
    optimizer: how students were trained
        - lbfgs: L-BFGS to |grad R| <= 1e-4
        - gd: full-batch gradient descent as published
        - adam: Adam
    starts: starts of the cell, as JSON; a row for each
    start: initial weights; two columns that start alike and add up are displaced by 0.1 N(0, 1)
        - semantic: the teacher's weights
        - positional: the positional encoding 1_d/sqrt(d)
        - near_semantic: the teacher's weights plus N(0, 1)
        - near_positional: the positional encoding plus 0.1 N(0, 1)
        - random: 0.1 N(0, 1)
        - mixed: the first column semantic, the second positional
        - second: the second column of the teacher
        - encoding: 0.3 times 1_d
    form: form of the student
    tokens: length of a sentence
    correlation [1]: of the entries of any two tokens of a sentence
    noise [1]: standard deviation of the noise on the starts
    count: starts on one data set
    alphas: all values of alpha of the cell, as JSON
    branches: branches of the cell, as JSON
    points: quadrature points of a scramble
    scrambles: independent scrambles of the quadrature, from which its error bars come
    q [1]: sigma^2 |Q|^2/d, size of the student; with two columns the trace
    m [1]: Q.p/sqrt(d), overlap with p, the positional encoding of a token of mark 1 (1_d/sqrt(d) in the paper); with
        two columns the norm over them
    theta [1]: sigma^2 Q.Q*/d, overlap with the teacher; with two columns the norm over them
    V [1]: response of a field, sigma^2 chi
    q_11 [1]: Q_1.Q_1/d of two columns, without sigma^2
    q_12 [1]: Q_1.Q_2/d of two columns, without sigma^2
    q_22 [1]: Q_2.Q_2/d of two columns, without sigma^2
    m_1 [1]: Q_1.p/sqrt(d) of column 1
    m_2 [1]: Q_2.p/sqrt(d) of column 2
    theta_1 [1]: Q_1.Q*/d of column 1, without sigma^2
    theta_2 [1]: Q_2.Q*/d of column 2, without sigma^2
    teacher_1 [1]: W^T Sigma Q*/d with column 1 of the teacher, the norm over the student's
    teacher_2 [1]: W^T Sigma Q*/d with column 2 of the teacher, the norm over the student's
    train_loss [1]: training loss R/d, the penalty included (Eq. 14)
    test_mse [1]: test error epsilon_g (Eq. 10), an expectation given the weights or in the limit of theory
    linear_mse [1]: test error of the linear model fitted to the same data
    grad_norm [1]: |grad R| where training stopped
    steps: gradient evaluations of the training; of a cell: iterations, or those after which is measured
    seconds [s]: wall time of the training; students trained together share it equally
    replicon [1]: Lambda: by which a step multiplies the squared size of a perturbation, jumps left out (Appendix B.5)
    gain [1]: by which a step multiplies overlaps that the branch holds at zero; above 1 a saddle
    length [1]: control variate |Q*|^2/d - 1; with structure Q*^T Sigma Q*/d over its limit, minus 1
    reason: why the search for a solution failed, or why there is none beyond an end, or that the end did not settle;
        empty where it converged
    quantity: what is compared
        - linear_mse: test error of a linear model that reads the tokens alone
        - test_mse
        - train_loss
        - q: of theory
        - V: of theory
        - m: absolute value
        - theta: absolute value
        - m^2: summed over two columns of weights
        - theta^2: summed over two columns of weights
        - critical: alpha_c, where the training losses of both branches cross
        - linear: alpha_l, where the semantic test error meets that of the linear model
    step: of gradient descent, counted from the start
    number: of the start; in a valley 0 has no noise
    version: of this package
    commit: of this repository; "+changes" where the code differed from it
    python: version of Python
    numpy: version of NumPy
    torch: version of PyTorch
    cpu: model of the processor
    platform: operating system
    accelerator: GPU, where one was used
    cell_seconds [s]: time of the whole cell
    finished: when the cell was done, ISO 8601 in UTC
"""

import re
from collections.abc import Mapping
from importlib import import_module
from inspect import cleandoc
from pkgutil import walk_packages
from textwrap import dedent
from typing import NamedTuple

from attention_book import experiments
from attention_phases.errors import ResultError
from attention_phases.model.architectures import FORMS

ENTRY = re.compile(r"^(\w+)(?: \[(.+?)\])?: (.+(?:\n .+)*)", re.MULTILINE)  # name, unit, and lines about it


class Column(NamedTuple):
    """A column of the stored results."""

    meaning: str
    unit: str = ""  #: as in the Unified Code for Units of Measure, empty for text and counts
    names: Mapping[str, str] = {}  #: every name that may stand in a column of names, with its meaning


def entries_in(docstring, heading="Columns"):
    """Return each `Column` by its name that a docstring describes below a heading."""
    section = cleandoc(docstring).partition(f"\n{heading}:\n")[2].partition("\n\n")[0]
    columns = {}
    for name, unit, about in ENTRY.findall(dedent(section)):
        meaning, *listed = (" ".join(part.split()) for part in re.split(r"\n +- ", about))
        columns[name] = Column(
            meaning, unit, {name: text for name, _, text in (entry.partition(": ") for entry in listed)}
        )
    return columns


def own_columns(cell_type):
    """Return the columns that only tables of a type of cells have, or that mean something else there."""
    docstrings = [base.__doc__ or "" for base in reversed(cell_type.__mro__)]
    return {name: column for docstring in docstrings for name, column in entries_in(docstring).items()}


def abouts():
    """Return what each experiment is about, by its name."""
    files = [import_module(file.name) for file in walk_packages(experiments.__path__, f"{experiments.__name__}.")]
    found = {name: about for file in files for name, about in entries_in(file.__doc__ or "", "Experiments").items()}
    return {name: about.meaning for name, about in found.items()}


COLUMNS = entries_in(__doc__)
COLUMNS["form"] = COLUMNS["form"]._replace(names={name: form.about for name, form in FORMS.items()})


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
    raise ResultError(
        f'column {name!r}: say its meaning and unit under "Columns:" in the docstring of its cells, or of'
        " data/columns.py"
    )
