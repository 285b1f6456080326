"""HTML of what computes in the reader's browser on two pages: the attention panel, the moving loss surface."""

import json
from html import escape

from attention_phases.histogram.transformer import SHAPES, views

from ..store.parquet import encode
from .attention import letters

SCRIPT = "../../_static/attention_panel.js"  # from the page
STATIC = "../../_static"  # from the page
# One data set, its first alpha d sentences at each alpha; the rate is that of gradient descent from a click.
MOVING = {"d": 200, "seed": 1, "alphas": [round(0.5 + 0.05 * k, 2) for k in range(31)], "rate": 1.0}


def attention_panel(solutions, sequences):
    """HTML of the panel in which a reader types letters: the page has weights, `attention_panel.js` computes.

    solutions: parameters (SIZE,) by the solution's name.
    sequences: those that a button fills in; the first is shown at once.
    """
    sent = {
        name: {part: encode(values) for part, values in views(flat)._asdict().items()}
        for name, flat in solutions.items()
    }
    data = {"shapes": SHAPES, "solutions": sent}
    examples = [letters(sequence) for sequence in sequences]
    buttons = "".join(f'<button type="button" value="{text}">{text}</button>' for text in examples)
    places = "".join(f'<figure class="{name}" data-solution="{name}"></figure>' for name in map(escape, solutions))
    return f"""<div class="attention-panel">
<form>
<label>Ten letters, A to O:
<input value="{examples[0]}" size="12" maxlength="40" autocapitalize="characters" autocomplete="off"
 spellcheck="false"></label>
<span class="examples">{buttons}</span>
</form>
<p class="message" role="status">This panel computes in your browser, on the page of the built book; it needs
JavaScript.</p>
<div class="matrices">{places}</div>
<script type="application/json">{json.dumps(data)}</script>
</div>
<script src="{SCRIPT}"></script>"""


def moving_surface(task):
    """HTML of such a plane with a slider over alpha: `landscape.js` computes it in the reader's browser."""
    job = {
        "constants": {"sigma": task.sigma, "lam": task.lam},
        "task": {"omega": task.omega, "A": task.matrix},
        **MOVING,
    }
    scripts = [f'<script src="{STATIC}/{name}.js"></script>' for name in ("d3-explorer", "training", "landscape")]
    return f"""<link rel="stylesheet" href="{STATIC}/explorer.css">
<div class="explorer landscape" hidden>
<label>Sentences per dimension, <i>α</i> = <b></b><input type="range" value="0"></label>
<p role="status">Your browser trains students …</p>
<div><svg role="img" aria-label="Contours of the training loss over the overlap with the positions and the overlap with
the teacher; a click starts a descent"></svg></div>
<div><svg role="img" aria-label="The training loss from the positional to the semantic minimum: two wells"></svg></div>
<button type="button">Descend from the ridge</button>
<script type="application/json">{json.dumps(job)}</script>
</div>
{"".join(scripts)}"""
