"""Pages that can be read from a disk without a network: MathJax is included, and scripts of other hosts are removed.

Before MathJax has loaded, or if no script runs, plain letters stand in the place of a formula. Displayed formulas keep
their height.
"""

import re
import shutil
from html import escape, unescape
from importlib.util import find_spec
from pathlib import Path

from search import formula

MATHJAX = "static/mathjax/tex-svg-full.js"  # one file whose glyphs are paths, so that no fonts are fetched
FORMULA = re.compile(r'(<(span|div) class="math notranslate nohighlight"[^>]*)>(.*?)</\2>', re.DOTALL)
SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
RELATIONS, OPERATORS = "=≥≤≠≈∼∝→<>∈", "+−·×-"
# These are the widths of TeX's letters in thousandths of an em. The space around relations and operators is not
# included.
LETTERS = """a529 b429 c433 d520 e466 f490 g477 h576 i345 j412 k521 l298 m878 n600 o485 p503 q446 r451 s469 t361 u572
v485 w716 x572 y490 z465 α640 δ444 ε466 ζ438 η497 θ469 κ576 λ583 μ603 ν494 ξ438 ρ517 σ571 τ437 ω622 I440 J555 L681 M970
N979 P642 S613 W944 ∞1000 √853 ·278 ,444 (389 )389 |278 [278 ]278 .278 →1000 ⊤778"""
WIDTHS = {name[0]: int(name[1:]) for name in LETTERS.split()}
EM = 442  # height of an x in thousandths of an em; MathJax makes it equal to the x of the text
TALL_SYMBOLS = re.compile(r"\\frac|\\sum|\\int|\\binom")


def setup(app):
    app.connect("html-page-context", keep_local, priority=900)
    app.connect("html-page-context", keep_places)
    app.connect("build-finished", bring_mathjax)
    return {"parallel_read_safe": True}


def keep_local(app, page, template, context, doctree):
    """Remove Thebe, which asks a server for a kernel, and the second MathJax that a theme adds."""
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
    """Return the HTML of a formula with a placeholder.

    The placeholder of an inline formula is its letters, and that of a displayed formula is its height.
    """
    start, kind, text = found.groups()
    if kind == "div":
        room = 2 + sum(3.1 if TALL_SYMBOLS.search(row) else 1.85 for row in text.split(r"\\"))
        return f'{start} style="--room: {room:.3g}em">{text}</div>'
    plain = formula(unescape(text).removeprefix(r"\(").removesuffix(r"\)")).strip()
    plain = re.sub(r" ?([=≥≤≠≈∼∝→<>]) ?", r" \1 ", plain).strip()
    letters = re.sub(r"\^(-?\d+|[⊤⋆])", lambda power: power[1].translate(SUPERSCRIPTS), plain)
    still = re.sub(r"_([^\W_]+|\S)", r"<sub>\1</sub>", escape(letters))  # for readers without scripts
    room = f'data-plain="{escape(letters.replace("_", ""))}" style="--room: {width_of(plain):.2f}ex"'
    return f"{start} {room}><span>{text}</span><noscript>{still}</noscript></span>"


def width_of(plain):
    """Return the approximate width of a typeset inline formula, in ex."""
    total = 0
    for part in re.findall(r"[_^](?:-?\d+|[^\W\d]+|.)|[^\s\u0302]", plain):
        for sign in part.lstrip("_^"):
            width = WIDTHS.get(sign, 778 if sign in RELATIONS + OPERATORS else 770 if sign.isupper() else 500)
            total += 0.707 * width + 125 / len(part) if part[0] in "_^" else width
    for signs, space in ((RELATIONS, 278), (OPERATORS, 222)):  # on both sides of what is no sign of a number
        between = re.findall(rf"[^\s^_(]\s*[{signs}]\s*(\S?)", plain)
        total += space * sum(1 + bool(after) for after in between)
    return total / EM


def bring_mathjax(app, error):
    if error is None and app.builder.format == "html":
        target = Path(app.outdir, "_static", "mathjax")
        target.mkdir(parents=True, exist_ok=True)
        shutil.copy(Path(find_spec("sphinx-mathjax-offline").origin).parent / MATHJAX, target)
