"""What `fig11_rank2` says of the stored results."""

from claims import each_holds, line, stored


def copies_of_rank_two_stay_apart():
    """By alpha, whether two copies of message passing stay apart, as the page of architectures says."""
    rows = stored("architectures_compared").settled.query("student == 'rank 2'")
    return rows.set_index("alpha")["distance"].notna().to_dict()


CLAIMS = {
    r"rank 2 learns without a jump": lambda: line("fig10_theory", "critical", form="rank2").empty,
    r"beyond it, at $\alpha=0.75$; at $\alpha=2$ there are none": lambda: (
        copies_of_rank_two_stay_apart() == {0.5: True, 0.75: True, 2.0: False}
    ),
}
test_claims = each_holds("fig11_rank2", CLAIMS)
