"""Pages of the counting task: tables by hand, and the weights in the panel."""

import base64
import json
import re

import numpy as np
import pandas as pd
import pytest

from attention_book.pages import counting as page
from attention_book.pages.attention_matrices import attention_panel
from attention_phases.histogram import transformer

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


RUNS = runs(**{"accuracy": [0.998, 0.9988, 0.99, 0.998], "start to trained": [155.0, 165.0, 160.0, 170.0]})


def test_distances_as_published_leave_out_the_former_zeros_of_the_embeddings():
    read = page.as_published(RUNS, moved())
    by_sgd = 0.4 + 1.2 + 0.4 + 0.6 + 0.7  # of the embeddings sqrt(0.25 - 0.09) and sqrt(1.69 - 0.25)
    assert read["trained to final"].to_list() == pytest.approx([by_sgd, 2 * by_sgd, 3 * by_sgd, 6 * by_sgd])
    assert read["of_zeros"].to_list() == pytest.approx([0.3, 0.6, 0.9, 1.8])  # of Q and K alone
    pd.testing.assert_frame_equal(read[[*RUNS]], RUNS)


def test_table_1_compares_means_and_spreads():
    rows = page.beside_published(page.as_published(RUNS, moved()))
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
    first, second, *_ = page.table1(page.as_published(RUNS, moved())).to_dict("records")
    assert (first["published"], first["published_spread"]) == ("0.99885", "0.00045")
    assert first["ours"] == pytest.approx(0.9984) and first["ours_std"] == pytest.approx(0.0004)
    assert second["quantity"] == "start to trained" and second["ours_std"] == pytest.approx(50**0.5)


def test_readings_of_a_distance(monkeypatch):
    monkeypatch.setattr(page, "SETS", {"all tensors": None, "Q, K": ("query", "key")})
    distances = page.readings(moved(), "trained to final").set_index("reading")
    assert distances.loc["sum over all tensors", "positional"] == pytest.approx(3.5 * 1.5)
    assert distances.loc["sum over all tensors", "positional_std"] == pytest.approx(3.5 / 2**0.5)
    assert distances.loc["sum over Q, K", "semantic"] == pytest.approx(3 * 1.5)
    norm = (0.25 + 1.69 + 0.16 + 0.36 + 0.49) ** 0.5
    assert distances.loc["one norm of all entries", "positional"] == pytest.approx(1.5 * norm)
    zeros = page.readings(moved(), "trained to final", "of_zeros").set_index("reading")
    assert zeros.loc["sum over all tensors", "positional"] == pytest.approx(1.1 * 1.5)


def test_where_the_distance_comes_from():
    rows = page.moved_by(moved()).set_index("entries")
    assert rows.loc["all entries, positional"].to_list() == pytest.approx([0.5 * 5.25, 0.8 * 5.25, 5.25])
    assert rows.loc["former zeros, semantic"].to_list() == pytest.approx([0.5 * 4.95, 0.8 * 4.95, 4.95])


def test_changes_of_matrices_and_shares():
    seeds = pd.DataFrame({"positional": [0.1, 0.3], "semantic": [1.0, 1.0], "between": [2.0, 4.0]})
    changes = page.matrix_changes(seeds)
    assert changes["rms_change"].to_list() == pytest.approx([0.2, 1.0, 3.0])
    assert changes["rms_change_error"].to_list() == pytest.approx([0.1, 0.0, 1.0])
    names = ("by_position", "by_token", "by_position_sgd", "by_token_sgd")
    shares = page.attention_shares(runs(**{name: [0.1 + i, 0.3 + i, 0.5 + i, 0.9 + i] for i, name in enumerate(names)}))
    assert list(shares["solution"]) == [
        "positional, before SGD",
        "positional, after SGD",
        "semantic, before SGD",
        "semantic, after SGD",
    ]
    assert shares["by_position"].to_list() == pytest.approx([0.2, 2.2, 0.7, 2.7])
    assert shares["by_token"].to_list() == pytest.approx([1.2, 3.2, 1.7, 3.7])
    assert shares["by_token_std"].to_list() == pytest.approx([0.02**0.5, 0.02**0.5, 0.08**0.5, 0.08**0.5])


def test_changes_run_by_run():
    table = runs(accuracy=[0.9, 0.8, 0.5, 0.5], accuracy_sgd=[1.0, 0.92, 0.5, 0.5])
    changes = page.changes_by_sgd(table.assign(test_loss=1.0, test_loss_sgd=0.5)).set_index(["quantity", "solution"])
    by_hand = {
        ("accuracy", "positional"): 0.11,
        ("test_loss", "positional"): -0.5,
        ("accuracy", "semantic"): 0.0,
        ("test_loss", "semantic"): -0.5,
    }
    assert list(changes.index) == list(by_hand) and changes["change"].to_list() == pytest.approx([*by_hand.values()])
    assert changes["change_error"].to_list() == pytest.approx([0.01] + 3 * [np.finfo(np.float32).eps])


def test_the_worst_letters_the_worst_run_first():
    def worst(letters, there):
        return runs(letter=letters, there=there, elsewhere=[0.0, 0.01, 0.02, 0.03], all=[0.9, 0.8, 0.1, 0.2])

    worst = {"adam": worst(list("ABCD"), [0.1, 0.2, 0.3, 0.4]), "sgd": worst(list("EFGH"), [0.5] * 4)}
    assert page.worst_letters(worst, "semantic").to_dict("records") == [
        {"run": 1, "letter": "D", "there": 0.4, "elsewhere": 0.03, "letter_sgd": "H", "there_sgd": 0.5},
        {"run": 0, "letter": "C", "there": 0.3, "elsewhere": 0.02, "letter_sgd": "G", "there_sgd": 0.5},
    ]


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


def test_starts_are_counted_by_the_data_sets_on_which_they_lose_a_letter():
    first = losing([[0.9, 0.5, 0.5], [0.0, 0.5, 0.5], [0.9, 0.0, 0.0], [0.9, 0.0, 0.0]])
    second = losing([[0.0, 0.5, 0.5], [0.0] * 3, [0.0] * 3, [0.0] * 3], data_seed=1)
    counts = page.lost_by_start(page.lasting_errors(pd.concat([first, second])))
    assert counts["lost_on"].to_list() == [0, 1, 2] and counts["starts"].to_list() == [2, 1, 1]
    assert counts["if_alike"].to_list() == pytest.approx([4 * 0.375, 4 * 0.5, 4 * 0.125])  # of shares 1/2 and 1/4
    assert counts["if_alike_std"].to_list() == pytest.approx([(4 * p * (1 - p)) ** 0.5 for p in (0.375, 0.5, 0.125)])


def test_the_panel_carries_the_weights_exactly():
    flat = transformer.start(np.random.default_rng(0))
    html = attention_panel({"semantic": flat}, [range(10)])
    assert ">ABCDEFGHIJ</button>" in html
    data = json.loads(re.search(r'application/json">(.*?)</script>', html)[1])
    for name in ("token", "position", "query", "key"):
        sent = np.frombuffer(base64.b64decode(data["solutions"]["semantic"][name]), "<f4")
        assert (sent.reshape(data["shapes"][name]) == getattr(transformer.views(flat), name)).all()
