"""Students followed along alpha by adding and removing sentences, each start from the last minimum."""

from dataclasses import replace

from attention_phases.model.sentences import sentence_count
from attention_phases.model.two_tokens import overlaps, sample
from attention_phases.training.optimizers import fit
from attention_phases.training.starts import start_weights


def follow(cell):
    """Rows of a `cells.LoopCell`, for each `way` and `at` (alpha).

    One data set is drawn at the largest alpha; its first sentences are those of a smaller one. The student of the way
    "up" starts from the encoding at the smallest alpha, that of the way "down" from the teacher at the largest. The
    `excess` is the training loss without the part that no student can fit.
    """
    task, rng = cell.task, cell.rng()
    whole = sample(task, cell.alpha, cell.d, rng)
    ways = (("up", "positional", sorted(cell.alphas)), ("down", "semantic", sorted(cell.alphas, reverse=True)))
    rows = []
    for way, start, alphas in ways:
        weights = start_weights(start, whole.teacher, rng)
        for alpha in alphas:
            student = fit(_first(whole, sentence_count(alpha, cell.d)), task.lam, weights[None])[0]
            weights = student.weights
            point = overlaps(task, weights, whole.teacher)
            row = {"way": way, "at": alpha, **{name: point[name] for name in ("q", "m", "theta")}}
            rows.append(row | {"excess": student.train_loss, "grad_norm": student.grad_norm})
    return rows


def _first(data, count):
    """The first `count` sentences, without the part of the risk that no student can fit."""
    return replace(
        data, inputs=data.inputs[:count], stiffness=data.stiffness[:count], targets=data.targets[:count], floor=0.0
    )
