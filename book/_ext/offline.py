"""Pages that read from a disk without a network: MathJax comes along, scripts of other hosts stay out."""

import shutil
from importlib.util import find_spec
from pathlib import Path

MATHJAX = "static/mathjax/tex-svg-full.js"  # one file, glyphs as paths: no fonts to fetch


def setup(app):
    app.connect("html-page-context", keep_local, priority=900)
    app.connect("build-finished", bring_mathjax)
    return {"parallel_read_safe": True}


def keep_local(app, page, template, context, doctree):
    """Drop Thebe, which asks a server for a kernel, and a second MathJax, which a theme adds."""
    seen = set()

    def wanted(script):
        name = str(getattr(script, "filename", script) or "")
        local = "//" not in name and "thebe" not in name.lower()
        first = name not in seen or not name
        seen.add(name)
        body = str(getattr(script, "attributes", {}).get("body", ""))
        return local and first and "thebe" not in body.lower()

    context["script_files"] = [each for each in context.get("script_files", []) if wanted(each)]


def bring_mathjax(app, error):
    if error is None and app.builder.format == "html":
        package = Path(find_spec("sphinx-mathjax-offline").origin).parent
        target = Path(app.outdir, "_static", "mathjax")
        target.mkdir(parents=True, exist_ok=True)
        shutil.copy(package / MATHJAX, target)
