"""Claims of the page `fig14_maps` about the stored results."""

import pandas as pd

from attention_book.analysis import instances, thresholds
from claims import each_holds, line, load, stored

page = stored("fig14_maps")


def from_random_starts():
    """Return alpha_l of rank 2 with published training, and alpha_l of both ranks in theory, by omega."""
    by_gd = load("fig14_random", optimizer="gd")
    gaps = {omega: instances.test_gap(rows, "random").mean(axis=1) for omega, rows in by_gd.groupby("omega")}
    last = pd.Series({omega: thresholds.last_fall(gap.index.to_numpy(), gap.to_numpy()) for omega, gap in gaps.items()})
    theory = {"two": line("fig14_theory", "linear", form="rank2"), "one": line("fig03_theory", "linear")}
    return pd.DataFrame({"random": last, **theory}).dropna(subset="random")


def later_by(**variant):
    """Return the relative increase of alpha_l for a variant over the standard student, averaged over omega."""
    alphas = line("fig14_theory", "linear", **variant)
    return (alphas / line("fig03_theory", "linear")).dropna().mean() - 1


CLAIMS = {
    r"only rank 2 widens the region where attention predicts better": lambda: (
        later_by(form="rank2") < 0 < min(later_by(form="untied"), later_by(correlation=0.3))
    ),
    r"At nearly all values of $\omega$, they also need a larger $\alpha$ than students of rank 1 do": lambda: (
        (from_random_starts()["random"] > from_random_starts()["one"]).mean() > 0.8
    ),
    r"They need a larger $\alpha$ to beat the linear model than students from informed starts do": lambda: (
        from_random_starts()["random"] > from_random_starts()["two"]
    ).all(),
    r"The students that have a high loss after these steps are not at a minimum": lambda: (
        page.gradient_ratio > 10 and (left := page.unfinished_counts)["gd"] > 10 * left["lbfgs"]
    ),
}
test_claims = each_holds("fig14_maps", CLAIMS)
