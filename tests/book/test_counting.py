"""Pages of the counting task: tables by hand, and the weights in the panel."""

import pandas as pd
import pytest
from cells import cell

PAGE = "table1_histogram"
RUN = ["variant", "seed"]
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


def epochs(*accuracies):
    """After Adam's two epochs each run has its accuracy; before and after that all are right."""
    runs = pd.MultiIndex.from_product([VARIANTS, (0, 1)], names=RUN)
    rows = pd.DataFrame({"accuracy": accuracies}, runs).reset_index().assign(what="epoch", adam_epochs=2)
    return pd.concat([rows.assign(epoch=2), *(rows.assign(epoch=epoch, accuracy=1.0) for epoch in (1, 3))])


def read_runs():
    """Names of the cell that reads each run as the paper measures it."""
    return cell(PAGE, "per_run", RUN=RUN, table=moved(), epochs=epochs(0.998, 0.9988, 0.99, 0.998))


def test_distances_as_published_leave_out_the_former_zeros_of_the_embeddings():
    read = read_runs()["per_run"]
    by_sgd = 0.4 + 1.2 + 0.4 + 0.6 + 0.7  # of the embeddings sqrt(0.25 - 0.09) and sqrt(1.69 - 0.25)
    assert read["trained to final"].to_list() == pytest.approx([by_sgd, 2 * by_sgd, 3 * by_sgd, 6 * by_sgd])
    assert read["of_zeros"].to_list() == pytest.approx([0.3, 0.6, 0.9, 1.8])  # of Q and K alone
    assert read["start to trained"].to_list() == pytest.approx([350, 700, 1050, 2100])
    assert read["accuracy"].to_list() == [0.998, 0.9988, 0.99, 0.998]


def test_table_1_compares_means_and_spreads():
    read = read_runs()["per_run"].assign(**{"start to trained": [155.0, 165.0, 160.0, 170.0]})
    rows = cell(PAGE, "beside_published", per_run=read)["beside_published"]
    assert len(rows) == 16 and set(rows["evidence"]) == {"transformers"} and set(rows["n"]) == {2}
    by = {(row.quantity, *row.parameters.values()): row for row in rows.itertuples()}
    mean, spread = (by["start to trained", "positional", name] for name in ("mean", "standard deviation"))
    assert (mean.value, mean.error, mean.published) == (160.0, pytest.approx(5.0), "158.9")
    assert mean.sigma == pytest.approx(1.1 / (25 + 4.4**2 / 10 + 0.01 / 12) ** 0.5)
    assert spread.published == "4.4" and spread.value == pytest.approx(50**0.5)
    assert spread.error == pytest.approx(50**0.5 / 2**0.5)
    assert spread.sigma == pytest.approx((50**0.5 - 4.4) / (25 + 4.4**2 / 18 + 0.01 / 12) ** 0.5)
    # The published spread of accuracies has n in the denominator.
    assert by["wrong", "positional", "standard deviation"].value == pytest.approx(0.04)
    mean = by["wrong", "semantic", "mean"]
    assert (mean.value, mean.error, mean.published) == (pytest.approx(0.6), pytest.approx(0.4), "0.106")


def test_table_1_in_the_papers_form():
    first, second, *_ = read_runs()["table1"].to_dict("records")
    assert (first["published"], first["published_spread"]) == ("0.99885", "0.00045")
    assert first["ours"] == pytest.approx(0.9984) and first["ours_std"] == pytest.approx(0.0004)
    assert second["quantity"] == "start to trained" and second["ours_std"] == pytest.approx(350 / 2**0.5)


def losing(shares, data_seed=0, lengths=(4, 7)):
    """Names of the cell on lost letters, for runs by the share told wrong at the worst letter, `shares` (starts,
    epochs): trained as long as that, and only for the first epochs."""
    wrong = pd.DataFrame(shares).rename_axis("start_seed").stack().rename_axis(["start_seed", "epoch"])
    rows = wrong.rename("there").reset_index()
    rows = rows.assign(data_seed=data_seed, epoch=rows["epoch"] + 1)
    both = [rows[rows["epoch"] <= length].assign(epochs=length) for length in lengths]
    return cell(PAGE, "of_lost", read=lambda *_: pd.concat(both), profile="")


def test_one_bad_epoch_is_not_lasting():
    names = losing([[0.9, 0.5, 0.7, 0.1, 0.3], [0.0, 0.0, 0.9, 0.0, 0.0]], lengths=(3, 5))
    assert names["errors"][0, 0].to_list() == [0.7, 0.7, 0.5, 0.3, 0.3]
    assert names["errors"][0, 1].to_list() == [0.0] * 5
    assert names["exchanged"][0, 0].to_list() == [0.7] * 3  # without what longer runs saw later


def test_a_letter_is_lost_in_the_first_epochs():
    shares = [[0.6] * 4 + [0.2] * 3, [0.04, 0.04, 0.9, 0.01, 0.01, 0.3, 0.3], [0.4] * 4 + [0.1] * 3, [0.24] * 7]
    names = losing(shares)
    assert names["lost"].to_list() == names["lost_exchanged"].to_list() == [True, False, True, False]
    fourth, seventh = names["of_lost"].to_dict("records")
    assert (fourth["epoch"], fourth["there_low"], fourth["there_high"]) == (4, 0.4, 0.6)
    assert (fourth["there"], fourth["kept"]) == (pytest.approx(0.5), 0.24)
    assert (seventh["epoch"], seventh["there"], seventh["kept"]) == (7, pytest.approx(0.15), 0.3)
