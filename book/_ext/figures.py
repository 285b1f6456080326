"""Figures in HTML: on light and on dark paper, some in a shape for wide screens too; below each a row of what to do.

What the row says comes from FIGURE.json beside the executed notebooks (`attention_book.notebooks.behind`).
"""

import json
import shutil
from html import escape
from pathlib import Path

from docutils import nodes

from attention_book.render.dark import dark

EXPLORER = "book/index"
FOLDER = "figures"  # of the files: beside the sources, and at the top of the built book
WORDS = {".svg": "SVG", ".csv": "CSV", ".py": "Code"}  # of files that a figure may have
LINK = '<a href="{}" download>{}</a>'
ROW = """<div class="actions">{links}<details class="behind"><summary>Data and commands</summary><dl>{rows}</dl>
<p>Draw it again; recompute its data, into a folder of its own:</p>"""


def setup(app):
    app.connect("doctree-resolved", complete)
    app.connect("build-finished", bring_files)
    return {"parallel_read_safe": True}


def complete(app, tree, page):
    """Give a page's figures their lines, and its pictures dark ones."""
    if app.builder.name == "html":
        for figure in list(tree.findall(nodes.figure)):
            add_row(app, figure, page)
        for image in list(tree.findall(nodes.image)):
            if image["uri"].endswith(".svg"):
                add_dark(app, image, page)


def add_dark(app, image, page):
    """Beside a picture one for dark paper, with the same description: of the two one is displayed, and read aloud.

    A figure that has a wide picture shows it on screens that are, and takes the page's margin too.
    """
    root, figure = "../" * page.count("/"), image.parent
    name = Path(app.env.images[image["uri"]][1]).stem + "-dark.svg"
    write_dark(Path(app.srcdir, image["uri"]), Path(app.outdir, app.builder.imagedir, name))
    other = image.deepcopy()
    other["uri"] = f"{root}{app.builder.imagedir}/{name}"
    image["classes"] += ["only-light"]
    other["classes"] += ["only-dark"]
    both = nodes.inline(classes=["themes"])  # the theme hides a caption that is a sibling of the other one's image
    figure.replace(image, both)
    both += [image, other]
    folder = Path(app.env.doc2path(page)).parent / FOLDER
    for path in filter(Path.exists, [folder / f"{name}-wide.svg" for name in figure["ids"]]):
        dark_one = f"{path.stem}-dark.svg"
        write_dark(path, Path(app.outdir, FOLDER, dark_one))
        figure["classes"] += ["wide"]
        if sum(1 for _ in figure.document.findall(nodes.section)) > 1:  # else the page has no contents beside it
            figure["classes"] += ["full-width"]  # for which the theme's script folds them away
        both.children = []
        both += [*picture(image, f"{root}{FOLDER}/{path.name}"), *picture(other, f"{root}{FOLDER}/{dark_one}")]


def write_dark(path, target):
    target.parent.mkdir(exist_ok=True)
    target.write_text(dark(path.read_text()))


def picture(image, wide):
    """Nodes of an image, and for wide screens another one: a browser loads one of the two."""
    return [html(f'<picture><source media="(min-width: 900px)" srcset="{wide}">'), image, html("</picture>")]


def add_row(app, figure, page):
    """After a figure that has a FIGURE.json: its files, the explorer if it shows the same, and what is behind."""
    paths = [Path(app.env.doc2path(page)).parent / FOLDER / f"{name}.json" for name in figure["ids"]]
    for path in filter(Path.exists, paths):
        about, root = json.loads(path.read_text()), "../" * page.count("/")
        links = [LINK.format(f"{root}{FOLDER}/{name}", WORDS[Path(name).suffix]) for name in about["files"]]
        if about["explorer"] and EXPLORER in app.env.found_docs:
            view = f"{app.builder.get_relative_uri(page, EXPLORER)}#{escape(about['explorer'])}"
            links.append(f'<a href="{view}">Explorer</a>')
        notebook = LINK.format(f"{root}_sources/{page}.ipynb", "this page as a notebook")
        rows = {
            "Data": "</dd><dd>".join(map(data, about["data"])),
            "Take away": f"{notebook} · {LINK.format(f'{root}{FOLDER}/{path.name}', 'all of this (JSON)')}",
        }
        commands = "\n".join(about["commands"])
        shown = "".join(f"<dt>{name}</dt><dd>{text}</dd>" for name, text in rows.items() if text)
        place = figure.parent.index(figure) + 1
        figure.parent[place:place] = [
            html(ROW.format(links="".join(links), rows=shown)),
            nodes.literal_block(commands, commands, language="bash"),
            html("</details></div>"),
        ]


def data(experiment):
    """An experiment's results in one sentence; what else is known of them is in the JSON."""
    text = f"<code>{experiment['experiment']}</code>: {experiment['cells']:,} cell{'s' * (experiment['cells'] > 1)}"
    if "file" in experiment:
        hours = experiment["computing seconds"] / 3600
        commits = " and ".join(f"<code>{name[:7]}{name[40:]}</code>" for name in experiment["commit"])
        text += f", {hours:.2g} h of computing on one core by {commits}; stored in <code>{experiment['file']}</code>"
    return text


def html(text):
    return nodes.raw("", text, format="html")


def bring_files(app, error):
    """All files of figures below the built book, under names that do not change."""
    if error is None and app.builder.name == "html":
        for folder in Path(app.srcdir).glob(f"**/{FOLDER}"):
            if "_build" not in folder.relative_to(app.srcdir).parts:
                shutil.copytree(folder, Path(app.outdir, FOLDER), dirs_exist_ok=True)
