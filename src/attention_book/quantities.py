"""What every quantity is called on the pages, what it means in the stored results, and in which units it is given.

A column `x_error` is the standard error of `x`.
"""

from dataclasses import dataclass, field

from attention_phases.model.architectures import FORMS

SYMBOLS = {  # HTML: of headings, of values in cells, and of quantities in the comparisons with the paper
    "omega": "ω",
    "alpha": "α",
    "sigma": "σ",
    "lam": "λ",
    "critical": "α<sub>c</sub>",
    "linear": "α<sub>l</sub>",
    "theta": "θ",
    "m/sigma^2": "m/σ²",
    "theta/sigma^2": "θ/σ²",
    "train_loss": "ε<sub>t</sub>",
    "test_mse": "ε<sub>g</sub>",
    "linear_mse": "ε<sub>g</sub> of the linear fit",
    "m^2": "m²",
    "theta^2": "θ²",
    "q_11": "q<sub>11</sub>",
    "q_12": "q<sub>12</sub>",
    "q_22": "q<sub>22</sub>",
    "m_2": "m<sub>2</sub>",
    "theta_1": "θ<sub>1</sub>",
    "theta_2": "θ<sub>2</sub>",
    "replicon": "Λ",
    "accuracy": "test accuracy",
    "test_loss": "test loss",
    "start to trained": "distance by Adam",
    "trained to final": "distance by SGD",
    "of_zeros": "former zeros, by SGD",
    "gd": "gradient descent",
    "lbfgs": "L-BFGS",
    "adam": "Adam",
    "standard deviation": "st. dev.",
}
SCALES = {"": 1.0, "%": 1e-2, "10<sup>−5</sup>": 1e-5}
RATIO = "1"  # the unit of a pure number, as in the Unified Code for Units of Measure


@dataclass(frozen=True)
class Quantity:
    """A column of the stored results, of the tables on the pages, or of both.

    meaning: of a stored column; empty where only pages have it
    unit: of what is stored: "1" for a pure number, "s" for seconds, empty for text and counts
    names: every name that may stand in a stored column of names, with its meaning
    heading: on the pages, HTML; if empty the symbol, or the name itself
    scale: on the pages: what follows the heading, one of `SCALES`, by which numbers are divided
    form: on the pages: format of numbers without an error
    missing: on the pages: in the place of a number that does not exist
    """

    meaning: str = ""
    unit: str = ""
    names: dict = field(default_factory=dict)
    heading: str = ""
    scale: str = ""
    form: str = "g"
    missing: str = "none"


def _ratio(meaning, **shown):
    return Quantity(meaning, RATIO, **shown)


def _shown(heading="", form="g", **shown):
    return Quantity(heading=heading, form=form, **shown)


_ALPHA_C, _ALPHA_L = SYMBOLS["critical"], SYMBOLS["linear"]
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

QUANTITIES = {
    # what fixes a cell
    "experiment": Quantity("name of the experiment, that of the file"),
    "cell": Quantity("everything that fixes the cell, as canonical JSON: the key of the rows of one cell"),
    "omega": _ratio("weight of the positional part of the teacher, in [0, 1]"),
    "sigma": _ratio("standard deviation of a token's entries"),
    "lam": _ratio("ridge penalty lambda on the student's weights"),
    "matrix": Quantity("positional matrix A of the teacher, as JSON"),
    "spectrum": Quantity("eigenvalue, weight, teacher and encoding of each share of the directions, as JSON"),
    "clusters": Quantity("weight, and means along encoding and teacher, of each joint choice of clusters, as JSON"),
    "teachers": Quantity("mean square of the entries of each column of the teacher, as JSON"),
    "density": _ratio("share of the teacher's entries that are not zero"),
    "l1": _ratio("l1 penalty on the student's weights", heading="ℓ₁"),
    "alpha": _ratio("sample complexity n/d: training sentences per dimension"),
    "d": Quantity("embedding dimension"),
    "seed": Quantity("number of the data set, which seeds its random draws"),
    "optimizer": Quantity("how students were trained", names=OPTIMIZERS),
    "slip": Quantity("what is wrong on purpose: 4,500 steps of gradient descent, or a rate of 0.1"),
    "starts": Quantity("starts of the cell, as JSON; a row for each"),
    "start": Quantity(
        "initial weights; two columns that start alike and add up are displaced by 0.1 N(0, 1)", names=STARTS
    ),
    "form": Quantity("form of the student", names={name: form.about for name, form in FORMS.items()}),
    "tokens": Quantity("length of a sentence"),
    "correlation": _ratio("of the entries of any two tokens of a sentence"),
    "valley": Quantity("valley around which the starts are", names=BRANCHES),
    "noise": _ratio("standard deviation of the noise on the starts"),
    "count": Quantity("starts on one data set", heading="number of ω"),
    "alphas": Quantity("all values of alpha of the cell, as JSON"),
    "branches": Quantity("branches of the cell, as JSON"),
    "points": Quantity("quadrature points of a scramble"),
    "scrambles": Quantity("independent scrambles of the quadrature, from which its error bars come"),
    "variant": Quantity("which part of the transformer is frozen at first", names=dict.fromkeys(BRANCHES, "")),
    # overlaps and losses
    "q": _ratio("sigma^2 |Q|^2/d, size of the student; with two columns the trace"),
    "squared_cosine": _ratio("squared cosine of the weights with the teacher", heading="message passing", form=".4f"),
    "converged": Quantity("whether the iteration stands still, or knows the teacher"),
    "optimal": _shown("theory", ".4f"),
    "recovered": _shown("runs that find the teacher"),
    "from_teacher": _shown("from the teacher"),
    "from_random": _shown("from random weights"),
    "random_same": _shown("same minimum", ".0f"),
    "random_lower": _shown("random start ends lower", ".0f"),
    "m": _ratio("Q.1_d/d, overlap with the positional encoding; with two columns the norm over them"),
    "theta": _ratio("sigma^2 Q.Q*/d, overlap with the teacher; with two columns the norm over them"),
    "V": _ratio("response of a field, sigma^2 chi"),
    **{f"q_{i}{j}": _ratio(f"Q_{i}.Q_{j}/d of two columns, without sigma^2") for i, j in ("11", "12", "22")},
    **{f"m_{i}": _ratio(f"Q_{i}.1_d/d of column {i}") for i in "12"},
    **{f"theta_{i}": _ratio(f"Q_{i}.Q*/d of column {i}, without sigma^2") for i in "12"},
    **{
        f"teacher_{i}": _ratio(f"W^T Sigma Q*/d with column {i} of the teacher, the norm over the student's")
        for i in "12"
    },
    "train_loss": _ratio("training loss R/d, the penalty included (Eq. 14)"),
    "test_mse": _ratio("test error epsilon_g (Eq. 10), an expectation given the weights or in the limit of theory"),
    "linear_mse": _ratio("test error of the linear model fitted to the same data"),
    "grad_norm": _ratio("|grad R| where training stopped"),
    "steps": Quantity("gradient evaluations of the training; of a cell: iterations, or those after which is measured"),
    "seconds": Quantity("wall time of the training; students trained together share it equally", "s"),
    "replicon": _ratio(
        "Lambda: by which a step multiplies the squared size of a perturbation, jumps left out (Appendix B.5)"
    ),
    "gain": _ratio("by which a step multiplies overlaps that the branch holds at zero; above 1 a saddle"),
    # control variates
    "length": _ratio("control variate |Q*|^2/d - 1; with structure Q*^T Sigma Q*/d over its limit, minus 1"),
    "blind": _ratio("control variate: misfit of a student with zero weights, less its mean"),
    "encoded": _ratio("control variate: misfit of a student along the encoding, less its mean"),
    # comparisons with the paper
    "omega_or_mean": _shown("ω", missing="mean"),
    "label": _shown("quantity"),
    "published": _shown(missing=""),
    "value": _shown("ours"),
    "evidence": _shown("ours from"),
    "percent": _shown("difference, %", "+.1f"),
    "sigma_off": _shown("in errors", "+.1f"),
    "reason": Quantity(
        "why the search for a solution failed, or why there is none beyond an end, or that the end did not settle;"
        " empty where it converged",
        missing="–",
    ),
    "figure": Quantity("of the paper, which shows the cell or its like"),
    "quantity": Quantity(
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
    "ours": _ratio("our value: the mean over data sets, a threshold of these means, or theory"),
    "instances": _ratio("number of our data sets behind the mean"),
    "z": _ratio("ours minus published, as a standard normal number if both estimate the same", form="+.2f"),
    "numbers": _shown(form=",d"),
    "median": _shown("median |z|", ".2f"),
    "percentile_95": _shown("95th percentile of |z|", ".2f"),
    "beyond_3": _shown("|z| above 3", ".2f", scale="%"),
    "mean_z": _shown(form="+.2f"),
    "away": _ratio(
        "ours minus published theory, over the largest value along both curves",
        heading="largest difference",
        scale="%",
        form="+.1f",
    ),
    "p": _shown(form=".2g"),
    # theory and students
    "usual": _shown("standard student, theory"),
    "trained": _shown("trained students"),
    "limit": _shown("students, d → ∞"),
    # structured tokens
    "source": _shown("where the teacher lies"),
    "filled": _shown("share of directions filled", ".2f"),
    "trained_critical": _shown(f"{_ALPHA_C} of students"),
    "trained_linear": _shown(f"{_ALPHA_L} of students"),
    "trained_test_mse": _shown("ε<sub>g</sub> of students, d → ∞"),
    "critical_broken": _shown(f"{_ALPHA_C} moves by, with one step of breaking", missing="not known"),
    "critical_later": _shown(f"shift of {_ALPHA_C}", missing=""),
    "linear_later": _shown(f"shift of {_ALPHA_L}", missing=""),
    "critical_moves": _shown(f"{_ALPHA_C} moves by", "+.2f", missing=""),
    "linear_moves": _shown(f"{_ALPHA_L} moves by", "+.2f", missing=""),
    "alike": _shown("cells within 1 %", ".0f", scale="%"),
    "left": _shown("students over 5 % higher", "d"),
    "gone": _shown("of these, gone on by L-BFGS", ".0f", scale="%"),
    "over_teacher": _shown("ε<sub>t</sub> over the teacher's", ".3f"),
    "other_over_teacher": _shown("that of other minima", ".3f", missing="none known"),
    # many starts
    "step": Quantity("of gradient descent, counted from the start"),
    "across": Quantity("students along each side of the plane"),
    "number": Quantity("of the start; in a valley 0 has no noise"),
    "minimum": Quantity("which of the distinct ends of its data set a student has"),
    "nearest": _ratio("distance to the nearest other end, over the size of both"),
    "aligned": _ratio("|cosine| with the end of the next start", heading="cosine"),
    "minima": _shown(form=".3g"),
    "scatter": _shown("scatter of ε<sub>t</sub>", scale="10<sup>−5</sup>"),
    "relative_scatter": _shown("scatter of ε<sub>t</sub>", ".2g", scale="%"),
    "theta_rms": _shown("|θ|"),
    "m_rms": _shown("|m|"),
    "dimension": _shown("d", ".0f", missing="theory"),
    # searches for lower minima
    "worst": _ratio("share of the sentences that are tried, the worst fitted ones"),
    "temperatures": Quantity("of Langevin descent, as JSON"),
    "search": Quantity("how the minimum was found", names=SEARCHES),
    "hops": Quantity("how often a lower minimum was found on the way"),
    "temperature": _ratio("of Langevin descent at its first step, in units of R"),
    "way": Quantity("direction along alpha", names={"up": "sentences are added", "down": "sentences are removed"}),
    "at": _ratio("alpha at which the student was trained; alpha itself is the largest of the cell"),
    "excess": _ratio("training loss minus the part that no student can fit"),
    # message passing and stability
    "settled": Quantity("whether the iteration reached relative changes of 1e-12"),
    "cosine": _ratio("|cosine| of where message passing settles with the student trained on the same data"),
    "change": _ratio("relative change of the weights in the last iteration"),
    "iteration": Quantity("counted from the perturbation, or from the start"),
    "distance": _ratio(
        "of the perturbed weights from the fixed point, over that at the start",
        heading="distance of two copies",
        missing="below √2/64",
    ),
    "damping": _ratio("share of the old state that is kept"),
    "width": _ratio(
        "over which the response is averaged, in units of the fields' root mean square; 0 is the derivative"
    ),
    "apart": _ratio("distance of two copies, over the size of Q"),
    "resolved": _ratio("smallest distance that was tried"),
    "semantic_start": _shown("semantic minimum from α ="),
    "positional_stop": _shown("positional minimum to α =", missing="beyond the grid"),
    "copies_jumping": _shown("distance on data", ".2f"),
    # one step of replica symmetry breaking
    "q0": _ratio("overlap of different minima"),
    "q1": _ratio("size q of one minimum"),
    "y": _ratio("conjugate to the risk"),
    "phi": _ratio("Phi(y); at the ground state the training loss of the lowest minima"),
    "energy": _ratio("e = d(y Phi)/dy, training loss of the minima"),
    "complexity": _ratio("Sigma, logarithm of the number of minima per dimension"),
    "shift": _ratio("rows of solutions: Phi minus the replica-symmetric loss; of thresholds: by how much alpha moves"),
    "slope": _ratio("dPhi/dalpha"),
    "symmetric": _ratio("threshold with replica symmetry", heading="replica symmetric"),
    "one_step": _shown("one step of breaking"),
    "informed": _shown("students, d → ∞"),
    "searched": _shown("students, lowest minima found"),
    "informed_off": _shown("in errors, 1/d", "+.1f"),
    "other_off": _shown("in errors, d<sup>−2/3</sup>", "+.1f"),
    "searched_off": _shown("in errors", "+.1f"),
    "gained": _shown("loss raised by", scale="%", missing="not found"),
    "explained": _shown("one step explains", scale="%"),
    # the published quadrature
    "rule": _ratio(
        "the quantity, or the threshold, by the published rules; empty where the losses do not cross",
        heading="by their rules",
        form=".4f",
        missing="no crossing",
    ),
    "many": _ratio("the quantity on many points"),
    "within": _shown("rules within 0.1 %", ".0f", scale="%"),
    "rule_away": _ratio(
        "by the published rules minus published, over published; of curves of theory",
        heading="rules off by",
        form=".2f",
        scale="%",
    ),
    "step_away": _ratio(
        "the same of one step of the rules from the published overlaps, and of losses at these",
        heading="one step",
        form=".2f",
        scale="%",
        missing="–",
    ),
    "many_away": _shown("converged off by", ".1f", scale="%"),
    "exact": _ratio(
        "threshold from the overlaps of the 144 points, their losses integrated on many",
        heading="exact losses",
        form=".4f",
        missing="no crossing",
    ),
    # the counting task
    "sequences": Quantity("sequences drawn, of which duplicates are dropped"),
    "adam_epochs": Quantity("epochs of Adam, with the frozen zeros"),
    "sgd_epochs": Quantity("epochs of SGD that follow, with nothing frozen"),
    "epochs": Quantity("epochs of Adam"),
    "epoch": Quantity("through both phases; 0 is the start", heading="epochs of Adam"),
    "data_seed": Quantity("run of the experiment histogram whose data are read"),
    "start_seed": Quantity("run of the experiment histogram whose start is taken"),
    "test_loss": _ratio("mean cross-entropy on the test sequences, in nats"),
    "accuracy": _ratio("share of the test positions counted right"),
    "span": Quantity("from which weights to which the tensor moved", names=SPANS),
    "tensor": Quantity("part of the transformer that moved"),
    "of_zeros": _ratio("the same distance over formerly frozen entries alone"),
    "after": Quantity("of which phase these are the weights", names={"adam": "Adam", "sgd": "SGD"}),
    "by_position": _ratio("share of the attention's variance that positions explain"),
    "by_token": _ratio("share of the attention's variance that tokens explain"),
    "places": Quantity("test positions whose token occurs count times in its sequence"),
    "right": Quantity("of these, counted right"),
    "weights": Quantity("all parameters, as base64 of little-endian float32"),
    "letter": Quantity("the letter that is counted worst on the test set"),
    "there": _ratio("share counted wrong where that letter stands", heading="wrong there", scale="%", form=".2f"),
    "elsewhere": _ratio("share counted wrong at the other letters, their mean"),
    "published_spread": _shown("published ±"),
    "begun": _shown("SGD begins when"),
    "sgd_alone": _shown("distance by SGD alone"),
    "gradient": _shown("gradient before"),
    "gradient_sgd": _shown("gradient after"),
    "rms_change": _shown("change of the matrices"),
    "explained_sgd": _shown("variance explained after", scale="%"),
    "kept": _shown("largest of the other runs", ".1f", scale="%"),
    # how it was computed
    "version": Quantity("of this package"),
    "commit": Quantity('of this repository; "+changes" where the code differed from it'),
    "python": Quantity("version of Python"),
    "numpy": Quantity("version of NumPy"),
    "torch": Quantity("version of PyTorch"),
    "cpu": Quantity("model of the processor"),
    "platform": Quantity("operating system"),
    "accelerator": Quantity("GPU, where one was used"),
    "cell_seconds": Quantity("time of the whole cell", "s"),
    "finished": Quantity("when the cell was done, ISO 8601 in UTC"),
}
