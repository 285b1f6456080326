"""The figures in HTML: on light and on dark paper, some also for wide screens, each with a row of links below.

The row is made from FIGURE.json (`behind`). The text for the point under the pointer is made from FIGURE-readout.json
(`attention_book.render.figure_data`).
"""

import json
import re
import shutil
from functools import cache
from html import escape
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from dark import corners, darken
from docutils import nodes

EXPLORER = "book/index"
FOLDER = "figures"  # folder at the top of the built book
SOURCES = ("book/_executed/figures", "figures")  # folders of the files in the sources of the book and of a single page
WORDS = {".svg": "SVG", ".png": "PNG", ".csv": "CSV", ".py": "Code"}  # words for the files of a figure
LINK = '<a href="{}" download>{}</a>'
COMMAND = '<code>pandas.read_csv("{}", comment="#")</code>'  # its first lines are comments
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
    """Add rows of links to the figures of a page, and dark versions to its pictures."""
    if app.builder.name == "html":
        for figure in list(tree.findall(nodes.figure)):
            add_row(app, figure, page)
            add_readout(app, figure, page)
        for image in list(tree.findall(nodes.image)):
            if image["uri"].endswith(".svg"):
                add_dark(app, image, page)


def add_dark(app, image, page):
    """Add a picture for dark paper beside a picture, with the same description.

    Only one of the two is displayed and read aloud. A figure with a wide version shows it on wide screens, where it
    also covers the margin of the page.
    """
    root, figure = "../" * page.count("/"), image.parent
    name = Path(app.env.images[image["uri"]][1]).stem + "-dark.svg"
    write_dark(Path(app.srcdir, image["uri"]), Path(app.outdir, app.builder.imagedir, name))
    other = image.deepcopy()
    other["uri"] = f"{root}{app.builder.imagedir}/{name}"
    image["classes"] += ["only-light"]
    other["classes"] += ["only-dark"]
    both = nodes.inline(classes=["themes"])  # the theme would hide a caption beside the other image
    figure.replace(image, both)
    both += [image, other]
    for path in files_of(app.srcdir, figure, "-wide.svg"):
        dark_one = f"{path.stem}-dark.svg"
        write_dark(path, Path(app.outdir, FOLDER, dark_one))
        figure["classes"] += ["wide"]
        if sum(1 for _ in figure.document.findall(nodes.section)) > 1:  # otherwise the page has no contents at its side
            figure["classes"] += ["full-width"]  # lets the theme's script fold the contents
        both.children = []
        both += picture(image, f"{root}{FOLDER}/{path.name}")
        both += picture(other, f"{root}{FOLDER}/{dark_one}")


def keep_room(app, page, template, context, doctree):
    """Write the sizes of pictures into a page, so that its text does not move while they load."""

    def sized(found):
        path = Path(app.outdir, page).parent / f"{found[1]}-dark.svg"  # as large as the light picture
        if not path.exists():
            return found[0]
        points = POINTS.search(path.read_text(encoding="utf-8")).groups()
        width, height = (round(float(size) * 4 / 3) for size in points)
        return f'{found[0]} width="{width}" height="{height}"'

    context["body"] = PICTURE.sub(sized, context.get("body", ""))


@cache
def files(source):
    """Return the path of every file of a figure, by the name of the file."""
    return {path.name: path for folder in SOURCES for path in Path(source, folder).glob("*")}


def files_of(source, figure, suffix):
    """Return the paths of a figure's files with a suffix, one or none."""
    names = [f"{name}{suffix}" for name in figure["ids"]]
    return [files(source)[name] for name in names if name in files(source)]


def write_dark(path, target):
    target.parent.mkdir(exist_ok=True)
    target.write_text(darken(path.read_text(encoding="utf-8")), encoding="utf-8")


def picture(image, wide):
    """Return the nodes of an image and of its version for wide screens, of which a browser loads one."""
    return [html(f'<picture><source media="(min-width: 900px)" srcset="{wide}">'), image, html("</picture>")]


def add_row(app, figure, page):
    """Add a row below a figure that has a FIGURE.json: its files, its view in the explorer, and its provenance."""
    for path in files_of(app.srcdir, figure, ".json"):
        about, root = json.loads(path.read_text(encoding="utf-8")), "../" * page.count("/")
        links = [LINK.format(f"{root}{FOLDER}/{name}", WORDS[Path(name).suffix]) for name in about["files"]]
        if about["explorer"] and EXPLORER in app.env.found_docs:
            view = f"{app.builder.get_relative_uri(page, EXPLORER)}#{escape(about['explorer'])}"
            links.append(f'<a href="{view}">Explorer</a>')
        notebook = LINK.format(f"{root}_sources/{page}.ipynb", "this page as a notebook")
        rows = {
            "Data": "</dd><dd>".join(map(data, about["data"])),
            "CSV": "".join(COMMAND.format(name) for name in about["files"] if name.endswith(".csv")),
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
    """Mark a figure whose points have numbers, and write these numbers as a script, which pages can load from a disk.

    The numbers are shown with formulas. Therefore the page loads MathJax even if its text has no formulas.
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
    """Return the sides of each axes of a picture by its number, as shares of the picture: left, top, right, bottom."""
    tree = ElementTree.fromstring(svg)
    *_, width, height = map(float, tree.get("viewBox").split())
    axes = [group for group in tree.iter() if group.get("id", "").startswith("axes_")]
    shares = {group.get("id").removeprefix("axes_"): np.divide(corners(group), (width, height)) for group in axes}
    return {number: [round(float(share), 4) for share in both.flat] for number, both in shares.items()}


def data(experiment):
    """Return one sentence about the results of an experiment; the JSON file has everything else."""
    text = f"<code>{experiment['experiment']}</code>: {experiment['cells']:,} cell{'s' * (experiment['cells'] > 1)}"
    if "file" in experiment:
        seconds = experiment["computing seconds"]
        duration = f"{seconds / 3600:,.1f} h" if seconds > 360 else f"{seconds:.0f} s"
        commits = " and ".join(f"<code>{name[:7]}{name[40:]}</code>" for name in experiment["commit"])
        by = f" by {commits}" if commits else ""  # the commit is unknown outside a checkout
        text += f", {duration} of computing on one core{by}; stored in <code>{experiment['file']}</code>"
    return text


def html(text):
    return nodes.raw("", text, format="html")


def bring_files(app, error):
    """Copy all files of figures to the built book, under names that do not change."""
    if error is None and app.builder.name == "html":
        Path(app.outdir, FOLDER).mkdir(exist_ok=True)
        for path in files(app.srcdir).values():
            if not path.name.endswith(READOUT):
                shutil.copy(path, Path(app.outdir, FOLDER))
