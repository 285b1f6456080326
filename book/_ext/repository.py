"""Links to the repository and to Binder, and the version and the date of the build in the header.

The address of the repository comes from BOOK_REPOSITORY, CITATION.cff or GITHUB_REPOSITORY (owner/name). GitHub's
workflows set the last one, so a published book also has its address in its BibTeX entry and at the foot of its pages.
"""

import os
import re
import time
from pathlib import Path

import yaml
from docutils import nodes
from sphinx.util import logging

LOG = logging.getLogger(__name__)
NOTEBOOK = re.compile(r"book/_executed/(\w+)\.ipynb")  # source in which the theme looks for a page's notebook
OUTPUTS = re.compile(r"book/(_executed|api)/")  # pages that are not in git


def setup(app):
    app.connect("config-inited", set_address)
    app.connect("doctree-resolved", cite_address)
    app.connect("html-page-context", point_at_texts, priority=502)  # runs after the theme has made its buttons
    return {"parallel_read_safe": True}


def set_address(app, config):
    """Give the theme the addresses of its buttons, of its footer, and of the picture of the published book."""
    citation = yaml.safe_load(Path(app.srcdir, "CITATION.cff").read_text(encoding="utf-8"))
    (paper,) = citation["references"]
    authors = [f"{author['given-names'][0]}. {author['family-names']}" for author in paper["authors"]]
    built = time.strftime("%d %B %Y", time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))))
    cited = {"authors": ", ".join(authors), "version": citation["version"], "built": built.lstrip("0")}
    cited |= {"year": paper["year"], "url": paper["url"], "book": citation["title"]}
    config.html_context = {**config.html_context, "paper": cited}
    owned = os.environ.get("GITHUB_REPOSITORY")
    known = os.environ.get("BOOK_REPOSITORY") or citation.get("repository-code")
    if url := known or (owned and f"https://github.com/{owned}"):
        binder = {"binderhub_url": "https://mybinder.org", "notebook_interface": "jupyterlab"}
        buttons = {"use_repository_button": True, "use_source_button": True, "launch_buttons": binder}
        config.html_theme_options |= {"repository_url": url, "repository_branch": "main", **buttons}
    else:
        LOG.info("No page names the address of the code: set BOOK_REPOSITORY to it")
    if owned:  # the picture of a shared link needs a complete address
        owner, name = owned.split("/")
        config.myst_html_meta |= {"property=og:image": f"https://{owner}.github.io/{name}/_static/share.png"}


def cite_address(app, tree, page):
    """Add the address of the repository to the BibTeX entry of the book, which is the one with a version."""
    if url := app.config.html_theme_options.get("repository_url"):
        for block in tree.findall(nodes.literal_block):
            if block.get("language") == "bibtex":
                text = block.astext().replace("  version ", f"  url       = {{{url}}},\n  version ", 1)
                block.replace_self(nodes.literal_block(text, text, **block.attributes))


def point_at_texts(app, page, template, context, doctree):
    """Let each button link to the text of a notebook instead of the executed notebook.

    Buttons of pages that are generated are removed.
    """
    for group in context.get("header_buttons", []):
        if group.get("label") in ("launch-buttons", "source-buttons"):
            buttons = [button | {"url": NOTEBOOK.sub(r"notebooks/\1.md", button["url"])} for button in group["buttons"]]
            group["buttons"] = [button for button in buttons if not OUTPUTS.search(button["url"])]
    context["header_buttons"] = [group for group in context.get("header_buttons", []) if group.get("buttons") != []]
