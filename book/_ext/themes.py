"""In HTML each figure comes twice, on light and on dark paper; what is taken away or printed is the light one."""

from pathlib import Path

from docutils import nodes

from attention_book.render.dark import dark


def setup(app):
    app.connect("doctree-resolved", add_dark)
    return {"parallel_read_safe": True}


def add_dark(app, tree, page):
    """Beside each SVG one for dark paper, with the same description: of the two one is displayed, and read aloud."""
    if app.builder.name != "html":
        return
    for image in list(tree.findall(nodes.image)):
        if not image["uri"].endswith(".svg"):
            continue
        name = Path(app.env.images[image["uri"]][1]).stem + "-dark.svg"
        folder = Path(app.outdir, app.builder.imagedir)
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(dark(Path(app.srcdir, image["uri"]).read_text()))
        other = image.deepcopy()
        other["uri"] = f"{'../' * page.count('/')}{app.builder.imagedir}/{name}"
        image["classes"] += ["only-light"]
        other["classes"] += ["only-dark"]
        both = nodes.inline(classes=["themes"])  # the theme hides a caption that is a sibling of the other one's image
        image.parent.replace(image, both)
        both += [image, other]
