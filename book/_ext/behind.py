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


def setup(app):
    app.connect("doctree-resolved", add_lines)
    app.connect("build-finished", bring_files)
    return {"parallel_read_safe": True}


def add_lines(app, tree, page):
    """After each figure that has a FIGURE.json: a `details` element."""
    if app.builder.name != "html":
        return
    sources = Path(app.env.doc2path(page)).parent / FOLDER
    for figure in list(tree.findall(nodes.figure)):
        named = [sources / f"{name}.json" for name in figure["ids"]]
        for path in filter(Path.exists, named):
            found = json.loads(path.read_text())
            place = figure.parent.index(figure) + 1
            if found["explorer"] and EXPLORER in app.env.found_docs:
                view = f"{app.builder.get_relative_uri(page, EXPLORER)}#{escape(found['explorer'])}"
                figure.parent.insert(
                    place, html(f'<p class="to-explorer"><a href="{view}">Open in the explorer</a></p>')
                )
                place += 1
            figure.parent[place:place] = line(found, "../" * page.count("/"), lambda name: api_link(app, page, name))


def line(found, root, link):
    """Nodes of what is behind a figure, folded."""
    files = " · ".join(
        f'<a href="{root}{FOLDER}/{found["figure"]}.{kind}" download>{said}</a>'
        for kind, said in (("svg", "picture (SVG)"), ("csv", "what is drawn (CSV)"), ("json", "all of this (JSON)"))
        if kind == "json" or f"{found['figure']}.{kind}" in found["files"]
    )
    rows = [
        ("Take away", files),
        ("Drawn by", ", ".join(map(link, found["functions"]["draw"]))),
        ("Computed by", ", ".join(map(link, found["functions"]["compute"]))),
        *(("Data", data(each)) for each in found["data"]),
        ("Drawn with", drawn_with(found)),
    ]
    table = "".join(f"<dt>{head}</dt><dd>{body}</dd>" for head, body in rows if body)
    commands, code = highlighted("\n".join(found["commands"]), "bash"), highlighted(found["code"], "python")
    opening = f'<details class="behind"><summary>Behind this figure: data, code, files</summary><dl>{table}</dl>'
    return [html(opening + "<p>Draw it again; recompute its data, into a folder of its own:</p>"), commands,
            html("<p>The code that draws it, without the rest of the page:</p>"), code, html("</details>")]  # fmt: skip


def data(found):
    """An experiment's results in one sentence."""
    parts = [f"<code>{found['experiment']}</code>: {found['cells']:,} {'cell' if found['cells'] == 1 else 'cells'}"]
    if found.get("data sets of a point"):
        least, most = found["data sets of a point"]
        parts.append(f"{least if least == most else f'{least} to {most}'} data set{'s' * (most > 1)} a point")
    if "file" in found:
        parts.append(f"{duration(found['computing seconds'])} of computing on one core, ended {found['finished'][:10]}")
        versions = ", ".join(f"{name} {' and '.join(found[name])}" for name in ("python", "numpy", "torch"))
        parts += [commits(found["commit"]), versions, " and ".join(map(escape, found["cpu"]))]
        parts.append(f"stored in <code>{escape(found['file'])}</code>")
    return "; ".join(filter(None, parts))


def drawn_with(found):
    made = found["drawn with"]
    versions = f"attention-phases {made['version']}, matplotlib {made['matplotlib']}, python {made['python']}"
    return "; ".join(filter(None, [f"profile <code>{found['parameters']['profile']}</code>", versions,
                                   commits([made["commit"]] if made["commit"] else [])]))  # fmt: skip


def commits(found):
    short = ", ".join(f"<code>{each[:7]}{'+changes' * each.endswith('+changes')}</code>" for each in found)
    return f"{'commits' if len(found) > 1 else 'commit'} {short}" if found else ""


def duration(seconds):
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"


def api_link(app, page, name):
    """A function's name with a link to it, where the book describes it."""
    short = f"<code>{name.partition('.')[2]}</code>"
    described = app.env.get_domain("py").objects.get(name)
    if described is None:
        return short
    target = app.builder.get_relative_uri(page, described.docname)
    return f'<a href="{target}#{described.node_id}">{short}</a>'


def highlighted(text, language):
    return nodes.literal_block(text, text, language=language)


def html(text):
    return nodes.raw("", text, format="html")


def bring_files(app, error):
    """All files of figures below the built book, under names that do not change."""
    if error is None and app.builder.name == "html":
        for folder in Path(app.srcdir).glob(f"**/{FOLDER}"):
            if "_build" not in folder.relative_to(app.srcdir).parts:
                shutil.copytree(folder, Path(app.outdir, FOLDER), dirs_exist_ok=True)
