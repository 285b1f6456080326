"""What the page of the optimal learner shows, on rows made by hand."""

from cells import stored


# Theory of both minima at alpha = 1 and 2: the positional one ends between them, the semantic one begins there.


def test_the_penalty_decides_what_is_left_to_the_optimal_learner():
    """Of theory as stored: the loss comes close to the penalty of the teacher, which no other solution has."""
    rows = stored("optimal", "by_penalty")
    beyond = rows[rows["alpha"] > 0.5].set_index(["lam", "alpha"])
    assert (beyond["over_teacher"] < 1).all() and (beyond["squared_cosine_error"] < 0.03).all()
    for _, along in beyond.groupby("alpha"):
        along = along.sort_index(ascending=False)  # from the usual penalty down
        assert along["squared_cosine"].is_monotonic_increasing and along["squared_cosine"].iloc[-1] > 0.98
    least = beyond.loc[beyond.index.get_level_values("lam").min()]
    assert (least["other_over_teacher"] > 1.05).all() and least["other_over_teacher"].is_monotonic_increasing
    usual = beyond.xs(1e-2, level="lam")["squared_cosine"]
    known = {0.6: 0.161, 0.8: 0.377, 2.0: 0.842}  # computed once by another program
    assert all(abs(usual[alpha] - cosine) < 0.03 for alpha, cosine in known.items())
