"""The symbols of quantities on the pages, and the headings, scales and number formats of table columns."""

from dataclasses import dataclass

SYMBOLS = {  # HTML for names in headings, in cells of tables, and in comparisons with the paper
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
SCALES = {"": 1.0, "%": 1e-2, "10<sup>−3</sup>": 1e-3, "10<sup>−5</sup>": 1e-5}


@dataclass(frozen=True)
class Heading:
    """The heading of a table column, and the format of the numbers in this column."""

    text: str = ""  #: HTML; if empty, the symbol or the name itself
    form: str = "g"  #: format of numbers without an error
    scale: str = ""  #: text after the heading, one of `SCALES`, by which numbers are divided
    missing: str = "none"  #: text for a number that does not exist


HEADINGS = {  # headings that several tables use; all others are defined together with their table
    # Comparisons with the paper
    "label": Heading("quantity"),
    "published": Heading(missing=""),
    "value": Heading("ours"),
    "evidence": Heading("ours from"),
    "percent": Heading("difference, %", "+.1f"),
    "sigma_off": Heading("in standard errors", "+.1f"),
    "reason": Heading(missing="–"),
    # Theory and students
    "usual": Heading("standard student, theory"),
    "trained": Heading("trained students"),
    "limit": Heading("students, d → ∞"),
    # Structured tokens
    "l1": Heading("ℓ₁"),
    "trained_critical": Heading(f"{SYMBOLS['critical']} of students"),
    "trained_linear": Heading(f"{SYMBOLS['linear']} of students"),
    "trained_test_mse": Heading("ε<sub>g</sub> of students, d → ∞"),
    "critical_moves": Heading(f"{SYMBOLS['critical']} moves by", "+.2f", missing=""),
    "linear_moves": Heading(f"{SYMBOLS['linear']} moves by", "+.2f", missing=""),
    # Many starts
    "minima": Heading(form=".3g"),
    "scatter": Heading("scatter of ε<sub>t</sub>", scale="10<sup>−5</sup>"),
    "theta_rms": Heading("|θ|"),
    "m_rms": Heading("|m|"),
    "dimension": Heading("d", ".0f", missing="theory"),
    # Message passing and stability
    "distance": Heading("distance of two copies", missing="closer than tried"),
}
