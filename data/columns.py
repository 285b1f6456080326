"""The descriptions of the stored tables, of their columns and of the units of the columns.

The docstring of an experiment's file, in `attention_book.experiments`, describes the experiment. The docstring of a
type of cells describes the columns of its tables. Columns that several types share are described here. A unit is in
brackets: "1" for a pure number, "s" for seconds. Text and counts have no unit. "x_error" is the standard error of "x".
If a column has names, they are listed below it.

Columns:
    experiment: name of the experiment and of its file
    cell: everything that defines the cell, as canonical JSON; it is the key of the cell's rows
    omega [1]: weight of the positional part of the teacher, in [0, 1]
    sigma [1]: standard deviation of a token's entries
    lam [1]: ridge penalty lambda on the student's weights
    matrix: positional matrix A of the teacher, as JSON
    spectrum: eigenvalue, weight, teacher and encoding for each share of the directions, as JSON
    clusters: weight, and means along encoding and teacher, for each joint choice of clusters, as JSON
    teachers: mean square of the entries of each column of the teacher, as JSON
    density [1]: share of the teacher's entries that are not zero
    l1 [1]: l1 penalty on the student's weights
    alpha [1]: sample complexity n/d: training sentences per dimension
    d: embedding dimension
    seed: number of the data set, which seeds its random numbers
    optimizer: training method of the students
        - lbfgs: L-BFGS to |grad R| <= 1e-4
        - gd: full-batch gradient descent as published
        - adam: Adam
    starts: starts of the cell, as JSON; each has a row
    start: initial weights; two columns whose scores are added and that would start equal are displaced by 0.1 N(0, 1)
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
    correlation [1]: correlation between the entries of any two tokens of a sentence
    noise [1]: standard deviation of the noise on the starts
    count: number of starts on one data set
    alphas: all values of alpha of the cell, as JSON
    branches: branches of the cell, as JSON
    points: quadrature points per scramble
    scrambles: number of independent scrambles of the quadrature, which give its error bars
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
    steps: gradient evaluations of the training; for a cell, iterations, or numbers of steps after which is measured
    seconds [s]: wall time of the training; students trained together share it equally
    replicon [1]: Lambda: factor of a perturbation's squared size in one step, without jumps (Appendix B.5)
    gain [1]: factor of the overlaps that vanish on the branch, in one step; the branch is a saddle if it exceeds 1
    length [1]: control variate |Q*|^2/d - 1; with structure, Q*^T Sigma Q*/d divided by its limit, minus 1
    reason: reason why the search for a solution failed, why there is no solution beyond an end, or why the end is known
        only to one step; empty if the search converged
    quantity: quantity that is compared
        - linear_mse: test error of a linear model that reads only the tokens
        - test_mse
        - train_loss
        - q: only for theory
        - V: only for theory
        - m: absolute value
        - theta: absolute value
        - m^2: summed over two columns of weights
        - theta^2: summed over two columns of weights
        - critical: alpha_c, where the training losses of both branches cross
        - linear: alpha_l, where the semantic test error crosses the test error of the linear model
    step: number of steps of gradient descent after the start
    number: number of the start; in a valley, start 0 has no noise
    version: version of this package
    commit: commit of this repository; "+changes" if the code differed from it
    python: version of Python
    numpy: version of NumPy
    torch: version of PyTorch
    cpu: model of the processor
    platform: operating system
    accelerator: GPU, if one was used
    cell_seconds [s]: wall time of the whole cell
    finished: time at which the cell was finished, ISO 8601 in UTC
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

ENTRY = re.compile(r"^(\w+)(?: \[(.+?)\])?: (.+(?:\n .+)*)", re.MULTILINE)  # name, unit and description


class Column(NamedTuple):
    """The description of a column of the stored results."""

    meaning: str
    unit: str = ""  #: a code of the Unified Code for Units of Measure; empty for text and counts
    names: Mapping[str, str] = {}  #: meaning of every name that can occur in the column


def entries_in(docstring, heading="Columns"):
    """Return each `Column` that a docstring describes below a heading, by name."""
    section = cleandoc(docstring).partition(f"\n{heading}:\n")[2].partition("\n\n")[0]
    columns = {}
    for name, unit, about in ENTRY.findall(dedent(section)):
        meaning, *listed = (" ".join(part.split()) for part in re.split(r"\n +- ", about))
        columns[name] = Column(meaning, unit, {entry.partition(": ")[0]: entry.partition(": ")[2] for entry in listed})
    return columns


def own_columns(cell_type):
    """Return every `Column` that the docstrings of a type of cells and of its base classes describe, by name."""
    docstrings = [base.__doc__ or "" for base in reversed(cell_type.__mro__)]
    return {name: column for docstring in docstrings for name, column in entries_in(docstring).items()}


def abouts():
    """Return a description of each experiment, by name."""
    files = [import_module(file.name) for file in walk_packages(experiments.__path__, f"{experiments.__name__}.")]
    found = {name: about for file in files for name, about in entries_in(file.__doc__ or "", "Experiments").items()}
    return {name: about.meaning for name, about in found.items()}


COLUMNS = entries_in(__doc__)
COLUMNS["form"] = COLUMNS["form"]._replace(names={name: form.about for name, form in FORMS.items()})


def column_of(name, own):
    """Return the `Column` of a stored column, or raise `ResultError` if it is not described.

    name: name of the column; "x_error" is the standard error of "x".
    own: columns that only tables of this kind have, or that have another meaning there.
    """
    known = own.get(name) or COLUMNS.get(name)
    if known:
        return known
    if name.endswith("_error"):
        value = name.removesuffix("_error")
        return Column(f"standard error of {value}", column_of(value, own).unit)
    raise ResultError(
        f'column {name!r}: describe its meaning and unit under "Columns:" in the docstring of its cells, or of'
        " data/columns.py"
    )
