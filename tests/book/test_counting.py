"""Pages of the counting task: tables by hand, and the weights in the panel."""

import pandas as pd
import pytest

from attention_book.pages import counting as page

VARIANTS = ("positional", "semantic")
TENSORS = {"token": (0.5, 0.3), "position": (1.3, 0.5), "query": (0.4, 0.2), "key": (0.6, 0.1), "output": (0.7, 0.0)}
SPANS = {"start to trained": 100.0, "trained to final": 1.0, "trained to displaced": 0.5, "displaced to final": 0.8}


def moved():
    """Two runs of each solution; the second moves twice as far, and the semantic ones three times."""
    index = pd.MultiIndex.from_product([VARIANTS, (0, 1), SPANS, TENSORS], names=["variant", "seed", "span", "tensor"])
    rows = index.to_frame(index=False)
    factor = rows["span"].map(SPANS) * (1 + rows["seed"]) * (1 + 2 * (rows["variant"] == "semantic"))
    distance, zeros = (rows["tensor"].map(dict(zip(TENSORS, values))) for values in zip(*TENSORS.values()))
    return rows.assign(what="distance", distance=factor * distance, of_zeros=factor * zeros)


def runs(**columns):
    index = pd.MultiIndex.from_product([VARIANTS, (0, 1)], names=["variant", "seed"])
    return pd.DataFrame(columns, index)


def epochs(*accuracies):
    """After Adam's two epochs each run has its accuracy; before and after that all are right."""
    rows = runs(accuracy=accuracies).reset_index().assign(what="epoch", adam_epochs=2)
    return pd.concat([rows.assign(epoch=2), *(rows.assign(epoch=epoch, accuracy=1.0) for epoch in (1, 3))])


def read_runs():
    return page.per_run(pd.concat([moved(), epochs(0.998, 0.9988, 0.99, 0.998)]))


def test_distances_as_published_leave_out_the_former_zeros_of_the_embeddings():
    read = read_runs()
    by_sgd = 0.4 + 1.2 + 0.4 + 0.6 + 0.7  # of the embeddings sqrt(0.25 - 0.09) and sqrt(1.69 - 0.25)
    assert read["trained to final"].to_list() == pytest.approx([by_sgd, 2 * by_sgd, 3 * by_sgd, 6 * by_sgd])
    assert read["of_zeros"].to_list() == pytest.approx([0.3, 0.6, 0.9, 1.8])  # of Q and K alone
    assert read["start to trained"].to_list() == pytest.approx([350, 700, 1050, 2100])
    assert read["accuracy"].to_list() == [0.998, 0.9988, 0.99, 0.998]


def test_table_1_compares_means_and_spreads():
    read = read_runs().assign(**{"start to trained": [155.0, 165.0, 160.0, 170.0]})
    rows = page.runs_beside_published(read)
    assert len(rows) == 16 and set(rows["evidence"]) == {"transformers"} and set(rows["n"]) == {2}
    by = {(row.quantity, *row.parameters.values()): row for row in rows.itertuples()}
    mean, spread = (by["start to trained", "positional", name] for name in ("mean", "standard deviation"))
    assert (mean.value, mean.error, mean.published) == (160.0, pytest.approx(5.0), "158.9")
    assert mean.sigma == pytest.approx(1.1 / (25 + 4.4**2 / 10 + 0.01 / 12) ** 0.5)
    assert spread.published == "4.4" and spread.value == pytest.approx(50**0.5)
    assert spread.error == pytest.approx(50**0.5 / 2**0.5)
    assert spread.sigma == pytest.approx((50**0.5 - 4.4) / (25 + 4.4**2 / 18 + 0.01 / 12) ** 0.5)
    # The published spread of accuracies has n in the denominator.
    assert by["accuracy", "positional", "standard deviation"].value == pytest.approx(0.0004)
    assert by["accuracy", "semantic", "mean"].error == pytest.approx(0.004)


def test_table_1_in_the_papers_form():
    first, second, *_ = page.table1(read_runs()).to_dict("records")
    assert (first["published"], first["published_spread"]) == ("0.99885", "0.00045")
    assert first["ours"] == pytest.approx(0.9984) and first["ours_std"] == pytest.approx(0.0004)
    assert second["quantity"] == "start to trained" and second["ours_std"] == pytest.approx(350 / 2**0.5)


def losing(shares, data_seed=0):
    """Rows of runs by the share told wrong at the worst letter, `shares` (starts, epochs)."""
    wrong = pd.DataFrame(shares).rename_axis("start_seed").stack().rename_axis(["start_seed", "epoch"])
    rows = wrong.rename("there").reset_index()
    return rows.assign(data_seed=data_seed, epoch=rows["epoch"] + 1)


def test_one_bad_epoch_is_not_lasting():
    errors = page.lasting_errors(losing([[0.9, 0.5, 0.7, 0.1, 0.3], [0.0, 0.0, 0.9, 0.0, 0.0]]))
    assert errors[0, 0].to_list() == [0.7, 0.7, 0.5, 0.3, 0.3]
    assert errors[0, 1].to_list() == [0.0] * 5


def test_a_letter_is_lost_in_the_first_epochs():
    shares = [[0.6] * 4 + [0.2] * 3, [0.04, 0.04, 0.9, 0.01, 0.01, 0.3, 0.3], [0.4] * 4 + [0.1] * 3, [0.24] * 7]
    errors = page.lasting_errors(losing(shares))
    assert page.lost(errors).to_list() == [True, False, True, False]
    second, seventh = page.lost_letters(errors, (7, 2)).to_dict("records")
    assert (second["epoch"], second["there_low"], second["there_high"]) == (2, 0.4, 0.6)
    assert (second["there"], second["kept"]) == (pytest.approx(0.5), 0.24)
    assert (seventh["epoch"], seventh["there"], seventh["kept"]) == (7, pytest.approx(0.15), 0.3)
