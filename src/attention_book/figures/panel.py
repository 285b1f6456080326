"""The panel in which a reader types a sequence: its page has weights, `book/_static/attention_panel.js` computes."""

import json
from html import escape

from attention_phases.histogram.transformer import ATTENTION, SHAPES, views

from ..float32 import encode


def attention_panel(solutions, examples, script="../../_static/attention_panel.js"):
    """HTML of the panel.

    Parameters
    ----------
    solutions : dict of (SIZE,) arrays
        Parameters by the solution's name.
    examples : sequence of str
        Sequences that a button fills in; the first is shown at once.
    script : str
        Address of the script, from the page.
    """
    data = {
        "shapes": {name: SHAPES[name] for name in ATTENTION},
        "solutions": {
            name: {each: encode(getattr(views(flat), each)) for each in ATTENTION} for name, flat in solutions.items()
        },
    }
    buttons = "".join(f'<button type="button" value="{escape(each)}">{escape(each)}</button>' for each in examples)
    places = "".join(f'<figure class="{name}" data-solution="{name}"></figure>' for name in map(escape, solutions))
    return f"""<div class="attention-panel">
<form>
<label>Ten letters, A to O:
<input value="{escape(examples[0])}" size="12" maxlength="40" autocapitalize="characters" autocomplete="off"
 spellcheck="false"></label>
<span class="examples">{buttons}</span>
</form>
<p class="message" role="status">This panel computes in your browser, on the page of the built book; it needs
JavaScript.</p>
<div class="matrices">{places}</div>
<script type="application/json">{json.dumps(data)}</script>
</div>
<script src="{escape(script)}"></script>"""
