"""The attention matrices of the counting task, drawn as in the paper."""

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.patches import Rectangle

from attention_phases.histogram import parse_letters
from attention_phases.histogram.transformer import matrices, predicted_counts

from .. import published
from ..store.parquet import decode
from .style import apply_style, draw_shares

EQUAL = "black"  # colour of frames around equal tokens; red stands for the semantic student


def shown_sequences(text):
    """Return the three sequences of the paper in letters, followed by the user's own sequence if there is one.

    text: the user's sequence, ten letters; empty if there is none.
    """
    if text:
        parse_letters(text)  # raises `BadInput` if there are other letters, or not ten
    return [*published.SHOWN_SEQUENCES, *filter(None, [text.upper()])]


def trained_weights(table, variant, after="adam", seed=0):
    """Return the trained parameters of one run of the experiment "histogram".

    The parameters are an array (SIZE,).

    after: the phase of training after which they are taken, "adam" or "sgd".
    """
    chosen = (table["what"] == "weights") & (table["variant"] == variant) & (table["after"] == after)
    (text,) = table.loc[chosen & (table["seed"] == seed), "weights"]
    return decode(text)


def answers(flat, sequences):
    """Return the attention matrices of a trained model for several sequences, and the counts that it predicts.

    The matrices have the shape (n, 10, 10), and the counts have the shape (n, 10).

    flat: parameters of the model, (SIZE,).
    sequences: n sequences in letters.
    """
    tokens = np.array([parse_letters(sequence) for sequence in sequences])
    return matrices(flat, tokens), predicted_counts(flat, tokens)


def sgd_answers(table, variant, sequences):
    """Return the attention matrices and predicted counts after Adam, and how much SGD then changes the matrices.

    The model is run 0 of the experiment "histogram". The result is a dictionary by heading. Changes are rounded to a
    hundredth of a per cent, because further digits depend on the rounding of the training.
    """
    adam, sgd = (answers(trained_weights(table, variant, after), sequences) for after in ("adam", "sgd"))
    return {"after Adam": adam, "change by SGD": ((sgd[0] - adam[0]).round(4) + 0.0, sgd[1])}


@apply_style
def draw_matrices(columns, sequences, colours):
    """Draw attention matrices in per cent, one row of panels for each sequence and one column for each model.

    Cells of equal tokens are framed. At the right of each row of a matrix is the count of the network, in brackets if
    it is wrong.

    columns: results of `answers`, by heading.
    colours: colours of the headings.
    """
    shape = len(sequences), len(columns)
    figure, axes = plt.subplots(*shape, figsize=(6.4, 3.1 * len(sequences) + 0.3), squeeze=False)
    for row, sequence in enumerate(sequences):
        for panel, (attention, counts) in zip(axes[row], columns.values()):
            _draw_matrix(panel, 100 * attention[row], sequence)
            for i, (token, count) in enumerate(zip(sequence, counts[row])):
                text = f"{count}" if count == sequence.count(token) else f"({count})"
                panel.text(len(sequence) - 0.35, i, text, va="center", fontsize=12.5)
    for panel, heading, colour in zip(axes[0], columns, colours):
        panel.set_title(heading, color=colour, loc="center", pad=22)
        panel.text(1.02, 1.02, "count", fontsize=12.5, transform=panel.transAxes)
    axes[0, 0].set_ylabel("token that looks", fontsize=12.5)
    return figure


def _draw_matrix(axes, matrix, sequence):
    form = "+.0f" if (matrix < 0).any() else ".0f"  # changes are shown with their signs
    draw_shares(axes, matrix, (0, 100), form, "_attention, in per cent", fontsize=12.5)
    tokens = np.array([*sequence])
    for i, j in np.argwhere(tokens[:, None] == tokens):
        axes.add_patch(Rectangle((j - 0.46, i - 0.46), 0.92, 0.92, fill=False, color=EQUAL, lw=1.1))
    axes.set_xticks(range(len(sequence)), sequence, fontsize=12.5)
    axes.set_yticks(range(len(sequence)), sequence, fontsize=12.5)
    axes.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False, pad=2)
    axes.spines[:].set_visible(True)
