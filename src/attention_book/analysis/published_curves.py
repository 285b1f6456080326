"""How much of the theory that the authors published follows from their rules (`published_rule`)."""

import pandas as pd

from .. import published

CLOSE = 1e-3  # relative


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
