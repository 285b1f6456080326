"""The programming interface as one page a module, found by themselves: new modules appear in the book unasked.

Each page begins with a list of what the module has; links lead to its source.
"""

import re
from importlib import import_module
from inspect import getdoc, isclass, isfunction
from pathlib import Path

from sphinx import addnodes

PACKAGE = "attention_phases"
PAGES = Path(__file__).resolve().parents[1] / "api"  # the pages are written here before Sphinx looks for pages
GREEK = dict(alpha="α", epsilon="ε", zeta="ζ", theta="θ", kappa="κ", lam="λ", xi="ξ", rho="ρ", sigma="σ", chi="χ",
             omega="ω", Lambda="Λ", Phi="Φ") | {"lambda": "λ", "sqrt": "√"}  # fmt: skip
RAISED = str.maketrans("0123456789+-abkTt", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ᵃᵇᵏᵀᵗ")
POWER = re.compile(r"\^(-?(?:\d+|[abkTt]))\b")
NAME = re.compile(rf"(?<![A-Za-z])({'|'.join(GREEK)})(?![A-Za-z])")


def setup(app):
    write_pages()
    app.connect("autodoc-process-docstring", readable, priority=600)  # after napoleon
    app.connect("autodoc-skip-member", skip)
    app.connect("doctree-resolved", leave_out)
    return {"parallel_read_safe": True}


def write_pages():
    """A page for each module, and the lists of modules that the first page shows; those of earlier builds go."""
    source = Path(import_module(PACKAGE).__file__).parent
    names = [".".join(path.relative_to(source).with_suffix("").parts) for path in sorted(source.rglob("*.py"))]
    names = [name.removesuffix(".__init__") for name in names if "__main__" not in name and name != "__init__"]
    PAGES.mkdir(exist_ok=True)
    written = {PAGES / f"{name}.rst": page(name) for name in names}
    written[PAGES / "modules.txt"] = lists(names)
    for path, text in written.items():
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
    for path in set(PAGES.iterdir()) - written.keys():
        path.unlink()


def page(name):
    """Text of the page of a module: its description, what it has in one line each, all of it in full."""
    full = f"{PACKAGE}.{name}"
    module = import_module(full)
    members, given = own(module), elsewhere(module)
    parts = [f"{name}\n{'=' * len(name)}\n", f".. automodule:: {full}\n   :no-members:\n"]
    if given:
        listed = "\n".join(f"   * - {role(thing)}\n     - {summary(thing)}" for thing in given)
        parts += ["Imported from here:\n", f".. list-table::\n   :widths: 30 70\n\n{listed}\n"]
    if members:
        listed = "\n".join(f"   * - {role(thing)}\n     - {summary(thing)}" for thing in members)
        parts += [f".. list-table::\n   :widths: 30 70\n\n{listed}\n"]
        parts += [f".. auto{'class' if isclass(thing) else 'function'}:: {full}.{thing.__name__}\n"
                  + ("   :members:\n" if isclass(thing) else "") for thing in members]  # fmt: skip
    return "\n".join(parts)


def own(module):
    """Public functions and classes with a docstring that a module defines, in its order."""
    return [
        thing for name, thing in vars(module).items() if public(name, thing) and thing.__module__ == module.__name__
    ]


def elsewhere(module):
    """What a package offers from its modules."""
    return [getattr(module, name) for name in getattr(module, "__all__", ())
            if public(name, thing := getattr(module, name)) and thing.__module__ != module.__name__]  # fmt: skip


def public(name, thing):
    return not name.startswith("_") and (isfunction(thing) or isclass(thing)) and bool(thing.__doc__)


def role(thing):
    kind = "class" if isclass(thing) else "func"
    return f":py:{kind}:`{thing.__name__} <{thing.__module__}.{thing.__qualname__}>`"


def summary(thing):
    """The first sentence of a docstring, on one line."""
    return formula(" ".join((getdoc(thing) or "").partition("\n\n")[0].split()))


def lists(names):
    """All modules by package, as Markdown tables."""
    groups = {}
    for name in names:
        head = name.partition(".")[0]
        groups.setdefault(head if any(each.startswith(f"{head}.") for each in names) else "", []).append(name)
    parts = []
    for head, group in sorted(groups.items()):
        parts.append(f"## {head or 'At the top'}\n\n| module | what it is |\n|---|---|")
        rows = [
            (name, (import_module(f"{PACKAGE}.{name}").__doc__ or "").strip().partition("\n\n")[0]) for name in group
        ]
        parts[-1] += "".join(f"\n| [{name}](api/{name}.rst) | {cell(text)} |" for name, text in rows)
    return "\n\n".join(parts) + "\n"


def cell(text):
    """A sentence of reStructuredText for a Markdown table."""
    return formula(" ".join(text.split())).replace("``", "`").replace("|", "\\|")


def leave_out(app, tree, page):
    """All pages on one, which are for print, have the list of modules alone."""
    if app.builder.name == "singlehtml":
        for each in list(tree.findall(addnodes.start_of_file)):
            if each["docname"].startswith("book/api/"):
                each.parent.remove(each)


def skip(app, what, name, thing, skipped, options):
    """Fields of named tuples, which the signature has already, without a word of their own."""
    return True if (getattr(thing, "__doc__", None) or "").startswith("Alias for field number") else None


def readable(app, what, name, thing, options, lines):
    """Formulas of docstrings with Greek letters and raised powers; names of code stay as they are."""
    said = (
        re.sub(r"^:(ivar|vartype) ([^:]*):", lambda f: f":{f[1]} {f[2].replace(', ', ',')}:", line) for line in lines
    )
    lines[:] = map(formula, said)  # names "a, b" of one description would be read as a type and a name


def formula(line):
    """A line of which literals that are formulas, and powers anywhere, are written as formulas."""
    literal = re.compile(r"``([^`]*)``")
    line = literal.sub(lambda found: f"``{letters(found[1])}``" if is_formula(found[1]) else found[0], line)
    return re.sub(r"[\w.|)]*\^-?(?:\d+|[abkTt])\b", lambda found: letters(found[0]), line)


def is_formula(text):
    return bool(re.search(r"\^|\|[^|]+\||E\[|[=~/>] ", text)) and not re.search(r"[\"'`]|==|\w\(\w+=", text)


def letters(text):
    text = NAME.sub(lambda found: GREEK[found[1]], text)
    return POWER.sub(lambda found: found[1].translate(RAISED), text)
