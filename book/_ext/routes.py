"""Ways through the book: a card for each on the landing page, and below the title of each of its pages the next step;
and a gallery. At the foot of a page stands one "next" alone, that of the contents."""

import re
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

TEXTS = nodes.title, nodes.term, nodes.paragraph, nodes.caption
LANDING, MADE = "book/index", "book/_executed/"
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


class Shown(nodes.General, nodes.Element):
    """The place of cards or of the gallery, which know titles only when all pages are read."""


class Place(SphinxDirective):
    """Where the cards of the routes, or the gallery, stand: the name of the directive says which."""

    def run(self):
        return [Shown(kind=self.name)]


def setup(app):
    app.add_node(Shown)
    for name in ("routes", "gallery"):
        app.add_directive(name, Place)
    app.connect("doctree-resolved", fill)
    return {"parallel_read_safe": True}


def fill(app, tree, page):
    """Put cards and gallery in their place, and below the title of a page its step of each route."""
    to = {name.rpartition("/")[2]: name for name in app.env.found_docs}
    for place in list(tree.findall(Shown)):
        made = {"routes": cards, "gallery": gallery}[place["kind"]](app, to) if app.builder.name == "html" else ""
        place.replace_self(nodes.raw("", made, format="html"))
    if app.builder.name == "html" and page in to.values():
        title = next(tree.findall(nodes.title), None)
        on = {name: steps for name, (_, steps) in ROUTES.items() if page.rpartition("/")[2] in steps}
        lines = "".join(step(app, to, page, name, steps) for name, steps in on.items())
        if lines and title:
            title.parent.insert(title.parent.index(title) + 1, nodes.raw("", lines, format="html"))


def step(app, to, page, name, steps):
    """Where a page stands on a route, and what comes next."""
    number = steps.index(page.rpartition("/")[2]) + 1
    home = f'<a href="{app.builder.get_relative_uri(page, LANDING)}#routes">other ways through the book</a>'
    after = (
        f"this way goes on with {link(app, page, to[steps[number]])}"
        if number < len(steps)
        else f"the last step; {home}"
    )
    return f'<p class="route">{name}: {number} of {len(steps)} · {after}</p>'


def link(app, page, target):
    title = escape(re.sub(r"^(Figure \d+): .*", r"\1", app.env.titles[target].astext()))
    return f'<a href="{app.builder.get_relative_uri(page, target)}">{title}</a>'


def cards(app, to):
    """A card for each route, with how long its words take to read, and how many formulas there are."""
    made = []
    for name, (about, steps) in ROUTES.items():
        read = [reading(app.env.get_doctree(to[step])) for step in steps]
        minutes, formulas = (round(sum(part)) for part in zip(*read))
        time = f"{minutes} minutes of reading{f' and {formulas} formulas' * (formulas > 1)}"
        items = "".join(f"<li>{link(app, LANDING, to[step])}</li>" for step in steps)
        made.append(f"<section><h3>{name}</h3><p>{about} {time}.</p><ol>{items}</ol></section>")
    return f'<div class="routes" id="routes">{"".join(made)}</div>'


def reading(tree):
    """Minutes for the words of a page, and how many formulas stand alone, without what is folded."""
    folded = {part for box in tree.findall(nodes.container) for part in box.findall()}
    shown = [part for part in tree.findall() if part not in folded]
    words = sum(len(part.astext().split()) for part in shown if isinstance(part, TEXTS))
    return words / WORDS_A_MINUTE, sum(isinstance(part, nodes.math_block) for part in shown)


def gallery(app, to):
    """The first figure of each page that has one, in the order of the contents, with the page's name."""
    tiles = []
    for page in app.env.collect_relations():
        figures = app.env.get_doctree(page).findall(nodes.figure) if page.startswith(MADE) else ()
        if figure := next(iter(figures), None):
            title = escape(app.env.titles[page].astext())
            name = figure["ids"][0]
            image = Path(app.env.images[figure.next_node(nodes.image)["uri"]][1]).stem
            wide = (Path(app.env.doc2path(page)).parent / "figures" / f"{name}-wide.svg").exists()
            dark = f"figures/{name}-wide-dark.svg" if wide else f"{app.builder.imagedir}/{image}-dark.svg"
            both = {"light": f"figures/{name}{'-wide' * wide}.svg", "dark": dark}
            pictures = "".join(
                f'<img src="../{path}" class="only-{theme}" alt="" loading="lazy">' for theme, path in both.items()
            )
            tiles.append(f'<a href="{app.builder.get_relative_uri(LANDING, page)}">{pictures}<span>{title}</span></a>')
    return f'<div class="gallery">{"".join(tiles)}</div>'
