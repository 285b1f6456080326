"""Pages that read from a disk without a network: MathJax comes along, scripts of other hosts stay out.

Until it has come, or where no script runs, plain letters stand for a formula, and a display keeps its height.
"""

import re
import shutil
from html import escape, unescape
from importlib.util import find_spec
from pathlib import Path

from search import formula

MATHJAX = "static/mathjax/tex-svg-full.js"  # one file, glyphs as paths: no fonts to fetch
FORMULA = re.compile(r'(<(span|div) class="math notranslate nohighlight"[^>]*)>(.*?)</\2>', re.DOTALL)
RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
TALL = re.compile(r"\\frac|\\sum|\\int|\\binom")


def setup(app):
    app.connect("html-page-context", keep_local, priority=900)
    app.connect("html-page-context", keep_places)
    app.connect("build-finished", bring_mathjax)
    return {"parallel_read_safe": True}


def keep_local(app, page, template, context, doctree):
    """Drop Thebe, which asks a server for a kernel, and a second MathJax, which a theme adds."""
    scripts = {}
    for script in context.get("script_files", []):
        source = f"{getattr(script, 'filename', script) or script.attributes.get('body')}"
        if "//" not in source and "thebe" not in source.lower():
            scripts.setdefault(source, script)
    context["script_files"] = list(scripts.values())


def keep_places(app, page, template, context, doctree):
    if "body" in context:
        context["body"] = FORMULA.sub(with_place, context["body"])


def with_place(found):
    """The HTML of a formula with what stands in its place: of one in a line letters, of a display its height."""
    start, kind, text = found.groups()
    if kind == "div":
        room = 2 + sum(3.1 if TALL.search(row) else 1.85 for row in text.split(r"\\"))
        return f'{start} style="--room: {room:.3g}em">{text}</div>'
    plain = formula(unescape(text).removeprefix(r"\(").removesuffix(r"\)")).strip()
    plain = re.sub(r" ?([=≥≤≠≈→<>]) ?", r" \1 ", plain)  # about as wide as typeset
    plain = re.sub(r"\^(-?\d+)", lambda power: power[1].translate(RAISED), plain).replace("_", "")
    return f'{start} data-plain="{escape(plain)}"><span>{text}</span></span>'


def bring_mathjax(app, error):
    if error is None and app.builder.format == "html":
        target = Path(app.outdir, "_static", "mathjax")
        target.mkdir(parents=True, exist_ok=True)
        shutil.copy(Path(find_spec("sphinx-mathjax-offline").origin).parent / MATHJAX, target)
