"""What the columns of the tables are called on the pages, in which unit and with how many digits."""

from dataclasses import dataclass

SYMBOLS = {
    "critical": "α<sub>c</sub>",
    "linear": "α<sub>l</sub>",
    "q": "q",
    "m": "m",
    "theta": "θ",
    "V": "V",
    "m/sigma^2": "m/σ²",
    "theta/sigma^2": "θ/σ²",
    "train_loss": "ε<sub>t</sub>",
    "test_mse": "ε<sub>g</sub>",
    "linear_mse": "ε<sub>g</sub> of the linear fit",
    "q_11": "q<sub>11</sub>",
    "q_12": "q<sub>12</sub>",
    "q_22": "q<sub>22</sub>",
    "m_2": "m<sub>2</sub>",
    "theta_1": "θ<sub>1</sub>",
    "theta_2": "θ<sub>2</sub>",
    "accuracy": "test accuracy",
    "test_loss": "test loss",
    "start to trained": "distance by Adam",
    "trained to final": "distance by SGD",
    "of_zeros": "former zeros, by SGD",
    "omega": "ω",
    "alpha": "α",
    "sigma": "σ",
    "lam": "λ",
    "d": "d",
}
NAMES = {  # of values in cells, where they are not plain words
    "gd": "gradient descent",
    "lbfgs": "L-BFGS",
    "adam": "Adam",
    "standard deviation": "st. dev.",
}


@dataclass(frozen=True)
class Column:
    """How a column is shown.

    Attributes
    ----------
    heading : str
        HTML.
    unit : str
        Follows the heading.
    size : float
        Of the unit: numbers are divided by it.
    form : str
        Format of numbers without an error.
    missing : str
        In the place of a number that does not exist.
    """

    heading: str
    unit: str = ""
    size: float = 1.0
    form: str = "g"
    missing: str = "none"


def _threshold(name, text="", missing="none"):
    return Column(f"{SYMBOLS[name]}{text}", missing=missing)


PER_CENT = {"unit": "%", "size": 0.01}
COLUMNS = {
    # parameters
    **{name: Column(SYMBOLS[name]) for name in ("omega", "alpha", "sigma", "lam", "d")},
    **{
        name: Column(name)
        for name in (
            "architecture",
            "branch",
            "noise",
            "optimizer",
            "quantity",
            "run",
            "solution",
            "start",
            "starts",
            "student",
            "threshold",
            "valley",
        )
    },
    "points": Column("quadrature points", form=",d"),
    "range": Column("ω"),
    "omega_or_mean": Column("ω", missing="mean"),
    # a comparison with the paper
    "label": Column("quantity"),
    "published": Column("published", missing=""),
    "value": Column("ours"),
    "evidence": Column("ours from"),
    "n": Column("n", form="d"),
    "broken": Column("one step of breaking moves it by", missing="not computed"),
    "percent": Column("difference", unit="%", form="+.1f"),
    "sigma_off": Column("in errors", form="+.1f"),
    "verdict": Column("verdict"),
    "reason": Column("reason", missing="–"),
    "reason_number": Column("reason", form=".0f", missing="–"),
    "reason_place": Column("no.", form=".0f", missing="–"),
    "rows": Column("numbers", form="d"),
    # theory and students
    "theory": Column("theory"),
    "exact_theory": Column("theory"),
    "theory_alike": Column("theory, interpolated as the students are"),
    "trained": Column("trained students"),
    "limit": Column("students, d → ∞"),
    "at_size": Column("students, largest d"),
    "gd": Column("gradient descent"),
    "lbfgs": Column("L-BFGS"),
    "critical": _threshold("critical"),
    "linear": _threshold("linear"),
    "critical_broken": _threshold("critical", " moves by, with one step of breaking", "not computed"),
    "linear_gd": _threshold("linear", ", gradient descent"),
    "linear_lbfgs": _threshold("linear", ", L-BFGS"),
    "critical_later": _threshold("critical", " later by", ""),
    "linear_later": _threshold("linear", " later by", ""),
    "from_informed": Column("informed starts, L-BFGS"),
    "random_lbfgs": Column("random starts, L-BFGS"),
    "random_gd": Column("random starts, gradient descent", form=".2f", missing="beyond the map"),
    "students": Column("students", form="d"),
    "gd_above": Column("above by gradient descent", form="d"),
    "lbfgs_above": Column("above by L-BFGS", form="d"),
    "gd_gradient": Column("‖∇R‖ of the former, median", form=".1g", missing=""),
    "critical_moves": Column(f"{SYMBOLS['critical']} moves by", form="+.2f", missing=""),
    "linear_moves": Column(f"{SYMBOLS['linear']} moves by", form="+.2f", missing=""),
    "moved": Column("moved by gradient descent", missing=""),
    "ratio_semantic": Column("ε<sub>g</sub> over its limit, semantic"),
    "ratio_positional": Column("ε<sub>g</sub> over its limit, positional"),
    "count": Column("number of ω", form="d"),
    "mean": Column("mean difference"),
    "rms": Column("root mean square, in errors", form=".1f"),
    "largest": Column("largest, in errors", form="+.1f"),
    "largest_at": Column("at ω ="),
    "difference": Column("mean difference"),
    "cells": Column("cells", form="d"),
    "rms_difference": Column("root mean square", form=".2g"),
    "spread": Column("spread between data sets", form=".2g"),
    "semantic_above": Column("semantic start above", form="d"),
    "positional_above": Column("positional start above", form="d"),
    "mixed_above": Column("mixed start above", form="d"),
    "apart": Column("median difference of the losses", form=".0e"),
    "loss_spread": Column("spread between data sets", form=".1e"),
    "train_loss_share": Column("ε<sub>t</sub>", **PER_CENT),
    "theta_share": Column("θ", **PER_CENT),
    "test_mse_share": Column("ε<sub>g</sub>", **PER_CENT),
    # valleys
    "minima": Column("minima", form=".1f"),
    "fewest": Column("fewest", form="d"),
    "most": Column("most", form="d"),
    "scatter": Column("scatter of ε<sub>t</sub>", unit="10<sup>−5</sup>", size=1e-5),
    "relative_scatter": Column("scatter of ε<sub>t</sub>", form=".2g", **PER_CENT),
    "aligned": Column("cosine"),
    "ends": Column("ends", form="d"),
    "nearest": Column("nearest other end, from"),
    "farthest": Column("to"),
    "lowest_loss": Column("lowest ε<sub>t</sub>", unit="10<sup>−3</sup>", size=1e-3),
    "mean_loss": Column("mean ε<sub>t</sub>", unit="10<sup>−3</sup>", size=1e-3),
    "theory_loss": Column("ε<sub>t</sub>, theory", unit="10<sup>−3</sup>", size=1e-3),
    "theta_rms": Column("|θ|"),
    "m_rms": Column("|m|"),
    "train_loss": Column(SYMBOLS["train_loss"]),
    "dimension": Column("d", form=".0f", missing="theory"),
    "semantic": Column("semantic", form=".2f", missing=""),
    "positional": Column("positional", form=".2f", missing=""),
    "neither": Column("neither", form=".2f", missing=""),
    # one step of replica symmetry breaking
    "symmetric": Column("replica symmetric"),
    "one_step": Column("one step of breaking"),
    "shift": Column("moved by"),
    "model_error": Column("model error", form=".4f"),
    "resolved": Column("maximum seen"),
    "informed": Column("students, d → ∞"),
    "informed_off": Column("in errors", form="+.1f"),
    "searched": Column("students, lowest minima found"),
    "searched_off": Column("in errors", form="+.1f"),
    "branch_apart": Column("(q<sub>1</sub> − q<sub>0</sub>)/q<sub>1</sub>", form=".3f"),
    "y": Column("y", form=".0f"),
    "gained": Column("loss raised by", unit="%", size=0.01),
    "above": Column("students above", unit="%", size=0.01),
    "smaller": Column("students' q over theory's, less 1", unit="%", size=0.01),
    "grows": Column("q of the lowest minimum found over that of descent, less 1", unit="%", size=0.01),
    "hop": Column("gained by hops", unit="10<sup>−6</sup>", size=1e-6),
    "hop_share": Column("of the loss", form=".2f", **PER_CENT),
    "same": Column("starts that agree", form=".0f", **PER_CENT),
    "ahead": Column("more than many starts", unit="10<sup>−6</sup>", size=1e-6),
    **{
        f"annealed_{temperature:g}": Column(f"annealed, T = {temperature:g}", unit="10<sup>−6</sup>", size=1e-6)
        for temperature in (0.001, 0.003, 0.01)
    },
    # the published quadrature
    "published_alpha": Column("published", form=".4g"),
    "rule": Column("144 points", form=".3f"),
    "exact": Column("144 points, exact losses", form=".3f"),
    "rule_off": Column("144 points", form=".3f"),
    "exact_off": Column("144 points, exact losses", form=".3f"),
    "theory_off": Column("converged theory", form=".3f"),
    # stability
    "semantic_start": Column("semantic minimum from α ="),
    "positional_stop": Column("positional minimum to α =", missing="beyond the grid"),
    "replicon": Column("Λ"),
    "index": Column("tail index"),
    "predicted": Column("predicted"),
    "measured": Column("measured"),
    "distance": Column("theory"),
    "copies": Column("copies, derivative", form=".2f"),
    "copies_jumping": Column("copies, with jumps", form=".2f"),
    "settled": Column("data sets that settle", form="d"),
    "data_sets": Column("of", form="d"),
    "data_set": Column("data set", form="d"),
    "settles": Column("settled to 10<sup>−12</sup>"),
    "flat": Column("gradient below 10<sup>−6</sup>"),
    "cosine": Column("cosine with the L-BFGS minimum", form=".5f"),
    # counting
    "ours": Column("ours"),
    "published_spread": Column("published ±"),
    "reading": Column("reading"),
    "matrices": Column("attention matrices"),
    "rms_change": Column("root mean square"),
    "by_position": Column("by position"),
    "by_token": Column("by token"),
    "entries": Column("distance of"),
    "noise_alone": Column("noise alone", form=".3f"),
    "sgd_alone": Column("SGD alone", form=".3f"),
    "both": Column("both", form=".3f"),
    "letter": Column("worst letter"),
    "there": Column("wrong there", form=".2f", **PER_CENT),
    "elsewhere": Column("wrong at the other letters", form=".2f", **PER_CENT),
    "letter_sgd": Column("worst letter after SGD"),
    "there_sgd": Column("wrong there, after SGD", form=".2f", **PER_CENT),
    "change": Column("change by noise and SGD"),
    "epoch": Column("epochs of Adam", form="d"),
    "kept": Column("largest of the other runs", form=".1f", **PER_CENT),
    "lost_on": Column("data sets on which a start loses a letter", form="d"),
    "if_alike": Column("if all starts were alike", form=".1f"),
}
