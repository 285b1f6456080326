"""Below each figure one line that opens: what is behind it, and files to take away.

All of it comes from FIGURE.json beside the executed notebooks (`attention_book.notebooks.behind`).
"""

import json
import shutil
from html import escape
from pathlib import Path

from docutils import nodes

EXPLORER = "book/index"
FOLDER = "figures"  # of the files: beside the sources, and at the top of the built book
FILES = {"svg": "picture (SVG)", "csv": "what is drawn (CSV)", "json": "all of this (JSON)"}


def setup(app):
    app.connect("doctree-resolved", add_lines)
    app.connect("build-finished", bring_files)
    return {"parallel_read_safe": True}


def add_lines(app, tree, page):
    """After each figure that has a FIGURE.json: a `details` element."""
    if app.builder.name != "html":
        return
    sources = Path(app.env.doc2path(page)).parent / FOLDER
    root = "../" * page.count("/")
    for figure in list(tree.findall(nodes.figure)):
        for path in filter(Path.exists, [sources / f"{name}.json" for name in figure["ids"]]):
            about = json.loads(path.read_text())
            added = line(about, root, f"{root}_sources/{page}.ipynb")
            if about["explorer"] and EXPLORER in app.env.found_docs:
                view = f"{app.builder.get_relative_uri(page, EXPLORER)}#{escape(about['explorer'])}"
                added.insert(0, html(f'<p class="to-explorer"><a href="{view}">Open in the explorer</a></p>'))
            place = figure.parent.index(figure) + 1
            figure.parent[place:place] = added


def line(about, root, notebook):
    """Nodes of what is behind a figure, folded."""
    links = [
        f'<a href="{root}{FOLDER}/{about["figure"]}.{kind}" download>{words}</a>'
        for kind, words in FILES.items()
        if kind == "json" or f"{about['figure']}.{kind}" in about["files"]
    ]
    rows = [
        ("Take away", " · ".join(links)),
        ("Code", f'<a href="{notebook}" download>this page as a notebook</a>'),
        *(("Data", data(experiment)) for experiment in about["data"]),
        ("Drawn with", drawn_with(about)),
    ]
    table = "".join(f"<dt>{head}</dt><dd>{body}</dd>" for head, body in rows)
    opening = f'<details class="behind"><summary>Behind this figure: data, code, files</summary><dl>{table}</dl>'
    commands = "\n".join(about["commands"])
    return [
        html(opening + "<p>Draw it again; recompute its data, into a folder of its own:</p>"),
        nodes.literal_block(commands, commands, language="bash"),
        html("</details>"),
    ]


def data(experiment):
    """An experiment's results in one sentence."""
    cells = experiment["cells"]
    parts = [f"<code>{experiment['experiment']}</code>: {cells:,} {'cell' if cells == 1 else 'cells'}"]
    if experiment.get("data sets of a point"):
        least, most = experiment["data sets of a point"]
        parts.append(f"{least if least == most else f'{least} to {most}'} data set{'s' * (most > 1)} a point")
    if "file" in experiment:
        seconds, finished = experiment["computing seconds"], experiment["finished"][:10]
        parts.append(f"{duration(seconds)} of computing on one core, ended {finished}")
        versions = ", ".join(f"{name} {' and '.join(experiment[name])}" for name in ("python", "numpy", "torch"))
        parts += [commits(experiment["commit"]), versions, " and ".join(map(escape, experiment["cpu"]))]
        parts.append(f"stored in <code>{escape(experiment['file'])}</code>")
    return "; ".join(filter(None, parts))


def drawn_with(about):
    code = about["drawn with"]
    versions = f"attention-phases {code['version']}, matplotlib {code['matplotlib']}, python {code['python']}"
    profile = f"profile <code>{about['parameters']['profile']}</code>"
    return "; ".join(filter(None, [profile, versions, commits([code["commit"]] if code["commit"] else [])]))


def commits(names):
    short = ", ".join(f"<code>{name[:7]}{'+changes' * name.endswith('+changes')}</code>" for name in names)
    return f"{'commits' if len(names) > 1 else 'commit'} {short}" if names else ""


def duration(seconds):
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"


def html(text):
    return nodes.raw("", text, format="html")


def bring_files(app, error):
    """All files of figures below the built book, under names that do not change."""
    if error is None and app.builder.name == "html":
        for folder in Path(app.srcdir).glob(f"**/{FOLDER}"):
            if "_build" not in folder.relative_to(app.srcdir).parts:
                shutil.copytree(folder, Path(app.outdir, FOLDER), dirs_exist_ok=True)
