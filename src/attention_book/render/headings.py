"""What quantities are called on the pages: symbols, headings of columns, scales and forms of their numbers."""

from dataclasses import dataclass

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
    "wrong": "wrong counts in %",
    "start to trained": "distance by Adam",
    "trained to final": "distance by SGD",
    "of_zeros": "former zeros, by SGD",
    "gd": "gradient descent",
    "lbfgs": "L-BFGS",
    "adam": "Adam",
    "standard deviation": "st. dev.",
}
SCALES = {"": 1.0, "%": 1e-2, "10<sup>−5</sup>": 1e-5}


@dataclass(frozen=True)
class Heading:
    """A column of the tables on the pages.

    text: HTML; if empty the symbol, or the name itself
    form: format of numbers without an error
    scale: what follows the heading, one of `SCALES`, by which numbers are divided
    missing: in the place of a number that does not exist
    """

    text: str = ""
    form: str = "g"
    scale: str = ""
    missing: str = "none"


_ALPHA_C, _ALPHA_L = SYMBOLS["critical"], SYMBOLS["linear"]
HEADINGS = {
    # what fixes a cell
    "l1": Heading("ℓ₁"),
    "count": Heading("number of ω"),
    # overlaps and losses
    "squared_cosine": Heading("message passing", ".4f"),
    "optimal": Heading("theory", ".4f"),
    "recovered": Heading("runs that find the teacher"),
    "from_teacher": Heading("from the teacher"),
    "from_random": Heading("from random weights"),
    "random_same": Heading("same minimum", ".0f"),
    "random_lower": Heading("random start ends lower", ".0f"),
    # comparisons with the paper
    "omega_or_mean": Heading("ω", missing="mean"),
    "label": Heading("quantity"),
    "published": Heading(missing=""),
    "value": Heading("ours"),
    "evidence": Heading("ours from"),
    "percent": Heading("difference, %", "+.1f"),
    "sigma_off": Heading("in errors", "+.1f"),
    "reason": Heading(missing="–"),
    "z": Heading(form="+.2f"),
    "numbers": Heading(form=",d"),
    "median": Heading("median |z|", ".2f"),
    "percentile_95": Heading("95th percentile of |z|", ".2f"),
    "beyond_3": Heading("|z| above 3", ".2f", scale="%"),
    "mean_z": Heading(form="+.2f"),
    "away": Heading("largest difference", "+.1f", scale="%"),
    "p": Heading(form=".2g"),
    # theory and students
    "usual": Heading("standard student, theory"),
    "trained": Heading("trained students"),
    "limit": Heading("students, d → ∞"),
    # structured tokens
    "source": Heading("where the teacher lies"),
    "filled": Heading("share of directions filled", ".2f"),
    "trained_critical": Heading(f"{_ALPHA_C} of students"),
    "trained_linear": Heading(f"{_ALPHA_L} of students"),
    "trained_test_mse": Heading("ε<sub>g</sub> of students, d → ∞"),
    "critical_broken": Heading(f"{_ALPHA_C} moves by, with one step of breaking", missing="not known"),
    "critical_later": Heading(f"shift of {_ALPHA_C}", missing=""),
    "linear_later": Heading(f"shift of {_ALPHA_L}", missing=""),
    "critical_moves": Heading(f"{_ALPHA_C} moves by", "+.2f", missing=""),
    "linear_moves": Heading(f"{_ALPHA_L} moves by", "+.2f", missing=""),
    "alike": Heading("cells alike to 1 in 100", ".0f", scale="%"),
    "left": Heading("students over 5 % higher", "d"),
    "gone": Heading("of these, gone on by L-BFGS", ".0f", scale="%"),
    "rule": Heading("by their rules", ".4f", missing="no crossing"),
    "exact": Heading("exact losses", ".4f", missing="no crossing"),
    "within": Heading("rules within 0.1 %", ".0f", "%"),
    "rule_away": Heading("rules off by", ".2f", "%"),
    "step_away": Heading("one step", ".2f", "%", "–"),
    "many_away": Heading("converged off by", ".1f", "%"),
    "over_teacher": Heading("ε<sub>t</sub> over the teacher's", ".3f"),
    "other_over_teacher": Heading("that of other minima", ".3f", missing="none known"),
    # many starts
    "aligned": Heading("cosine"),
    "minima": Heading(form=".3g"),
    "scatter": Heading("scatter of ε<sub>t</sub>", scale="10<sup>−5</sup>"),
    "relative_scatter": Heading("scatter of ε<sub>t</sub>", ".2g", scale="%"),
    "theta_rms": Heading("|θ|"),
    "m_rms": Heading("|m|"),
    "dimension": Heading("d", ".0f", missing="theory"),
    # message passing and stability
    "distance": Heading("distance of two copies", missing="closer than tried"),
    "semantic_start": Heading("semantic minimum from α ="),
    "positional_stop": Heading("positional minimum to α =", missing="beyond the grid"),
    "copies_jumping": Heading("distance on data", ".2f"),
    # one step of replica symmetry breaking
    "symmetric": Heading("replica symmetric"),
    "one_step": Heading("one step of breaking"),
    "informed": Heading("students, d → ∞"),
    "searched": Heading("students, lowest minima found"),
    "informed_off": Heading("in errors, 1/d", "+.1f"),
    "other_off": Heading("in errors, d<sup>−2/3</sup>", "+.1f"),
    "searched_off": Heading("in errors", "+.1f"),
    "gained": Heading("loss raised by", scale="%", missing="not found"),
    "explained": Heading("one step explains", scale="%"),
    # the counting task
    "epoch": Heading("epochs of Adam"),
    "there": Heading("wrong there", ".2f", scale="%"),
    "published_spread": Heading("published ±"),
    "begun": Heading("SGD begins when"),
    "sgd_alone": Heading("distance by SGD alone"),
    "gradient": Heading("gradient before"),
    "gradient_sgd": Heading("gradient after"),
    "rms_change": Heading("change of the matrices"),
    "explained_sgd": Heading("variance explained after", scale="%"),
    "kept": Heading("largest of the other runs", ".1f", scale="%"),
}
