"""What every column of the stored results means, and its unit.

A column `x_error` is the standard error of `x`.
"""

from dataclasses import dataclass, field

import authors_tables

from attention_book.experiments import cells
from attention_phases.errors import ResultError
from attention_phases.model.architectures import FORMS

RATIO = "1"  # the unit of a pure number, as in the Unified Code for Units of Measure


@dataclass(frozen=True)
class Column:
    """A column of the stored results.

    unit: "1" for a pure number, "s" for seconds, empty for text and counts
    names: every name that may stand in a column of names, with its meaning
    """

    meaning: str
    unit: str = ""
    names: dict = field(default_factory=dict)


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
BRANCHES = {name: f"the {name} branch or valley" for name in ("semantic", "positional")}
THRESHOLDS = {
    "critical": "alpha_c, where the training losses of both branches cross",
    "linear": "alpha_l, where the semantic test error meets that of the linear model",
}
OPTIMIZERS = {
    "lbfgs": "L-BFGS to |grad R| <= 1e-4",
    "gd": "full-batch gradient descent as published",
    "adam": "Adam",
}
SEARCHES = {
    "descent": "L-BFGS from the start",
    "hop": "from the end of that by way of single sentences",
    "anneal": "from the end of that by Langevin descent",
}
SPANS = {
    "start to trained": "by Adam",
    "trained to displaced": "by the noise",
    "displaced to final": "by SGD",
    "trained to final": "by noise and SGD",
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
    "slip": Column("what is wrong on purpose: 4,500 steps of gradient descent, or a rate of 0.1"),
    "starts": Column("starts of the cell, as JSON; a row for each"),
    "start": Column(
        "initial weights; two columns that start alike and add up are displaced by 0.1 N(0, 1)", names=STARTS
    ),
    "form": Column("form of the student", names={name: form.about for name, form in FORMS.items()}),
    "tokens": Column("length of a sentence"),
    "correlation": Column("of the entries of any two tokens of a sentence", RATIO),
    "valley": Column("valley around which the starts are", names=BRANCHES),
    "noise": Column("standard deviation of the noise on the starts", RATIO),
    "count": Column("starts on one data set"),
    "alphas": Column("all values of alpha of the cell, as JSON"),
    "branches": Column("branches of the cell, as JSON"),
    "branch": Column("branch of theory", names=BRANCHES),
    "points": Column("quadrature points of a scramble"),
    "scrambles": Column("independent scrambles of the quadrature, from which its error bars come"),
    "variant": Column("which part of the transformer is frozen at first", names=dict.fromkeys(BRANCHES, "")),
    # overlaps and losses
    "q": Column("sigma^2 |Q|^2/d, size of the student; with two columns the trace", RATIO),
    "squared_cosine": Column("squared cosine of the weights with the teacher", RATIO),
    "converged": Column("whether the iteration stands still, or knows the teacher"),
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
    "tested": Column("what differs in the task that is tested, as JSON: names and values"),
    "tested_mse": Column("test error on that task, the mean over 4,000 sentences of it", RATIO),
    "tested_linear_mse": Column("the same of the linear model fitted to the student's data", RATIO),
    "grad_norm": Column("|grad R| where training stopped", RATIO),
    "steps": Column("gradient evaluations of the training; of a cell: iterations, or those after which is measured"),
    "seconds": Column("wall time of the training; students trained together share it equally", "s"),
    "replicon": Column(
        "Lambda: by which a step multiplies the squared size of a perturbation, jumps left out (Appendix B.5)", RATIO
    ),
    "gain": Column("by which a step multiplies overlaps that the branch holds at zero; above 1 a saddle", RATIO),
    # control variates
    "length": Column("control variate |Q*|^2/d - 1; with structure Q*^T Sigma Q*/d over its limit, minus 1", RATIO),
    "blind": Column("control variate: misfit of a student with zero weights, less its mean", RATIO),
    "encoded": Column("control variate: misfit of a student along the encoding, less its mean", RATIO),
    # comparisons with the paper
    "reason": Column(
        "why the search for a solution failed, or why there is none beyond an end, or that the end did not settle;"
        " empty where it converged"
    ),
    "figure": Column("of the paper, which shows the cell or its like"),
    "quantity": Column(
        "what is compared",
        names={
            "linear_mse": "test error of a linear model that reads the tokens alone",
            **dict.fromkeys(("test_mse", "train_loss"), ""),
            **dict.fromkeys(("q", "V"), "of theory"),
            **{name: "absolute value" for name in ("m", "theta")},
            **{f"{name}^2": "summed over two columns of weights" for name in ("m", "theta")},
            **THRESHOLDS,
        },
    ),
    "ours": Column("our value: the mean over data sets, a threshold of these means, or theory", RATIO),
    "instances": Column("number of our data sets behind the mean", RATIO),
    "z": Column("ours minus published, as a standard normal number if both estimate the same", RATIO),
    "away": Column("ours minus published theory, over the largest value along both curves", RATIO),
    # many starts
    "step": Column("of gradient descent, counted from the start"),
    "across": Column("students along each side of the plane"),
    "number": Column("of the start; in a valley 0 has no noise"),
    "minimum": Column("which of the distinct ends of its data set a student has"),
    "nearest": Column("distance to the nearest other end, over the size of both", RATIO),
    "aligned": Column("|cosine| with the end of the next start", RATIO),
    # where descent stays
    "sizes": Column("standard deviations of the small random weights that descent starts from, as JSON"),
    "hints": Column("sizes of the teacher that are added to a start, as JSON"),
    "leg": Column("after which part of the way down the student is measured, from 1"),
    "hint": Column("size of the teacher that is added to the start", RATIO),
    "kicks": Column("sizes by which the positional end is displaced, as JSON"),
    "size": Column("standard deviation of the small random weights, or by how much the end was displaced", RATIO),
    "same": Column("|cosine| with the end of L-BFGS from the encoding, on the same data", RATIO),
    "softest": Column("smallest eigenvalue of the Hessian of R", RATIO),
    "leaning": Column("squared cosine of the teacher with the span of the eight softest directions", RATIO),
    "stiff_teacher": Column("force along the teacher over the shift along it that this causes", RATIO),
    "stiff_any": Column("the same of a direction on average: the harmonic mean of the Hessian's eigenvalues", RATIO),
    # searches for lower minima
    "worst": Column("share of the sentences that are tried, the worst fitted ones", RATIO),
    "temperatures": Column("of Langevin descent, as JSON"),
    "search": Column("how the minimum was found", names=SEARCHES),
    "hops": Column("how often a lower minimum was found on the way"),
    "temperature": Column("of Langevin descent at its first step, in units of R", RATIO),
    "way": Column("direction along alpha", names={"up": "sentences are added", "down": "sentences are removed"}),
    "at": Column("alpha at which the student was trained; alpha itself is the largest of the cell", RATIO),
    "excess": Column("training loss minus the part that no student can fit", RATIO),
    # message passing and stability
    "settled": Column("whether the iteration reached relative changes of 1e-12"),
    "change": Column("relative change of the weights in the last iteration", RATIO),
    "iteration": Column("counted from the perturbation"),
    "distance": Column("of the perturbed weights from the fixed point, over that at the start", RATIO),
    "damping": Column("share of the old state that is kept", RATIO),
    "width": Column(
        "over which the response is averaged, in units of the fields' root mean square; 0 is the derivative", RATIO
    ),
    "apart": Column("distance of two copies, over the size of Q", RATIO),
    "resolved": Column("smallest distance that was tried", RATIO),
    # one step of replica symmetry breaking
    "q0": Column("overlap of different minima", RATIO),
    "q1": Column("size q of one minimum", RATIO),
    "y": Column("conjugate to the risk", RATIO),
    "phi": Column("Phi(y); at the ground state the training loss of the lowest minima", RATIO),
    "energy": Column("e = d(y Phi)/dy, training loss of the minima", RATIO),
    "complexity": Column("Sigma, logarithm of the number of minima per dimension", RATIO),
    "shift": Column(
        "rows of solutions: Phi minus the replica-symmetric loss; of thresholds: by how much alpha moves", RATIO
    ),
    "slope": Column("dPhi/dalpha", RATIO),
    "symmetric": Column("threshold with replica symmetry", RATIO),
    # the published quadrature
    "rule": Column(
        "the quantity, or the threshold, by the published rules; empty where the losses do not cross", RATIO
    ),
    "many": Column("the quantity on many points", RATIO),
    "rule_away": Column("by the published rules minus published, over published; of curves of theory", RATIO),
    "step_away": Column("the same of one step of the rules from the published overlaps, and of losses at these", RATIO),
    "exact": Column("threshold from the overlaps of the 144 points, their losses integrated on many", RATIO),
    # the counting task
    "sequences": Column("sequences drawn, of which duplicates are dropped"),
    "adam_epochs": Column("epochs of Adam, with the frozen zeros"),
    "sgd_epochs": Column("epochs of SGD that follow, with nothing frozen"),
    "epochs": Column("epochs of Adam"),
    "epoch": Column("through both phases; 0 is the start"),
    "data_seed": Column("run of the experiment histogram whose data are read"),
    "start_seed": Column("run of the experiment histogram whose start is taken"),
    "test_loss": Column("mean cross-entropy on the test sequences, in nats", RATIO),
    "accuracy": Column("share of the test positions counted right", RATIO),
    "span": Column("from which weights to which the tensor moved", names=SPANS),
    "tensor": Column("part of the transformer that moved"),
    "of_zeros": Column("the same distance over formerly frozen entries alone", RATIO),
    "after": Column("of which phase these are the weights", names={"adam": "Adam", "sgd": "SGD"}),
    "by_position": Column("share of the attention's variance that positions explain", RATIO),
    "by_token": Column("share of the attention's variance that tokens explain", RATIO),
    "places": Column("test positions whose token occurs count times in its sequence"),
    "right": Column("of these, counted right"),
    "weights": Column("all parameters, as base64 of little-endian float32"),
    "letter": Column("the letter that is counted worst on the test set"),
    "there": Column("share counted wrong where that letter stands", RATIO),
    "elsewhere": Column("share counted wrong at the other letters, their mean", RATIO),
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


# Columns that mean something else in some tables


def _about(names):
    return Column("what the row is about", names=names)


_ENDS = {
    "start": "begins",
    "stop": "ends",
    "border": "turns from a saddle into a minimum, or ends",
    "limit": "turns from a saddle into a minimum",
}
_EXCEEDS = "by how much the training loss of the {} branch exceeds that of the positional one"
_OF_LINES = {
    "baseline": "the linear model",
    **{name: f"a solution of the {name} branch" for name in (*BRANCHES, "symmetric")},
    **{f"{branch} at critical": f"the solution of the {branch} branch at alpha_c" for branch in BRANCHES},
    **THRESHOLDS,
    "gap": _EXCEEDS.format("semantic"),
    "symmetric gap": _EXCEEDS.format("symmetric"),
    "both": "a solution of rank 2 that follows two columns of the teacher, and not the positions",
    "second": "alpha where the training loss of that solution falls below that of one column and the positions",
}
for _branch in BRANCHES:
    _OF_LINES |= {f"{_branch} {end}": f"alpha where the {_branch} branch {ending}" for end, ending in _ENDS.items()}
_OF_ONE_STEP = {
    **THRESHOLDS,
    **{name: f"the ground state of the {name} branch at the replica-symmetric alpha_c" for name in BRANCHES},
    "semantic at linear": "the ground state of the semantic branch at the replica-symmetric alpha_l",
}
_OF_PASSING = {
    "settled": "whether the damped iteration settles",
    "contraction": "how a small perturbation of its fixed point shrinks",
    "copies": "how far apart two copies from different starts stay",
}
_OF_STAYING = {
    **{name: f"where L-BFGS ends from the start {name}" for name in BRANCHES},
    "descent": "a student of gradient descent from small random weights, after a number of steps",
    "small": "where L-BFGS goes on to from the last of these",
    "toward": "where L-BFGS ends from the positional end plus size times the teacher, to the side where it leans",
    "aside": "the same of the positional end plus size N(0, 1)",
}
_OF_PLANES = {
    "positional": "the positional minimum",
    "semantic": "the semantic minimum",
    "plane": "a student of the plane",
}
_OF_RUNS = {
    "epoch": "losses and accuracy of an epoch",
    "distance": "how far a tensor moved",
    "shares": "what explains the attention",
    "count": "how often a count is told right",
    "weights": "the weights themselves",
}
_SEED = Column("of the quadrature's scrambles")
_ALPHA = Column("sample complexity n/d of the solution, or the threshold or end that the row is about", RATIO)
OF_CELLS = {  # and of types that derive from them
    cells.LineCell: {"seed": _SEED, "alpha": _ALPHA, "what": _about(_OF_LINES)},
    cells.RuleCell: {
        "seed": _SEED,
        "alpha": Column("sample complexity n/d of the solution, or the threshold on many points", RATIO),
        "what": _about(THRESHOLDS | BRANCHES | {"symmetric": "no overlap at all", "baseline": "the linear model"}),
    },
    cells.OneStepThresholdsCell: {"seed": _SEED, "alpha": _ALPHA, "what": _about(_OF_ONE_STEP)},
    cells.OneStepCell: {"seed": _SEED},
    cells.MessagePassingCell: {"what": _about(_OF_PASSING)},
    cells.DescentCell: {
        "way": Column("the way down: an optimiser, or several one after the other"),
        "number": Column("of the start, 0 to count - 1"),
    },
    cells.StayCell: {"what": _about(_OF_STAYING)},
    cells.PlaneCell: {"what": _about(_OF_PLANES)},
    cells.SearchCell: {"aligned": Column("|cosine| with the lowest minimum found from all starts of the cell", RATIO)},
    cells.ControlledCell: {
        "aligned": Column("control variate: misfit of a student along the teacher, less its mean", RATIO)
    },
    cells.CountingCell: {
        "seed": Column("number of the run"),
        "train_loss": Column("mean cross-entropy along the epoch, in nats", RATIO),
        "distance": Column("2-norm of the tensor's change", RATIO),
        "count": Column("how often a token occurs in its sequence"),
        "what": _about(_OF_RUNS),
    },
    cells.ExchangedCell: {"epoch": Column("of Adam, from 1")},
    authors_tables.PublishedTable: {
        "start": Column(
            "initial weights, or branch of theory", names=STARTS | BRANCHES | {"symmetric": "no overlap at all"}
        ),
        "d": Column("embedding dimension; empty for curves of theory", RATIO),
        "optimizer": Column("of our students, or theory", names=OPTIMIZERS | {"theory": "replica-symmetric theory"}),
    },
}


def described(name, cell_type):
    """Return the `Column` of a stored column; `ResultError` if nothing is known of it.

    name: of the column; "x_error" is the standard error of "x".
    cell_type: class of the cells of the table.
    """
    for kind in cell_type.__mro__:
        if name in OF_CELLS.get(kind, {}):
            return OF_CELLS[kind][name]
    known = COLUMNS.get(name)
    if known:
        return known
    if name.endswith("_error"):
        value = name.removesuffix("_error")
        return Column(f"standard error of {value}", described(value, cell_type).unit)
    raise ResultError(f"column {name!r}: its meaning and unit are not in COLUMNS of data/columns.py")
