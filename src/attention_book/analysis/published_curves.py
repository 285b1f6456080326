"""The theory curves that the authors published, computed on 144 points and given without errors, beside ours.

As with their means, see `published_tables`, only differences are kept.
"""

import json
from typing import NamedTuple

import pandas as pd

from attention_phases.task import Task
from attention_phases.theory import solve
from attention_phases.theory.branches import OWN


class Curve(NamedTuple):
    """A file of theirs: its SHA-256, and the branch along alpha that is in it, at sigma = 0.5 and lambda = 0.01.

    `losses`: whether its free energies are training losses; those at omega = 0.5 have another zero.
    """

    digest: str
    omega: float
    branch: str
    matrix: str = "standard"
    losses: bool = True


PREFIX = "repl_softmax_Mixed_sig0.5_lamb0.01_omega"
CURVES = {
    "0.3": Curve("e0f034433116dbb72f55ba735c3debfc01295279e052ed84e0c8b07f9b31d9fd", 0.3, "semantic"),
    "0.3_para": Curve("f671a62b954578da70bd278c4b48dcc72a259dbd0138d6700672b1e51a52709f", 0.3, "positional"),
    "0.3_agno": Curve("707fbe3fb6b014e033a46c7bd618bd51350f8561885a2437c16bedb29e0a7e51", 0.3, "symmetric"),
    "0.5": Curve("05b2003e845ed6df6eb74077cf76ba2ec9e5230c48e1f6b995df3b20be5195ac", 0.5, "semantic", losses=False),
    "0.5_para": Curve(
        "eb7b12eb0c6c7f538a1b5ef1da9d1f0886c4836bf6b9406126644171c8e6ce5f", 0.5, "positional", losses=False
    ),
    "0.14_Aalt": Curve(
        "563095d66ed4396aad3e7b92c58cf0d56c76f400dfff1707aba39b39397090ec", 0.14, "semantic", "alternative"
    ),
    "0.14_para_Aalt": Curve(
        "1e9fea701fb917fcfd4680c5cd00f5dd6dbc6391ae2b1a052d4a023b48f7fed0", 0.14, "positional", "alternative"
    ),
    # named after the alternative A, but far from its solutions and close to those of the standard one
    "0.15_Aalt": Curve("a3e18fe8d973150d114c3173416f6cd881d09e764769f5951aa0efb4605d84da", 0.15, "semantic"),
    "0.15_para_Aalt": Curve("bbb1e78d60d10acc7cc640bc55e94180896664041486bf3864cef61a874ee84c", 0.15, "positional"),
}
FILES = {f"{PREFIX}{name}.csv": curve.digest for name, curve in CURVES.items()}
POINTS, SCRAMBLES = 2**11, 8  # of ours: errors of a few per mille, where theirs are off by per cents


def beside_ours(paths):
    """Every number of their curves beside ours: a row for each alpha and quantity.

    `away` is ours minus theirs, over the largest value along both curves.

    paths: of `FILES`, by name.
    """
    theirs = {curve: pd.read_csv(paths[f"{PREFIX}{name}.csv"]) for name, curve in CURVES.items()}
    return pd.concat([_beside_ours(*pair) for pair in theirs.items()], ignore_index=True)


def _beside_ours(curve, theirs):
    task = Task(omega=curve.omega, matrix=curve.matrix)
    # their test errors are summed over both tokens, ours are means
    theirs = theirs.assign(test_mse=theirs["mse"] / 2, train_loss=-theirs["Phi"])
    theirs[["m", "theta"]] = theirs[["m", "theta"]].abs()
    solutions = [solve(task, alpha, curve.branch, POINTS, SCRAMBLES) for alpha in theirs["alpha"]]
    ours = [vars(solution) | solution.overlaps._asdict() for solution in solutions]
    quantities = ["q", "V", "test_mse"]
    if curve.branch in OWN:
        quantities.append(OWN[curve.branch])
    if curve.losses:
        quantities.append("train_loss")
    cell = {name: getattr(task, name) for name in ("sigma", "omega", "lam")} | {"form": "tied", "start": curve.branch}
    cell["matrix"] = json.dumps(task.matrix, separators=(",", ":"))
    frames = []
    for name in quantities:
        values = [abs(solution[name]) for solution in ours]
        errors = [solution.stderr[name] for solution in solutions]
        away = (values - theirs[name]) / max(*values, *theirs[name])
        rows = {"alpha": theirs["alpha"], "ours": values, "ours_error": errors, "away": away.round(4)}
        frames.append(pd.DataFrame(cell | {"quantity": name, "optimizer": "theory"} | rows))
    return pd.concat(frames)
