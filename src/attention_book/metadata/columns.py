"""What a column of the stored results means, where that depends on the cells of its table too."""

from ..analysis.published_tables import Published
from ..experiments import cells
from ..quantities import BRANCHES, OPTIMIZERS, QUANTITIES, RATIO, THRESHOLDS, Quantity


def _about(names):
    return Quantity("what the row is about", names=names)


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
_OF_RUNS = {
    "epoch": "losses and accuracy of an epoch",
    "distance": "how far a tensor moved",
    "shares": "what explains the attention",
    "count": "how often a count is told right",
    "weights": "the weights themselves",
}
_SEED = Quantity("of the quadrature's scrambles")
_ALPHA = Quantity("sample complexity n/d of the solution, or the threshold or end that the row is about", RATIO)
OF_CELLS = {  # and of types that derive from them
    cells.LineCell: {"seed": _SEED, "alpha": _ALPHA, "what": _about(_OF_LINES)},
    cells.RuleCell: {
        "seed": _SEED,
        "alpha": Quantity("threshold on many points", RATIO),
        "what": Quantity("which threshold", names=THRESHOLDS),
    },
    cells.OneStepThresholdsCell: {"seed": _SEED, "alpha": _ALPHA, "what": _about(_OF_ONE_STEP)},
    cells.MessagePassingCell: {"what": _about(_OF_PASSING)},
    cells.SearchCell: {
        "aligned": Quantity("|cosine| with the lowest minimum found from all starts of the cell", RATIO)
    },
    cells.ControlledCell: {
        "aligned": Quantity("control variate: misfit of a student along the teacher, less its mean", RATIO)
    },
    cells.CountingCell: {
        "seed": Quantity("number of the run"),
        "train_loss": Quantity("mean cross-entropy along the epoch, in nats", RATIO),
        "distance": Quantity("2-norm of the tensor's change", RATIO),
        "count": Quantity("how often a token occurs in its sequence"),
        "what": _about(_OF_RUNS),
    },
    cells.ExchangedCell: {"epoch": Quantity("of Adam, from 1")},
    Published: {
        "optimizer": Quantity("of our students, or theory", names=OPTIMIZERS | {"theory": "replica-symmetric theory"})
    },
}


def described(name, cell_type):
    """Return the `Quantity` of a stored column; `KeyError` if nothing is known of it.

    Args:
        name: of the column; "x_error" is the standard error of "x".
        cell_type: class of the cells of the table.
    """
    for kind in cell_type.__mro__:
        if name in OF_CELLS.get(kind, {}):
            return OF_CELLS[kind][name]
    known = QUANTITIES.get(name)
    if known and known.meaning:
        return known
    if name.endswith("_error"):
        value = name.removesuffix("_error")
        return Quantity(f"standard error of {value}", described(value, cell_type).unit)
    raise KeyError(name)
