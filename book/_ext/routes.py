"""The routes through the book, and the gallery of its figures.

A route has a card on the landing page, and its pages say below their titles which step of it they are. At the foot of a
page there is only one "next" link. It leads to the next page of the contents, or to the next page of the route by which
the reader has come (`routes.js`).
"""

from html import escape
from pathlib import Path
from urllib.parse import quote

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

TEXTS = nodes.title, nodes.term, nodes.paragraph, nodes.caption
LANDING, OUTPUT = "book/index", "book/_executed/"
ROUTES = {
    "A first look": (
        "The transition, the result of training, and a transformer with two solutions of the same kinds.",
        ["fig02_slice", "fig15_random", "optimal", "fig04_histogram"],
    ),
    "A course": (
        "The model, its theory, and their predictions.",
        ["model", "fig01_landscape", "theory", "fig02_slice", "fig03_phase_diagram", "message_passing", "fig15_random"],
    ),
    "A review": (
        "The agreement with the paper, the differences, and the limits of the theory.",
        ["scorecard", "minima", "stability", "beyond_replica_symmetry", "reproducing"],
    ),
}
WORDS_A_MINUTE = 200
PARTS = {  # parts of pictures that would look alike in small: two matrices, or one
    "fig04_histogram": "#svgView(viewBox(0,0,470,190))",
    "fig05_positional_sgd": "#svgView(viewBox(-50,0,281,212))",
    "fig06_semantic_sgd": "#svgView(viewBox(-50,0,281,212))",
}


class Placeholder(nodes.General, nodes.Element):
    """The place of the cards or of the gallery, which are filled in when the titles of all pages are known."""


class Place(SphinxDirective):
    """A directive, `routes` or `gallery`, at the place of the cards or of the gallery."""

    def run(self):
        return [Placeholder(kind=self.name)]


def setup(app):
    app.add_node(Placeholder)
    for name in ("routes", "gallery"):
        app.add_directive(name, Place)
    app.connect("doctree-resolved", fill)
    app.connect("html-page-context", load)
    return {"parallel_read_safe": True}


def load(app, page, template, context, doctree):
    """Load the script that changes the "next" link of a page on pages of a route."""
    if app.builder.name == "html" and 'class="route"' in context.get("body", ""):
        app.add_js_file("routes.js", loading_method="defer")


def fill(app, tree, page):
    """Fill in the cards and the gallery, and write the step on each route below the title of a page."""
    to = {name.rpartition("/")[2]: name for name in app.env.found_docs}
    for place in list(tree.findall(Placeholder)):
        made = {"routes": cards, "gallery": gallery}[place["kind"]](app, to) if app.builder.name == "html" else ""
        place.replace_self(nodes.raw("", made, format="html"))
    if app.builder.name == "html" and page in to.values():
        title = next(tree.findall(nodes.title), None)
        on = {name: steps for name, (_, steps) in ROUTES.items() if page.rpartition("/")[2] in steps}
        if on and title:
            steps = " · ".join(step(app, to, page, name, steps) for name, steps in on.items())
            home = f'<a href="{app.builder.get_relative_uri(page, LANDING)}#routes">ways through the book</a>'
            line = nodes.raw("", f'<p class="route">{steps} · {home}</p>', format="html")
            title.parent.insert(title.parent.index(title) + 1, line)


def step(app, to, page, name, steps):
    """Return the number of a page's step on a route, with the next step for the script."""
    number = steps.index(page.rpartition("/")[2]) + 1
    later = ""
    if number < len(steps):
        address, title = target(app, page, to[steps[number]], name)
        later = f' data-way="{name}" data-next="{address}" data-title="{title}"'
    return f"<span{later}>{name}: {number} of {len(steps)}</span>"


def target(app, page, other, name):
    """Return the address and the title of another page for a reader who follows a route."""
    return f"{app.builder.get_relative_uri(page, other)}?way={quote(name)}", escape(app.env.titles[other].astext())


def cards(app, to):
    """Return a card for each route, with the time that its pages take to read and the number of formulas."""
    made = []
    for name, (about, steps) in ROUTES.items():
        read = [reading(app.env.get_doctree(to[step])) for step in steps]
        minutes, formulas = (round(sum(part)) for part in zip(*read))
        time = f"{minutes} minutes of reading{f' and about {formulas} formulas' * (formulas > 1)}"
        links = (target(app, LANDING, to[step], name) for step in steps)
        items = "".join(f'<li><a href="{address}">{title}</a></li>' for address, title in links)
        made.append(f"<section><h3>{name}</h3><p>{about} {time}.</p><ol>{items}</ol></section>")
    return f'<div class="routes" id="routes">{"".join(made)}</div>'


def reading(tree):
    """Return the minutes that a page takes to read and its number of displayed formulas, without folded parts."""
    boxes = (box for box in tree.findall(nodes.container) if box.get("design_component") == "dropdown")
    folded = {part for box in boxes for part in box.findall()}
    shown = [part for part in tree.findall() if part not in folded]
    words = sum(len(part.astext().split()) for part in shown if isinstance(part, TEXTS))
    return words / WORDS_A_MINUTE, sum(isinstance(part, nodes.math_block) for part in shown)


def gallery(app, to):
    """Return the first figure of each page that has one, with the title of the page, in the order of the contents."""
    tiles = []
    for page in app.env.collect_relations():
        figures = app.env.get_doctree(page).findall(nodes.figure) if page.startswith(OUTPUT) else ()
        if figure := next(iter(figures), None):
            title = escape(app.env.titles[page].astext())
            name = figure["ids"][0]
            image = Path(app.env.images[figure.next_node(nodes.image)["uri"]][1]).stem
            part = PARTS.get(page.removeprefix(OUTPUT), "")
            wide = not part and (Path(app.env.doc2path(page)).parent / "figures" / f"{name}-wide.svg").exists()
            dark = f"figures/{name}-wide-dark.svg" if wide else f"{app.builder.imagedir}/{image}-dark.svg"
            both = {"light": f"figures/{name}{'-wide' * wide}.svg", "dark": dark}
            pictures = "".join(
                f'<img src="../{path}{part}" class="only-{theme}" alt="" loading="lazy">'
                for theme, path in both.items()
            )
            tiles.append(f'<a href="{app.builder.get_relative_uri(LANDING, page)}">{pictures}<span>{title}</span></a>')
    return f'<div class="gallery">{"".join(tiles)}</div>'
