"""Links to the repository and to Binder, where the build knows the repository's address and git has what they name.

The address is BOOK_REPOSITORY, or what GITHUB_REPOSITORY (owner/name, set by GitHub Actions) names. Without it the
pages have no such links.
"""

import os
import re
import subprocess

from sphinx.errors import ConfigError

BINDER = "https://mybinder.org"
EXECUTED = re.compile(r"book/_executed/(\w+)\.ipynb")  # where the theme looks for a page's notebook


def setup(app):
    app.add_config_value("repository_files", frozenset(), "")
    app.connect("config-inited", tell_theme)
    app.connect("html-page-context", point_at_texts, priority=502)  # after the theme has made its buttons
    return {"parallel_read_safe": True}


def address(environment):
    """The repository's address that an environment names, or None."""
    if said := environment.get("BOOK_REPOSITORY"):
        if not re.fullmatch(r"https://(github|gitlab)\.com/[\w.-]+/[\w.-]+", said):
            raise ConfigError(
                f"BOOK_REPOSITORY = {said}: must be https://github.com/OWNER/NAME or https://gitlab.com/OWNER/NAME"
            )
        return said
    owned = environment.get("GITHUB_REPOSITORY")
    return f"https://github.com/{owned}" if owned else None


def tell_theme(app, config):
    if found := address(os.environ):
        config.repository_files = frozenset(_tracked(app.srcdir))
        config.html_theme_options = {
            **config.html_theme_options,
            "repository_url": found,
            "repository_branch": "main",
            "use_repository_button": True,
            "use_source_button": True,
            "launch_buttons": {"binderhub_url": BINDER, "notebook_interface": "jupyterlab"},
        }


def _tracked(folder):
    listed = subprocess.run(["git", "-C", folder, "ls-files"], capture_output=True, text=True, check=False)
    return listed.stdout.splitlines()  # empty where there is no git


def point_at_texts(app, page, template, context, doctree):
    """Have each button name the text of a notebook, not the executed one; drop those whose file git does not have."""
    buttons = context.get("header_buttons", [])
    for group in buttons:
        if group.get("label") in ("launch-buttons", "source-buttons"):
            group["buttons"] = [button for button in group["buttons"] if _rewritten(app, button)]
    context["header_buttons"] = [each for each in buttons if each.get("buttons") != []]


def _rewritten(app, button):
    """Rewrite the address of a button; whether what it names is there."""
    button["url"] = EXECUTED.sub(r"notebooks/\1.md", button["url"])
    named = re.search(r"(?:/blob/main/|=lab/tree/)([^?]+)", button["url"])
    return named is None or named[1] in app.config.repository_files
