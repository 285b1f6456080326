"""Claims of the page `fig09_alternative` about the stored results."""

from attention_book import curve
from attention_phases import Measured
from claims import each_holds, line, load


def largest_loss_apart():
    """Return the largest relative difference of the losses of both starts on a data set, at omega = 0.2, alpha = 2."""
    rows = load("fig09", optimizer="lbfgs", omega=0.2, alpha=2.0)
    losses = rows.pivot(index="seed", columns="start", values="train_loss")
    return (losses["positional"] / losses["semantic"] - 1).abs().max()


def left_the_encoding(optimizer):
    """Return the share of students started at the encoding that overlap more with the teacher at alpha = 2."""
    rows = load("fig09", start="positional", alpha=2.0, optimizer=optimizer)
    return (rows["theta"].abs() > rows["m"].abs()).groupby(rows["omega"]).mean()


def minima_apart(omega):
    """Return the alpha at which the positional minimum ends minus the alpha at which the semantic one begins."""
    lines = load("fig09_theory")
    end, begin = (Measured(*curve(lines, f"{branch} border").loc[omega]) for branch in ("positional", "semantic"))
    return end - begin


CLAIMS = {
    r"with a different A the jump nearly disappears": lambda: (
        line("fig09_theory", "critical").index.max() < 0.1 < 0.5 < line("fig03_theory", "critical").index.max()
    ),
    r"both minima exist, but we cannot decide": lambda: abs((apart := minima_apart(0.08)).value) < apart.error,
    r"At $\alpha = 2$, all of them do so at $\omega = 0.2$, and four of ten do so at $\omega = 0.02$": lambda: (
        largest_loss_apart() < 1e-3 and left_the_encoding("lbfgs").loc[[0.02, 0.2]].to_list() == [0.4, 1.0]
    ),
    r"Up to $\omega = 0.12$, most students trained with gradient descent do not reach the semantic minimum": lambda: (
        (left_the_encoding("gd") < 0.5).loc[:0.22].idxmin() == 0.14
    ),
}
test_claims = each_holds("fig09_alternative", CLAIMS)
