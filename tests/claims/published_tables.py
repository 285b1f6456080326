"""What `published_tables` says of the stored results."""

from claims import each_holds, stored

page = stored("published_tables")


def spread_of_factors():
    """Of each published curve, how far its test errors over those of the rules are from their median at most."""
    rows = page.factors
    return (rows[["least", "most"]].div(rows["factor"], axis=0) - 1).abs().max(axis=1)


CLAIMS = {
    r"Converged integrals move every printed threshold to more data": lambda: all(
        (rows["alpha"] > rows["known"]).all() for rows in page.of_kind.values()
    ),
    r"more than 1 % off in six order parameters, of the symmetric branch at $\omega=0.3$ and of both others at "
    r"$\omega=0.5$": lambda: (
        (rows := page.far_off)["what"].value_counts().to_dict()
        == {"symmetric, ω = 0.3": 2, "positional, ω = 0.5": 2, "semantic, ω = 0.5": 2}
        and set(rows["quantity"]) == {"q", "V", "theta"}
    ),
    r"those of the rules at the published overlaps to $10^{-4}$, but for a factor, one for each file": lambda: (
        (spread_of_factors() < 1e-4).all() and len(spread_of_factors()) == 7
    ),
    r"Two files named after the alternative $A$, at $\omega=0.15$, are close to the standard one": lambda: (
        page.by_curve.query("what.str.contains('0.15')")["rule_away"].between(0.01, 0.05).all()
    ),
}
test_claims = each_holds("published_tables", CLAIMS)
