"""Claims of the page `minima` about the stored results."""

from claims import each_holds, load, stored

page = stored("minima")


def semantic_minima(omega):
    """Return the smallest and largest number of minima that starts in the semantic valley reach on one data set."""
    rows = page.valleys.set_index(["omega", "valley"])
    return tuple(rows.loc[(omega, "semantic"), ["minima_low", "minima_high"]])


def gained_by_hops():
    """Return the lowest loss of many starts minus the loss of a search, at omega = 0.3, by d."""
    table = load("searched", omega=0.3, valley="semantic")
    lowest = table.groupby(["d", "seed", "search"])["train_loss"].min().unstack()
    return (lowest["descent"] - lowest["hop"]).groupby("d").mean()


CLAIMS = {
    r"all starts lead to a single minimum at $\omega = 0.3$, $\alpha = 1.5$. At $\omega = 0.1$ near the transition, "
    r"the starts in this valley lead to tens of minima": lambda: (
        semantic_minima(0.3) == (1, 1) and semantic_minima(0.1)[0] > 10
    ),
    r"At the transition, $\alpha = 1.25$, there are one or two minima on a data set": lambda: (
        stored("fig03_phase_diagram")
        .valleys.query("omega == 0.3 and alpha == 1.25 and valley == 'semantic'")[["fewest", "most"]]
        .to_dict("list")
        == {"fewest": [1], "most": [2]}
    ),
    r"Searches in $d = 250$, 500 and 1000 find minima with a lower loss": lambda: (gained_by_hops() > 0).all(),
}
test_claims = each_holds("minima", CLAIMS)
