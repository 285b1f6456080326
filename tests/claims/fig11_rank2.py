"""Claims of the page `fig11_rank2` about the stored results."""

from claims import each_holds, line, stored


def copies_of_rank_two_stay_apart():
    """Return whether two copies of message passing remain at a distance, by alpha, as on the page of architectures."""
    rows = stored("architectures_compared").distances.query("student == 'rank 2'")
    return rows.set_index("alpha")["distance"].notna().to_dict()


CLAIMS = {
    r"students of rank 2 learn without a jump": lambda: line("fig10_theory", "critical", form="rank2").empty,
    r"shows these signs at $\alpha=0.75$ but not at $\alpha=2$": lambda: (
        copies_of_rank_two_stay_apart() == {0.5: True, 0.75: True, 2.0: False}
    ),
}
test_claims = each_holds("fig11_rank2", CLAIMS)
