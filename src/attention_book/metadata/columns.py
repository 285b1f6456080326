"""What the columns of the stored results mean, in which unit, and what the names in them stand for."""

from dataclasses import dataclass, field

from ..experiments import cells
from ..experiments.counting_cells import CountingCell, ExchangedCell

RATIO = "1"  # the unit of a pure number, as in the Unified Code for Units of Measure


@dataclass(frozen=True)
class Column:
    """A column of a stored table.

    Attributes
    ----------
    meaning : str
    unit : str
        "1" for a pure number, "s" for seconds; empty for text and for counts.
    names : dict
        Of a column of names: every name that may stand there, and what it means.
    """

    meaning: str
    unit: str = ""
    names: dict = field(default_factory=dict)


def _ratio(meaning):
    return Column(meaning, RATIO)


STARTS = {
    "semantic": "the teacher's weights",
    "positional": "the positional encoding 1_d/sqrt(d)",
    "near_semantic": "the teacher's weights plus N(0, 1)",
    "near_positional": "the positional encoding plus 0.1 N(0, 1)",
    "random": "0.1 N(0, 1)",
    "mixed": "the first column semantic, the second positional",
}
BRANCHES = {name: f"the {name} branch or valley" for name in ("semantic", "positional")}
THRESHOLDS = {
    "critical": "alpha_c, where the training losses of both branches cross",
    "linear": "alpha_l, where the semantic test error meets that of the linear model",
}
COLUMNS = {
    # what fixes a cell
    "experiment": Column("name of the experiment, that of the file"),
    "cell": Column("everything that fixes the cell, as canonical JSON: the key of the rows of one cell"),
    "omega": _ratio("weight of the positional part of the teacher, in [0, 1]"),
    "sigma": _ratio("standard deviation of a token's entries"),
    "lam": _ratio("ridge penalty lambda on the student's weights"),
    "matrix": Column("positional matrix A of the teacher, as JSON"),
    "alpha": _ratio("sample complexity n/d: training sentences per dimension"),
    "d": Column("embedding dimension"),
    "seed": Column("number of the data set, which seeds its random draws"),
    "optimizer": Column(
        "how students were trained",
        names={"lbfgs": "L-BFGS to |grad R| <= 1e-4", "gd": "full-batch gradient descent as published", "adam": "Adam"},
    ),
    "starts": Column("starts of the cell, as JSON; a row for each"),
    "start": Column(
        "initial weights; two columns that start alike and add up are displaced by 0.1 N(0, 1)", names=STARTS
    ),
    "form": Column(
        "form of the student",
        names={
            "tied": "one weight vector, Q = K",
            "rank2": "two columns, whose scores add up",
            "untied": "Q and K apart",
            "value": "Q = K and a rank-one correction of the value matrix",
            "full_value": "Q = K and a full value matrix",
        },
    ),
    "tokens": Column("length of a sentence"),
    "correlation": _ratio("of the entries of any two tokens of a sentence"),
    "valley": Column("valley around which the starts are", names=BRANCHES),
    "noise": _ratio("standard deviation of the noise on the starts"),
    "count": Column("starts in the valley"),
    "alphas": Column("all values of alpha of the cell, as JSON"),
    "branches": Column("branches of the cell, as JSON"),
    "points": Column("quadrature points of a scramble"),
    "scrambles": Column("independent scrambles of the quadrature, from which its error bars come"),
    "branch": Column("branch of the solutions", names=BRANCHES),
    "ys": Column("values of y, conjugate to the risk, as JSON"),
    "variant": Column("which part of the transformer is frozen at first", names=dict.fromkeys(BRANCHES, "")),
    # overlaps and losses
    "q": _ratio("sigma^2 |Q|^2/d, size of the student; with two columns the trace"),
    "m": _ratio("Q.1_d/d, overlap with the positional encoding; with two columns the norm over them"),
    "theta": _ratio("sigma^2 Q.Q*/d, overlap with the teacher; with two columns the norm over them"),
    "V": _ratio("response of a field, sigma^2 chi"),
    **{f"q_{i}{j}": _ratio(f"Q_{i}.Q_{j}/d of two columns, without sigma^2") for i, j in ("11", "12", "22")},
    **{f"m_{i}": _ratio(f"Q_{i}.1_d/d of column {i}") for i in "12"},
    **{f"theta_{i}": _ratio(f"Q_{i}.Q*/d of column {i}, without sigma^2") for i in "12"},
    "train_loss": _ratio("training loss R/d, the penalty included (Eq. 14)"),
    "test_mse": _ratio("test error epsilon_g (Eq. 10), an expectation given the weights or in the limit of theory"),
    "linear_mse": _ratio("test error of the linear model fitted to the same data"),
    "grad_norm": _ratio("|grad R| where training stopped"),
    "steps": Column("gradient evaluations of the training"),
    "seconds": Column("wall time of the training; students trained together share it equally", "s"),
    "replicon": _ratio("Lambda: replica symmetry is consistent below 1 (Appendix B.5)"),
    "gain": _ratio("by which a step multiplies overlaps that the branch holds at zero; above 1 a saddle"),
    # control variates
    "length": _ratio("control variate |Q*|^2/d - 1"),
    "blind": _ratio("control variate: misfit of a student with zero weights, less its mean"),
    "encoded": _ratio("control variate: misfit of a student along the encoding, less its mean"),
    # many starts
    "number": Column("of the start; 0 has no noise"),
    "minimum": Column("which of the distinct ends of its data set a student has"),
    "nearest": _ratio("distance to the nearest other end, over the size of both"),
    "aligned": _ratio("|cosine| with the end of the next start"),
    "worst": _ratio("share of the sentences that are tried, the worst fitted ones"),
    "temperatures": Column("of Langevin descent, as JSON"),
    "search": Column(
        "how the minimum was found",
        names={
            "descent": "L-BFGS from the start",
            "hop": "from the end of that by way of single sentences",
            "anneal": "from the end of that by Langevin descent",
        },
    ),
    "hops": Column("how often a lower minimum was found on the way"),
    "temperature": _ratio("of Langevin descent at its first step, in units of R"),
    "way": Column("direction along alpha", names={"up": "sentences are added", "down": "sentences are removed"}),
    "at": _ratio("alpha at which the student was trained; alpha itself is the largest of the cell"),
    "excess": _ratio("training loss less the part that no student can fit"),
    # message passing
    "settled": Column("whether the iteration reached relative changes of 1e-12"),
    "change": _ratio("relative change of the weights in the last iteration"),
    "iteration": Column("counted from the perturbation"),
    "distance": _ratio("of the perturbed weights from the fixed point, over that at the start"),
    "damping": _ratio("share of the old state that is kept"),
    "width": _ratio(
        "over which the response is averaged, in units of the fields' root mean square; 0 is the derivative"
    ),
    "apart": _ratio("distance of two copies, over the size of Q"),
    "resolved": _ratio("smallest distance that was tried"),
    # one step of replica symmetry breaking, and the published quadrature
    "q0": _ratio("overlap of different minima"),
    "q1": _ratio("size q of one minimum"),
    "y": _ratio("conjugate to the risk"),
    "phi": _ratio("Phi(y); at the ground state the training loss of the lowest minima"),
    "energy": _ratio("e = d(y Phi)/dy, training loss of the minima"),
    "complexity": _ratio("Sigma, logarithm of the number of minima per dimension"),
    "shift": _ratio("rows of solutions: Phi less the replica-symmetric loss; of thresholds: by how much alpha moves"),
    "slope": _ratio("dPhi/dalpha"),
    "symmetric": _ratio("threshold with replica symmetry"),
    "reason": Column(
        "why the search for a solution failed, or why there is none beyond an end; empty where it converged"
    ),
    "rule": _ratio("threshold on the 144 points; empty where the losses do not cross near it"),
    "exact": _ratio("threshold from the overlaps of the 144 points, their losses integrated on many"),
    # the counting task
    "sequences": Column("sequences drawn, of which duplicates are dropped"),
    "adam_epochs": Column("epochs of Adam, with the frozen zeros"),
    "sgd_epochs": Column("epochs of SGD that follow, with nothing frozen"),
    "epochs": Column("epochs of Adam"),
    "epoch": Column("through both phases; 0 is the start"),
    "data_seed": Column("run of the experiment histogram whose data are read"),
    "start_seed": Column("run of the experiment histogram whose start is taken"),
    "test_loss": _ratio("mean cross-entropy on the test sequences, in nats"),
    "accuracy": _ratio("share of the test positions told right"),
    "span": Column(
        "from which weights to which the tensor moved",
        names={
            "start to trained": "by Adam",
            "trained to displaced": "by the noise",
            "displaced to final": "by SGD",
            "trained to final": "by noise and SGD",
        },
    ),
    "tensor": Column("part of the transformer that moved"),
    "of_zeros": _ratio("the same distance over formerly frozen entries alone"),
    "after": Column("of which phase these are the weights", names={"adam": "Adam", "sgd": "SGD"}),
    "by_position": _ratio("share of the attention's variance that positions explain"),
    "by_token": _ratio("share of the attention's variance that tokens explain"),
    "places": Column("test positions whose token occurs count times in its sequence"),
    "right": Column("of these, told right"),
    "weights": Column("all parameters, as base64 of little-endian float32"),
    "letter": Column("the letter that is told worst on the test set"),
    "there": _ratio("share told wrong where that letter stands"),
    "elsewhere": _ratio("share told wrong at the other letters, their mean"),
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
_LINE = {
    "alpha": _ratio("sample complexity n/d of the solution, or the threshold or end that the row is about"),
    "seed": Column("of the quadrature's scrambles"),
}
_OF_LINES = {
    "baseline": "the linear model",
    **{name: f"a solution of the {name} branch" for name in (*BRANCHES, "symmetric")},
    **{f"{branch} at critical": f"the solution of the {branch} branch at alpha_c" for branch in BRANCHES},
    **THRESHOLDS,
    **{
        name: f"by how much the training loss of the {branch} branch exceeds that of the positional one"
        for name, branch in (("gap", "semantic"), ("symmetric gap", "symmetric"))
    },
    **{
        f"{branch} {end}": f"alpha where the {branch} branch {said}"
        for branch in BRANCHES
        for end, said in (
            ("start", "begins"),
            ("stop", "ends"),
            ("border", "turns from a saddle into a minimum, or ends"),
            ("limit", "turns from a saddle into a minimum"),
        )
    },
}
# Columns that mean something else for cells of a type, and of types that derive from it.
OF_CELLS = {
    cells.LineCell: _LINE
    | {
        "what": Column(
            "what the row is about",
            names=_OF_LINES,
        )
    },
    cells.RuleCell: _LINE
    | {"alpha": _ratio("threshold on many points"), "what": Column("which threshold", names=THRESHOLDS)},
    cells.OneStepThresholdsCell: _LINE
    | {
        "what": Column(
            "what the row is about",
            names=THRESHOLDS
            | {name: f"the ground state of the {name} branch at the replica-symmetric alpha_c" for name in BRANCHES}
            | {"semantic at linear": "the ground state of the semantic branch at the replica-symmetric alpha_l"},
        )
    },
    cells.OneStepCell: {
        "seed": _LINE["seed"],
        "what": Column(
            "what the row is about",
            names={"solution": "the solution at a given y", "ground state": "the y at which Phi is largest"},
        ),
    },
    cells.MessagePassingCell: {
        "what": Column(
            "what the row is about",
            names={
                "settled": "whether the damped iteration settles",
                "contraction": "how a small perturbation of its fixed point shrinks",
                "copies": "how far apart two copies from different starts stay",
            },
        )
    },
    cells.SearchCell: {"aligned": _ratio("|cosine| with the lowest minimum found from all starts of the cell")},
    cells.ControlledCell: {"aligned": _ratio("control variate: misfit of a student along the teacher, less its mean")},
    CountingCell: {
        "seed": Column("number of the run"),
        "train_loss": _ratio("mean cross-entropy along the epoch, in nats"),
        "distance": _ratio("2-norm of the tensor's change"),
        "count": Column("how often a token occurs in its sequence"),
        "what": Column(
            "what the row is about",
            names={
                "epoch": "losses and accuracy of an epoch",
                "distance": "how far a tensor moved",
                "shares": "what explains the attention",
                "count": "how often a count is told right",
                "weights": "the weights themselves",
            },
        ),
    },
    ExchangedCell: {"epoch": Column("of Adam, from 1")},
}


def described(name, cell_type):
    """The `Column` of a stored table whose cells are of a type.

    Parameters
    ----------
    name : str
        Of the column. "x_error" is the standard error of "x".
    cell_type : type

    Raises
    ------
    KeyError
        Nothing is known of the column.
    """
    for kind in cell_type.__mro__:
        if name in OF_CELLS.get(kind, {}):
            return OF_CELLS[kind][name]
    if name not in COLUMNS and name.endswith("_error"):
        return Column(f"standard error of {name.removesuffix('_error')}", described(name[:-6], cell_type).unit)
    return COLUMNS[name]
