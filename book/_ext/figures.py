"""Figures in HTML: each on light and on dark paper, and below it a line that opens: data, code, files to take away.

What the line says comes from FIGURE.json beside the executed notebooks (`attention_book.notebooks.behind`).
"""

import json
import shutil
from html import escape
from pathlib import Path

from docutils import nodes

from attention_book.render.dark import dark

EXPLORER = "book/index"
FOLDER = "figures"  # of the files: beside the sources, and at the top of the built book
FILES = {"svg": "picture (SVG)", "csv": "what is drawn (CSV)", "json": "all of this (JSON)"}
BEHIND = """<details class="behind"><summary>Behind this figure: data, code, files</summary><dl>{rows}</dl>
<p>Draw it again; recompute its data, into a folder of its own:</p>"""


def setup(app):
    app.connect("doctree-resolved", complete)
    app.connect("build-finished", bring_files)
    return {"parallel_read_safe": True}


def complete(app, tree, page):
    """Give a page's figures their lines, and its pictures dark ones."""
    if app.builder.name == "html":
        for figure in list(tree.findall(nodes.figure)):
            add_line(app, figure, page)
        for image in list(tree.findall(nodes.image)):
            if image["uri"].endswith(".svg"):
                add_dark(app, image, page)


def add_dark(app, image, page):
    """Beside a picture one for dark paper, with the same description: of the two one is displayed, and read aloud."""
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


def add_line(app, figure, page):
    """After a figure that has a FIGURE.json: a link into the explorer, if it shows the same, and what is behind."""
    paths = [Path(app.env.doc2path(page)).parent / FOLDER / f"{name}.json" for name in figure["ids"]]
    for path in filter(Path.exists, paths):
        about, root = json.loads(path.read_text()), "../" * page.count("/")
        rows = {
            "Take away": " · ".join(
                f'<a href="{root}{FOLDER}/{about["figure"]}.{kind}" download>{words}</a>'
                for kind, words in FILES.items()
                if kind == "json" or f"{about['figure']}.{kind}" in about["files"]
            ),
            "Code": f'<a href="{root}_sources/{page}.ipynb" download>this page as a notebook</a>',
            "Data": "</dd><dd>".join(map(data, about["data"])),
        }
        commands = "\n".join(about["commands"])
        added = [
            html(BEHIND.format(rows="".join(f"<dt>{name}</dt><dd>{text}</dd>" for name, text in rows.items() if text))),
            nodes.literal_block(commands, commands, language="bash"),
            html("</details>"),
        ]
        if about["explorer"] and EXPLORER in app.env.found_docs:
            view = f"{app.builder.get_relative_uri(page, EXPLORER)}#{escape(about['explorer'])}"
            added.insert(0, html(f'<p class="to-explorer"><a href="{view}">Open in the explorer</a></p>'))
        place = figure.parent.index(figure) + 1
        figure.parent[place:place] = added


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
