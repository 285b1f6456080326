"""Claims of the page `published_tables` about the stored results."""

from attention_book import crossing_limits
from attention_book.published import CRITICAL_ALPHA
from claims import each_holds, load, stored

page = stored("published_tables")


def spread_of_factors():
    """Return the largest relative deviation of a published curve's factor from its median, by curve."""
    rows = page.factors
    return (rows[["least", "most"]].div(rows["factor"], axis=0) - 1).abs().max(axis=1)


CLAIMS = {
    r"At $\omega=0.1$ the printed $\alpha_c$ agrees with the crossing of trained students, extrapolated to": lambda: (
        abs((found := crossing_limits(load("crossing"))[1].loc[0.1])["alpha"] - CRITICAL_ALPHA[0.1].value)
        < found["alpha_error"]
    ),
    r"Every printed threshold is smaller than ours": lambda: all(
        (rows["alpha"] > rows["printed"]).all() for rows in page.threshold_rows.values()
    ),
    r"six of these medians are above 1 %. Two of the six are on the symmetric branch ($m=\theta=0$) at $\omega=0.3$, "
    r"two on the positional branch at $\omega=0.5$, and two on the semantic branch at $\omega=0.5$": lambda: (
        (rows := page.large_medians)["what"].value_counts().to_dict()
        == {"symmetric, ω = 0.3": 2, "positional, ω = 0.5": 2, "semantic, ω = 0.5": 2}
        and set(rows["quantity"]) == {"q", "V", "theta"}
    ),
    r"we reproduce the published test errors of all but two files, up to one constant factor for each file. The "
    r"relative accuracy is $10^{-4}$": lambda: (spread_of_factors() < 1e-4).all() and len(spread_of_factors()) == 7,
    r"At $\omega=0.15$, the names of two of the authors' files refer to the alternative matrix $A$. The numbers in "
    r"these files are close to the results for the standard $A$": lambda: (
        page.curve_medians.query("what.str.contains('0.15')")["rule_away"].between(0.01, 0.05).all()
    ),
}
test_claims = each_holds("published_tables", CLAIMS)
