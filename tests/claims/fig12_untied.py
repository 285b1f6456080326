"""Claims of the page `fig12_untied` about the stored results."""

from attention_phases import Task
from claims import ENDS, each_holds, line, load


def left_the_teacher():
    """Return, for untied students started at the teacher, whether the cosine with the positions is larger."""
    rows = load("fig12", start="semantic").set_index(["alpha", "seed"])
    return rows["theta"].abs() / Task().sigma ** 2 < rows["m"].abs()


def untied_off():
    """Return the largest relative difference between untied students and theory in loss or test error."""
    lines = load("fig10_theory", form="untied")
    students = load("fig12").groupby(["start", "alpha"])[["train_loss", "test_mse"]].mean()
    off = []
    for branch in ENDS:
        theory = lines[lines["what"] == branch].set_index("alpha")[["train_loss", "test_mse"]].loc[1.6:]
        off.append((students.loc[branch].loc[theory.index] / theory - 1).abs().max().max())
    return max(off)


CLAIMS = {
    r"untied weights need more data": lambda: all(
        line("fig10_theory", what, form="untied").item() > line("fig02_theory", what).item()
        for what in ("critical", "linear")
    ),
    r"At $d=1000$, students and lines agree to about three per cent": lambda: 0.025 < untied_off() < 0.035,
    r"them do so at $\alpha=0.84$, about half of them at $\alpha=1.25$, and one of them at $\alpha=1.59$": lambda: (
        left_the_teacher().groupby(lambda key: round(key[0], 2)).sum().loc[[0.84, 1.25, 1.59]].to_list() == [23, 11, 1]
    ),
    r"1.8 times as large as for tied weights": lambda: (
        round(line("fig10_theory", "critical", form="untied").item() / line("fig02_theory", "critical").item(), 1)
        == 1.8
    ),
}
test_claims = each_holds("fig12_untied", CLAIMS)
