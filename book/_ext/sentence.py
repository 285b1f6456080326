"""The sentence of the model's page in numbers, before and after its tokens are exchanged, for each omega.

The page shows the teacher's output and the attention of both students. A slider sets omega.
"""

import json

import numpy as np
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from attention_phases.attention import attention, target_attention
from attention_phases.task import Task
from attention_phases.theory.baseline import best_students

D, FIELDS, MARKS = 12, np.array([1.0, 0.0]), np.array([1, -1])
OMEGAS, OMEGA = [step / 10 for step in range(11)], 0.3


class Sentence(SphinxDirective):
    def run(self):
        states = {f"{omega:g}": page_of(omega)[1] for omega in OMEGAS}
        data = f'<script type="application/json">{json.dumps(states)}</script></div>'
        return [nodes.raw("", page_of(OMEGA)[0] + data, format="html")]


def setup(app):
    app.add_directive("sentence", Sentence)
    app.connect("html-page-context", load)
    return {"parallel_read_safe": True}


def load(app, page, template, context, doctree):
    if page == "book/model":
        app.add_js_file("sentence.js", loading_method="defer")


def tokens():
    """Return the sentence (2, D), which is random except for its fields `FIELDS` and its lack of overlap with 1_d."""
    teacher, *drawn = np.random.default_rng(4).standard_normal((3, D))
    known, _ = np.linalg.qr(np.array([np.ones(D), teacher]).T)  # unit vectors along 1_d and the rest of Q*
    free = Task.sigma * np.array(drawn)
    return free - free @ known @ known.T + np.outer(FIELDS, known[:, 1])


def page_of(omega):
    """Return the HTML at an omega, and the numbers in it in their order.

    Elements with a style show these numbers.
    """
    numbers, xi, matrix = [], tokens(), np.array(Task.matrix)
    target = target_attention(FIELDS, omega, matrix)
    (_, kappa), (_, m) = (best_students(Task(omega=omega))[branch] for branch in ("semantic", "positional"))

    def number(value, tag):
        numbers.append(round(float(value), 6))
        return f'<{tag} style="--value:{numbers[-1]:g}">{f"{numbers[-1]:.2f}" if tag != "i" else ""}</{tag}>'

    def squares(about, rows, beside=("", "")):
        shown = ("".join(number(value, "i") for value in row) for row in rows)
        lines = "".join(f"<span>{ends[0]}</span>{row}<span>{ends[1]}</span>" for *ends, row in zip("ab", beside, shown))
        return f'<div class="squares" role="img" aria-label="{about}">{lines}</div>'

    def table(caption, values, order="ab"):
        lines = ["<td></td>" + "".join(f'<th scope="col">{name}</th>' for name in order)]
        for name, row in zip(order, values):
            lines.append(f'<th scope="row">{name}</th>' + "".join(number(value, "td") for value in row))
        return f"<table><caption>{caption}</caption><tr>{'</tr><tr>'.join(lines)}</tr></table>"

    def student(name, weights, before, after):
        pair = table("as it was", before) + table("exchanged", after, "ba")
        return f'<div class="{name}"><p><strong>{name.capitalize()} student</strong>, {weights}</p>{pair}</div>'

    semantic, positional = attention(kappa * FIELDS), attention(m * MARKS)
    marks = [f"{mark / D**0.5:+.2f}".replace("-", "\N{MINUS SIGN}") for mark in MARKS]
    html = f"""<div class="sentence">
<p>The two tokens of the sentence <i>ξ</i>. At the right: what the positional encoding adds to each number</p>
{squares("Tokens a and b as squares, shaded by the size of the number", xi, marks)}
<p>The teacher's attention,
{number(omega, "b")} <i>A</i> + {number(1 - omega, "b")} softmax(<i>yy</i><sup>⊤</sup>) = <i>Y</i></p>
<label hidden><i>ω</i> = {number(omega, "b")}
<input type="range" min="0" max="1" step="0.1" value="{OMEGA}" autocomplete="off"></label>
<div>{table("<i>A</i>", matrix)}{table("softmax", attention(FIELDS))}{table("<i>Y</i>", target)}</div>
<p>Its output <i>Yξ</i></p>
{squares("Two mixtures of the tokens, as squares", target @ xi)}
<div>{student("semantic", "<i>Q</i> along <i>Q</i><sub>⋆</sub>", semantic, semantic[::-1, ::-1])}
{student("positional", "<i>Q</i> along <b>1</b><sub><i>d</i></sub>", positional, positional)}</div>
<p role="status">At <i>ω</i> = {number(omega, "b")} the teacher turns a into {number(target[0, 0], "b")} a +
{number(target[0, 1], "b")} b. The semantic student lets a keep {number(semantic[0, 0], "b")} of itself in either place.
The positional student lets both tokens keep {number(positional[0, 0], "b")} of themselves.</p>
"""
    return html, numbers
