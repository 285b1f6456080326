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
    scripts = {}
    for script in context.get("script_files", []):
        source = f"{getattr(script, 'filename', script) or script.attributes.get('body')}"
        if "//" not in source and "thebe" not in source.lower():
            scripts.setdefault(source, script)
    context["script_files"] = list(scripts.values())


def bring_mathjax(app, error):
    if error is None and app.builder.format == "html":
        target = Path(app.outdir, "_static", "mathjax")
        target.mkdir(parents=True, exist_ok=True)
        shutil.copy(Path(find_spec("sphinx-mathjax-offline").origin).parent / MATHJAX, target)
