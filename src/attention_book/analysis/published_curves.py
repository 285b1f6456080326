"""The theory curves that the authors published beside ours: by their rules (`published_rule`), and on many points.

As with their means, see `published_tables`, only differences are kept.
"""

import json
from typing import NamedTuple

import pandas as pd

from attention_phases.task import Task
from attention_phases.theory.branches import OWN
from attention_phases.theory.equations import Scalars

from .. import published
from ..experiments.published_rule import rule_step
from ..paths import stored_table
from ..store import parquet


class Curve(NamedTuple):
    """A file of theirs: its SHA-256, and the branch along alpha that is in it, at sigma = 0.5 and lambda = 0.01.

    `losses`: whether its free energies are training losses; those at omega = 0.5 leave out `label_loss`.
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
CLOSE = 1e-3  # relative
FILES = {f"{PREFIX}{name}.csv": curve.digest for name, curve in CURVES.items()}


def beside_ours(paths):
    """Every number of their curves beside ours: a row for each alpha and quantity.

    `away` is ours minus theirs, over the largest value along both curves. `rule_away` is what their rules give minus
    theirs, over theirs; `step_away` the same of one step of the rules from their overlaps, and of the losses of these.

    paths: of `FILES`, by name.
    """
    theirs = {curve: pd.read_csv(paths[f"{PREFIX}{name}.csv"]) for name, curve in CURVES.items()}
    ours = parquet.load(stored_table("published_rule"))
    return pd.concat([_beside_ours(curve, rows, ours) for curve, rows in theirs.items()], ignore_index=True)


def _beside_ours(curve, theirs, ours):
    task = Task(omega=curve.omega, matrix=curve.matrix)
    # their test errors are summed over both tokens, ours are means
    theirs = theirs.assign(test_mse=theirs["mse"] / 2, train_loss=-theirs["Phi"], alpha=theirs["alpha"].round(6))
    theirs[["m", "theta"]] = theirs[["m", "theta"]].abs()
    cell = {name: getattr(task, name) for name in ("sigma", "omega", "lam")} | {"form": "tied", "start": curve.branch}
    cell["matrix"] = json.dumps(task.matrix, separators=(",", ":"))
    same = (ours["what"] == curve.branch) & (ours["omega"] == task.omega) & (ours["matrix"] == cell["matrix"])
    held = [name for branch, name in OWN.items() if branch != curve.branch]
    starts = [Scalars(*row) for row in theirs.assign(**dict.fromkeys(held, 0.0))[[*Scalars._fields]].to_numpy()]
    steps = [rule_step(task, alpha, start) for alpha, start in zip(theirs["alpha"], starts)]
    theirs = theirs.join(pd.DataFrame(steps, index=theirs.index).add_prefix("step_"))
    frames = []
    for name, rows in ours[same].assign(alpha=ours["alpha"].round(6)).groupby("quantity", observed=True, sort=False):
        if name == "train_loss" and not curve.losses:
            continue
        rows = theirs[["alpha", name, f"step_{name}"]].merge(rows, on="alpha", validate="one_to_one")
        values, known = rows["many"], rows[name]
        away = (values - known) / max(*values, *known)
        columns = {"alpha": rows["alpha"], "ours": values, "ours_error": rows["many_error"], "away": away.round(4)}
        columns["rule_away"] = (rows["rule"] / known - 1).round(5)
        columns["step_away"] = (rows[f"step_{name}"] / known - 1).round(5)
        frames.append(pd.DataFrame(cell | {"quantity": name, "optimizer": "theory"} | columns))
    return pd.concat(frames)


def by_rules(compared, rules, by=("what", "quantity")):
    """How much of the published theory follows from its rules, and how far it is from converged theory.

    A row for each kind of number: `numbers`, how many; `within`, the share of them that the rules give to `CLOSE`;
    and medians of relative distances: of the rules, of one step of them (`step_away`), and of converged theory
    (`many_away`).

    compared, rules: the comparison with the published tables, and the experiment "published_rule".
    by: what makes a kind: `what` is a curve or a kind of threshold
    """
    curves = compared[compared["rule_away"].notna()].rename(columns={"away": "many_away"})
    other = curves["matrix"].astype(str).str.startswith("[[0.3").map({True: ", other A", False: ""})
    what = curves["start"].astype(str) + ", ω = " + curves["omega"].map("{:g}".format) + other
    frames = [curves.assign(what=what)]
    for kind, known in published.THRESHOLDS.items():
        rows = rules[rules["what"] == kind].set_index("omega")
        frames.append(_away(kind, "alpha", known, rows["rule"], rows["alpha"]))
    linear = rules[rules["what"] == "baseline"].set_index("omega")
    frames.append(_away("linear model", "test_mse", {0.3: published.LINEAR_MODEL}, linear["rule"], linear["many"]))
    table = pd.concat(frames, ignore_index=True).astype({"quantity": str})
    away = ["rule_away", "step_away", "many_away"]
    table = table.assign(**table[away].abs(), within=table["rule_away"].abs() < CLOSE)
    kinds = table.groupby([*by], sort=False)
    summary = kinds[["within"]].mean().join(kinds[away].median())
    return summary.assign(numbers=kinds.size()).reset_index()


def _away(what, quantity, known, rule, many):
    """Rows of numbers by omega: what a rule, and many points, are from what is `known`, over this."""
    theirs = pd.Series({omega: number.value for omega, number in known.items()})
    away = {name: values / theirs - 1 for name, values in (("rule_away", rule), ("many_away", many))}
    return pd.DataFrame(away).loc[list(known)].assign(what=what, quantity=quantity)
