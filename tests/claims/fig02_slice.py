"""Claims of the page `fig02_slice` about the stored results."""

from attention_phases import Task, solve
from claims import each_holds, line, load


def positional_gain(alpha):
    return solve(Task(), alpha, "positional", 2**10, 8).gain


def both_last(omega):
    """Return whether both minima exist where the losses cross: the semantic one from before, the positional one on."""
    places = ("semantic border", "critical", "positional border")
    begins, crosses, ends = (line("fig03_theory", what).get(omega) for what in places)
    return begins < crosses and (ends is None or crosses < ends)


def stayed_with_teacher():
    """Return the share of students started at the teacher that end closer to it, by optimiser and alpha."""
    students = load("fig02", start="semantic")
    is_closer = students["theta"].abs() > Task().sigma ** 2 * students["m"].abs()
    return is_closer.groupby([students["optimizer"], students["alpha"]], observed=True).mean()


CLAIMS = {
    r"The free energies cross, and both minima survive": lambda: all(map(both_last, (0.1, 0.3, 0.4))),
    r"from $\alpha = 0.2$ on, most students": lambda: stayed_with_teacher().loc[:, 0.2:].min() > 0.5,
    r"at $\omega=0.3$ it ends beyond $\alpha=10$": lambda: (
        positional_gain(10) < 1 < positional_gain(35)  # with four times the points, .985(14) at 15 and 1.046(13) at 25
    ),
}
test_claims = each_holds("fig02_slice", CLAIMS)
