"""Claims of the page `fig03_phase_diagram` about the stored results."""

from scipy.stats import norm

from attention_phases import Task
from claims import each_holds, line, load, stored

page = stored("fig03_phase_diagram")


def changed():
    """Return the share of students whose other overlap is larger, in units of the largest d, by d and start."""
    table = load("fig07", optimizer="gd")
    largest = table[table["d"] == table["d"].max()].groupby("start")[["theta", "m"]].mean().abs()
    theta = table["theta"].abs() / largest.loc["semantic", "theta"]
    m = table["m"].abs() / largest.loc["positional", "m"]
    other = (theta > m) == (table["start"] == "positional")
    return other.groupby([table["d"], table["start"]]).mean()


CLAIMS = {
    r"a more positional teacher moves the transition to more data": lambda: all(
        line("fig03_theory", what).is_monotonic_increasing for what in ("critical", "linear")
    ),
    r"From $d = 135$ on every student keeps the mechanism with which it starts": lambda: changed().loc[135:].max() == 0,
    r"At $d = 10$ about a third of the students that start at the teacher switch": lambda: (
        0.3 < changed().loc[10, "semantic"] < 0.35 and changed().max() == changed().loc[10, "semantic"]
    ),
    r"The largest single difference is {glue:text}`farthest`, which is more than chance explains": lambda: (
        2 * len(page.large) * norm.sf(page.large["sigma_off"].abs().max()) < 0.01
    ),
    r"Below the red line, nearly all students that start at the teacher end closer to the teacher than to the "
    r"encoding, if $\alpha$ is at least 0.2 and $\omega$ at most 0.3": lambda: all(
        (rows["theta"].abs() > Task().sigma ** 2 * rows["m"].abs()).mean() > 0.95
        for omega, border in line("fig03_theory", "semantic border").loc[:0.3].items()
        for _, rows in load("fig03", start="semantic", omega=omega).query("0.2 <= alpha < @border").groupby("optimizer")
    ),
    r"at $\omega = 0.1$ and $\alpha = 2$, far beyond the blue line, nearly all students that start": lambda: (
        (load("fig03", start="positional", omega=0.1, alpha=2.0)["m"].abs() / Task().sigma ** 2 > 0.3).mean() > 0.9
        and line("fig03_theory", "positional border")[0.1] < 1.2
    ),
}
test_claims = each_holds("fig03_phase_diagram", CLAIMS)
