"""Claims of the page `stability` about the stored results."""

from attention_phases import Task, solve
from claims import each_holds, load


def settled_near_the_transition():
    """Return on how many data sets semantic message passing converges at the alpha closest to alpha_c, by omega."""
    rows = load("stability", what="settled", start="semantic").astype({"settled": bool})
    nearest = rows.groupby("omega")["alpha"].transform("min") == rows["alpha"]
    return rows[nearest & (rows["omega"] <= 0.3)].groupby("omega")["settled"].sum()


CLAIMS = {
    r"near $\alpha_c$, message passing settled on one to three of the four data sets": lambda: (
        set(settled_near_the_transition()) == {1, 2, 3}
    ),
    r"On the positional branch it settled on none": lambda: (
        not load("stability", what="settled", start="positional")["settled"].astype(bool).any()
    ),
}
test_claims = each_holds("stability", CLAIMS)


def test_message_passing_settles_damped_and_runs_away_undamped_where_its_page_says():
    assert solve(Task(omega=0.1), 1.5, "semantic", 512).gain < -1
    there = load("stability", omega=0.1, alpha=1.5)
    assert there[there["what"] == "settled"]["settled"].astype(bool).all()
    assert set(there[there["what"] == "copies"]["damping"]) == {0.7}  # undamped copies that diverge have no row
