"""Pages that read from a disk without a network: MathJax comes along, scripts of other hosts stay out."""

import shutil
from importlib.util import find_spec
from pathlib import Path

MATHJAX = "static/mathjax/tex-svg-full.js"  # one file, glyphs as paths: no fonts to fetch
DATA = ("book/_executed/scorecard.json", "book/scorecard.schema.json")  # which the scorecard's page links to


def setup(app):
    app.connect("html-page-context", keep_local, priority=900)
    app.connect("build-finished", bring_files)
    return {"parallel_read_safe": True}


def keep_local(app, page, template, context, doctree):
    """Drop Thebe, which asks a server for a kernel, and a second MathJax, which a theme adds."""
    names = set()

    def is_wanted(script):
        name = str(getattr(script, "filename", script) or "")
        body = str(getattr(script, "attributes", {}).get("body", ""))
        wanted = "//" not in name and "thebe" not in f"{name}{body}".lower() and (not name or name not in names)
        names.add(name)
        return wanted

    context["script_files"] = [script for script in context.get("script_files", []) if is_wanted(script)]


def bring_files(app, error):
    """Copy MathJax, and the scorecard's data under a name that does not change."""
    if error is None and app.builder.format == "html":
        package = Path(find_spec("sphinx-mathjax-offline").origin).parent
        target = Path(app.outdir, "_static", "mathjax")
        target.mkdir(parents=True, exist_ok=True)
        shutil.copy(package / MATHJAX, target)
        for path in DATA:
            if Path(app.srcdir, path).exists():  # a page built alone has none
                shutil.copy(Path(app.srcdir, path), Path(app.outdir, "book"))
