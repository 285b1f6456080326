"""Claims of the page `fig13_value` about the stored results."""

from claims import each_holds, load


def rise_with_full_value():
    rows = load("fig13_full", start="semantic")
    errors = rows.pivot(index=["alpha", "seed"], columns="form", values="test_mse")
    return (errors["full_value"] / errors["tied"] - 1).groupby("alpha").mean().loc[0.5:1.2]


CLAIMS = {
    r"Between $\alpha=0.5$ and 1.2, it increases the test error of the semantic student by 47 to 70 %": lambda: (
        round(rise_with_full_value().min(), 2) == 0.47 and round(rise_with_full_value().max(), 2) == 0.7
    ),
}
test_claims = each_holds("fig13_value", CLAIMS)
