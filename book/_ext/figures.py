"""Figures in HTML: on light and on dark paper, some in a shape for wide screens too; below each a row of what to do.

What the row says comes from FIGURE.json (`behind`), and what a figure says of the point under
the pointer from FIGURE-readout.json (`attention_book.render.drawn`).
"""

import json
import re
import shutil
from functools import cache
from html import escape
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from dark import corners, dark
from docutils import nodes

EXPLORER = "book/index"
FOLDER = "figures"  # at the top of the built book
SOURCES = ("book/_executed/figures", "figures")  # of the files: of a book, and of a page alone
WORDS = {".svg": "SVG", ".png": "PNG", ".csv": "CSV", ".py": "Code"}  # of files that a figure may have
LINK = '<a href="{}" download>{}</a>'
READ = '<code>pandas.read_csv("{}", comment="#")</code>'  # its first lines are comments
READOUT = "-readout.json"
PICTURE = re.compile(r'<(?:img|source)[^>]* (?:src|srcset)="([^"]+?)(?:-dark)?\.svg"')
POINTS = re.compile(r'width="([\d.]+)pt" height="([\d.]+)pt"')
ROW = """<div class="actions">{links}<details class="behind"><summary>Data and commands</summary><dl>{rows}</dl>
<p>Commands:</p>"""


def setup(app):
    app.connect("doctree-resolved", complete)
    app.connect("html-page-context", keep_room)
    app.connect("build-finished", bring_files)
    return {"parallel_read_safe": True}


def complete(app, tree, page):
    """Give a page's figures their lines, and its pictures dark ones."""
    if app.builder.name == "html":
        for figure in list(tree.findall(nodes.figure)):
            add_row(app, figure, page)
            add_readout(app, figure, page)
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
    for path in files_of(app.srcdir, figure, "-wide.svg"):
        dark_one = f"{path.stem}-dark.svg"
        write_dark(path, Path(app.outdir, FOLDER, dark_one))
        figure["classes"] += ["wide"]
        if sum(1 for _ in figure.document.findall(nodes.section)) > 1:  # else the page has no contents beside it
            figure["classes"] += ["full-width"]  # for which the theme's script folds them away
        both.children = []
        both += picture(image, f"{root}{FOLDER}/{path.name}")
        both += picture(other, f"{root}{FOLDER}/{dark_one}")


def keep_room(app, page, template, context, doctree):
    """Say in a page how large its pictures are, so that what follows stays where it is while they load."""

    def sized(found):
        path = Path(app.outdir, page).parent / f"{found[1]}-dark.svg"  # as large as the light one, and written by now
        if not path.exists():
            return found[0]
        points = POINTS.search(path.read_text(encoding="utf-8")).groups()
        width, height = (round(float(size) * 4 / 3) for size in points)
        return f'{found[0]} width="{width}" height="{height}"'

    context["body"] = PICTURE.sub(sized, context.get("body", ""))


@cache
def files(source):
    """Path of every file of a figure, by its name."""
    return {path.name: path for folder in SOURCES for path in Path(source, folder).glob("*")}


def files_of(source, figure, suffix):
    """Those of one figure with a suffix: one path, or none."""
    names = [f"{name}{suffix}" for name in figure["ids"]]
    return [files(source)[name] for name in names if name in files(source)]


def write_dark(path, target):
    target.parent.mkdir(exist_ok=True)
    target.write_text(dark(path.read_text(encoding="utf-8")), encoding="utf-8")


def picture(image, wide):
    """Nodes of an image, and for wide screens another one: a browser loads one of the two."""
    return [html(f'<picture><source media="(min-width: 900px)" srcset="{wide}">'), image, html("</picture>")]


def add_row(app, figure, page):
    """After a figure that has a FIGURE.json: its files, the explorer if it shows the same, and what is behind."""
    for path in files_of(app.srcdir, figure, ".json"):
        about, root = json.loads(path.read_text(encoding="utf-8")), "../" * page.count("/")
        links = [LINK.format(f"{root}{FOLDER}/{name}", WORDS[Path(name).suffix]) for name in about["files"]]
        if about["explorer"] and EXPLORER in app.env.found_docs:
            view = f"{app.builder.get_relative_uri(page, EXPLORER)}#{escape(about['explorer'])}"
            links.append(f'<a href="{view}">Explorer</a>')
        notebook = LINK.format(f"{root}_sources/{page}.ipynb", "this page as a notebook")
        rows = {
            "Data": "</dd><dd>".join(map(data, about["data"])),
            "CSV": "".join(READ.format(name) for name in about["files"] if name.endswith(".csv")),
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


def add_readout(app, figure, page):
    """Mark a figure whose points have numbers, and write these as a script, which a page may load from a disk too.

    They are told with formulas, for which the page loads MathJax though it may have none itself.
    """
    for path in files_of(app.srcdir, figure, READOUT):
        name = path.name.removesuffix(READOUT)
        pictures = [Path(app.srcdir, figure.next_node(nodes.image)["uri"]), *files_of(app.srcdir, figure, "-wide.svg")]
        boxes = dict(zip(("tall", "wide"), (panels(picture.read_text(encoding="utf-8")) for picture in pictures)))
        target = Path(app.outdir, FOLDER, f"{name}.js")
        target.parent.mkdir(exist_ok=True)
        target.write_text(
            f'figureReadout["{name}"] = {{boxes: {json.dumps(boxes)}, series: {path.read_text(encoding="utf-8")}}};\n',
            encoding="utf-8",
        )
        figure["classes"] += ["readout"]
        app.env.get_domain("math").data["has_equations"][page] = True


def panels(svg):
    """Of each axes of a picture, by number, its sides in shares of the picture: left, top, right, bottom."""
    tree = ElementTree.fromstring(svg)
    *_, width, height = map(float, tree.get("viewBox").split())
    axes = [group for group in tree.iter() if group.get("id", "").startswith("axes_")]
    shares = {group.get("id").removeprefix("axes_"): np.divide(corners(group), (width, height)) for group in axes}
    return {number: [round(float(share), 4) for share in both.flat] for number, both in shares.items()}


def data(experiment):
    """An experiment's results in one sentence; what else is known of them is in the JSON."""
    text = f"<code>{experiment['experiment']}</code>: {experiment['cells']:,} cell{'s' * (experiment['cells'] > 1)}"
    if "file" in experiment:
        seconds = experiment["computing seconds"]
        duration = f"{seconds / 3600:,.1f} h" if seconds > 360 else f"{seconds:.0f} s"
        commits = " and ".join(f"<code>{name[:7]}{name[40:]}</code>" for name in experiment["commit"])
        by = f" by {commits}" if commits else ""  # outside of a checkout, nobody knows by which
        text += f", {duration} of computing on one core{by}; stored in <code>{experiment['file']}</code>"
    return text


def html(text):
    return nodes.raw("", text, format="html")


def bring_files(app, error):
    """All files of figures below the built book, under names that do not change."""
    if error is None and app.builder.name == "html":
        Path(app.outdir, FOLDER).mkdir(exist_ok=True)
        for path in files(app.srcdir).values():
            if not path.name.endswith(READOUT):
                shutil.copy(path, Path(app.outdir, FOLDER))
