"""Transformers that learn to count (Figures 4 to 6, Table 1), and runs with swapped initial weights or data.

Appendix A of the paper describes the task.

Experiments:
    histogram: The counting task of Figures 4, 5, 6 and Table 1, with all runs of both variants or some of them.
    counting_control: The first runs of the experiment "histogram", with SGD that begins before Adam has found a
        minimum.
    lost_letters: How many semantic runs lose a letter, and whether the start or the data decide it.
"""

from dataclasses import dataclass, replace

import numpy as np

from attention_phases.errors import check_count
from attention_phases.histogram import LETTERS, VARIANTS, draw
from attention_phases.records import seed_sequence

from ..grids import GRIDS, cells_of, register
from ..kinds import BEGINNING, Kind, Tolerances

EXCHANGE_EPOCHS = 4  # number of epochs in the runs with several data sets
TEST_INTERVAL = 5  # number of epochs between two tests, after the first `EXCHANGE_EPOCHS`


def seeds(cell):
    """Return independent seeds for the data, the initial weights, the noise, and the shuffling in each epoch.

    Both variants have the same seeds. A control has the seeds of the run of the experiment "histogram" that it
    repeats.
    """
    run = run_of(cell, cell.seed) if cell.experiment == "counting_control" else cell
    fields = {name: value for name, value in vars(run).items() if name != "variant"}
    return seed_sequence(fields).spawn(3 + run.adam_epochs + run.sgd_epochs)


def data(cell):
    """Return the training and test sequences of a cell."""
    return draw(cell.sequences, np.random.default_rng(seeds(cell)[0]))


def train(cell, epochs=None):
    """Train the model of a cell, and return its weights and its learning curve (see `transformer.train`).

    epochs: number of epochs after which the training stops; by default all.
    """
    from attention_phases.histogram import transformer

    return transformer.train(cell.variant, *data(cell), seeds(cell)[1:], cell.adam_epochs, cell.sgd_epochs, epochs)


def train_and_measure(cell):
    """Train a transformer on the counting task, and return its learning curve and measurements of its weights.

    cell: a `CountingCell`.
    """
    kept, curve = train(cell)
    return [{"what": "epoch", **epoch} for epoch in curve] + measure(cell, kept)


def measure(cell, kept):
    """Measure the weights of a trained transformer, and return the results as rows.

    kept: the weights, from `train`.
    """
    from attention_phases.histogram import transformer

    from ...store.parquet import encode

    test, frozen = data(cell)[1], transformer.trained_mask(cell.variant) == 0
    rows = [{"what": "distance", **row} for row in transformer.distances(kept, frozen)]
    for after, flat in (("adam", kept["trained"]), ("sgd", kept["final"])):
        rows.append({"what": "shares", "after": after, **transformer.variance_shares(flat, test.tokens)})
        rows += [{"what": "count", "after": after, **row} for row in transformer.right_by_count(flat, test)]
        rows.append({"what": "weights", "after": after, "weights": encode(flat)})
    return rows


def train_beginning(cell):
    """Train for one epoch only, and return the learning curve.

    The result is the first `BEGINNING` rows of `train_and_measure`, before rounding errors have grown.
    """
    return [{"what": "epoch", **epoch} for epoch in train(cell, epochs=BEGINNING - 1)[1]]


def run_of(cell, seed):
    """Return the cell of the experiment "histogram" with a given seed, at the paper's size.

    Only the number of sequences is taken from `cell`.
    """
    return replace(histogram("paper")[0], variant=cell.variant, seed=seed, sequences=cell.sequences)


def train_exchanged(cell):
    """Train a transformer from the initial weights of one run on the data of another; return a row per tested epoch.

    The tested epochs are all epochs up to the fourth, then every fifth epoch, and the last epoch.

    cell: an `ExchangedCell`.
    """
    from attention_phases.histogram import transformer

    sequences, test = data(run_of(cell, cell.data_seed))
    orders = seeds(run_of(cell, cell.data_seed))[3:]
    mask = transformer.trained_mask(cell.variant)
    current = transformer.start(np.random.default_rng(seeds(run_of(cell, cell.start_seed))[1])) * mask
    optimizer, rows = transformer.adam(current, mask), []
    for epoch, order in enumerate(orders[: cell.epochs], 1):
        transformer.train_once(optimizer, sequences, np.random.default_rng(order))
        if epoch <= EXCHANGE_EPOCHS or epoch % TEST_INTERVAL == 0 or epoch == cell.epochs:
            wrong = transformer.wrong_by_letter(current, test)
            worst = int(wrong.argmax())
            row = {"epoch": epoch, "letter": LETTERS[worst], "there": wrong[worst]}
            rows.append(row | {"elsewhere": np.delete(wrong, worst).mean()})
    return rows


def train_exchanged_beginning(cell):
    """Return the rows of `train_exchanged` for the first epochs, before rounding errors have grown."""
    return train_exchanged(replace(cell, epochs=min(cell.epochs, BEGINNING)))


# Another machine, or another version of the code, sums in a different order, and training amplifies this. To estimate
# the effect, the start was displaced by 2e-7 of its size, four times for each of the 20 cells of the experiment
# "histogram". After one epoch the largest changes were 0.3 % of the training loss, 12 % of the test loss and 0.049 of
# the accuracy. Two epochs of 20 cells of "lost_letters" changed the share "elsewhere" by up to 0.0043, a fifth of it.
COUNTING: Tolerances = {"train_loss": (5e-3, 0)}
AMPLIFIED = "training amplifies rounding, and after the first epochs this changes the value noticeably"


@dataclass(frozen=True)
class CountingCell:
    """A cell (one unit of an experiment) that trains one transformer on the counting task.

    The variant does not enter the seed. Therefore both variants see the same data in the same order and start from the
    same numbers, and each variant freezes a different part of them at zero.

    Columns:
        what: what the row is about
            - epoch: losses and accuracy of an epoch
            - distance: how far a tensor moved
            - shares: what explains the attention
            - count: how often the model counts correctly
            - weights: the weights themselves
        variant: which part of the transformer is frozen at first
            - semantic
            - positional
        sequences: number of sequences drawn; duplicates are dropped
        seed: number of the run
        train_loss [1]: mean cross-entropy during the epoch, in nats
        distance [1]: 2-norm of the tensor's change
        count: how often a token occurs in its sequence
        adam_epochs: number of epochs of Adam, with the frozen zeros
        sgd_epochs: number of epochs of SGD after Adam, with nothing frozen
        epoch: number of the epoch in both phases together; 0 is the start
        test_loss [1]: mean cross-entropy on the test sequences, in nats
        accuracy [1]: share of the test positions with a correct count
        span: the first and the last weights of the distance
            - start to trained: by Adam
            - trained to displaced: by the noise
            - displaced to final: by SGD
            - trained to final: by noise and SGD
        tensor: part of the transformer that moved
        of_zeros [1]: the same distance over formerly frozen entries only
        after: phase of training after which the weights are measured
            - adam: Adam
            - sgd: SGD
        by_position [1]: share of the variance of attention that positions explain
        by_token [1]: share of the variance of attention that tokens explain
        places: number of test positions whose token occurs count times in its sequence
        right: number of these positions with a correct count
        weights: all parameters, as base64 of little-endian float32
    """

    kind = Kind(
        train_and_measure,
        COUNTING,
        dict.fromkeys(("test_loss", "accuracy"), AMPLIFIED),
        beginning=train_beginning,
    )

    experiment: str
    variant: str
    seed: int
    sequences: int
    adam_epochs: int
    sgd_epochs: int


@dataclass(frozen=True)
class ExchangedCell:
    """A cell (one unit of an experiment) that trains a transformer with swapped initial weights or data.

    It starts from the initial weights of one run and is trained on the data of another. The two runs may also be the
    same.

    Columns:
        variant: which part of the transformer is frozen at first
            - semantic
            - positional
        sequences: number of sequences drawn; duplicates are dropped
        epochs: number of epochs of Adam
        epoch: number of the epoch of Adam, from 1
        data_seed: run of the experiment histogram that provides the data
        start_seed: run of the experiment histogram that provides the start
        letter: the letter with the largest share of wrong counts on the test set
        there [1]: share of wrong counts at positions of this letter
        elsewhere [1]: share of wrong counts at positions of another letter, averaged over these letters
    """

    kind = Kind(
        train_exchanged,
        {"there": (0, 0.1)},
        {
            "letter": "if letters are counted equally badly, rounding decides which one is the worst",
            "elsewhere": AMPLIFIED,
        },
        beginning=train_exchanged_beginning,
    )

    experiment: str
    variant: str
    data_seed: int
    start_seed: int
    sequences: int
    epochs: int


RUN_SIZES = {
    "paper": {"seed": range(10), "sequences": 50_000, "adam_epochs": 200, "sgd_epochs": 100},
    "laptop": {"seed": range(2), "sequences": 50_000, "adam_epochs": 20, "sgd_epochs": 10},
    "smoke": {"seed": range(2), "sequences": 2_000, "adam_epochs": 4, "sgd_epochs": 2},
}


def histogram(profile, runs=None, variants=VARIANTS):
    """Return cells of the counting task (Figures 4 to 6 and Table 1), by default for all runs of both variants."""
    table = RUN_SIZES[profile] if runs is None else RUN_SIZES[profile] | {"seed": range(check_count("runs", runs))}
    return cells_of("histogram", CountingCell, {**table, "variant": [*variants]})


GRIDS["histogram"] = histogram

register(CountingCell, "counting_control")(
    paper=RUN_SIZES["paper"] | {"seed": range(4), "adam_epochs": 3, "variant": [*VARIANTS]},
    laptop=RUN_SIZES["laptop"] | {"seed": range(1), "adam_epochs": 3, "variant": [*VARIANTS]},
    smoke=RUN_SIZES["smoke"] | {"adam_epochs": 1, "variant": [*VARIANTS]},
)
# Runs of the experiment "histogram" exchange their starts and data sets. Every start is trained on several data sets
# for a few epochs, each data set in its own order. Many starts are trained on one data set for as long as in the paper.
register(ExchangedCell, "lost_letters", {"variant": "semantic"})(
    paper=[
        {"data_seed": range(4), "start_seed": range(40), "sequences": 50_000, "epochs": EXCHANGE_EPOCHS},
        {"data_seed": range(1), "start_seed": range(40), "sequences": 50_000, "epochs": 200},
    ],
    laptop=[
        {"data_seed": range(2), "start_seed": range(3), "sequences": 50_000, "epochs": EXCHANGE_EPOCHS},
        {"data_seed": range(1), "start_seed": range(4), "sequences": 50_000, "epochs": 20},
    ],
    smoke=[
        {"data_seed": range(2), "start_seed": range(2), "sequences": 2_000, "epochs": 3},
        {"data_seed": range(1), "start_seed": range(3), "sequences": 2_000, "epochs": 4},
    ],
)
