"""What `minima` says of the stored results."""

from claims import each_holds, load, stored

page = stored("minima")


def semantic_minima(omega):
    """Fewest and most minima that starts in the semantic valley lead to on a data set."""
    rows = page.valleys.set_index(["omega", "valley"])
    return tuple(rows.loc[(omega, "semantic"), ["minima_low", "minima_high"]])


def gained_by_hops():
    """Loss of the lowest of many starts minus that of a search, in the semantic valley at omega = 0.3, mean by d."""
    table = load("searched", omega=0.3, valley="semantic")
    lowest = table.groupby(["d", "seed", "search"])["train_loss"].min().unstack()
    return (lowest["descent"] - lowest["hop"]).groupby("d").mean()


CLAIMS = {
    r"starts find a single one at $\omega = 0.3$, $\alpha = 1.5$, and tens at $\omega = 0.1$": lambda: (
        semantic_minima(0.3) == (1, 1) and semantic_minima(0.1)[0] > 10
    ),
    r"at the transition at $\omega = 0.3$, $\alpha = 1.25$, one or two": lambda: (
        stored("fig03_phase_diagram")
        .valleys.query("omega == 0.3 and alpha == 1.25 and valley == 'semantic'")[["fewest", "most"]]
        .to_dict("list")
        == {"fewest": [1], "most": [2]}
    ),
    r"searches in $d = 250$, 500 and 1000 find lower ones": lambda: (gained_by_hops() > 0).all(),
}
test_claims = each_holds("minima", CLAIMS)
