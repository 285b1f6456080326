"""Claims of the page `fig07_dimension` about the stored results."""

from attention_phases import Task, solve
from claims import ENDS, each_holds, load, per_cent


def lbfgs_above_descent(start):
    """Return how much higher L-BFGS's test error is than gradient descent's in Figure 7, in per cent, with error."""
    rows = load("fig07", start=start).query("d >= 135").pivot(index=["d", "seed"], columns="optimizer")["test_mse"]
    share = rows["lbfgs"] / rows["gd"] - 1
    return per_cent(share.mean(), share.sem(), 1)


def above_the_limit(start):
    """Return the relative difference between the mean test error of gradient descent and the theory, by d."""
    limit = solve(Task(), 1.5, start, 2**10, 8).test_mse
    return (load("fig07", optimizer="gd", start=start).groupby("d")["test_mse"].mean() / limit - 1).abs()


CLAIMS = {
    r"students approach the theory as d grows": lambda: all(
        apart[500] < apart[87] < apart[10] for apart in map(above_the_limit, ENDS)
    ),
    r"1.1(1) % for students that start at the teacher, and by 0.4(1) % for students that start at": lambda: (
        lbfgs_above_descent("semantic") == (1.1, 0.1)
        and lbfgs_above_descent("positional")[0] == 0.4
        and lbfgs_above_descent("positional")[1] < 0.1
    ),
}
test_claims = each_holds("fig07_dimension", CLAIMS)
