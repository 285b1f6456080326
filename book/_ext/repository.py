"""Links to the repository and to Binder, where BOOK_REPOSITORY or GITHUB_REPOSITORY (owner/name) says its address."""

import os
import re
import subprocess

from sphinx.errors import ConfigError

BINDER = "https://mybinder.org"
EXECUTED = re.compile(r"book/_executed/(\w+)\.ipynb")  # where the theme looks for a page's notebook


def setup(app):
    app.add_config_value("repository_files", (), "")
    app.connect("config-inited", set_address)
    app.connect("html-page-context", point_at_texts, priority=502)  # after the theme has made its buttons
    return {"parallel_read_safe": True}


def address(environment):
    """The repository's address that an environment names, or None."""
    named = environment.get("BOOK_REPOSITORY")
    if named and not re.fullmatch(r"https://(github|gitlab)\.com/[\w.-]+/[\w.-]+", named):
        raise ConfigError(
            f"BOOK_REPOSITORY = {named}: must be https://github.com/OWNER/NAME or https://gitlab.com/OWNER/NAME"
        )
    owned = environment.get("GITHUB_REPOSITORY")
    return named or (f"https://github.com/{owned}" if owned else None)


def set_address(app, config):
    """Tell the theme, which makes the buttons."""
    if url := address(os.environ):
        files = subprocess.run(["git", "-C", app.srcdir, "ls-files"], capture_output=True, text=True, check=False)
        config.repository_files = files.stdout.splitlines()  # none where there is no git
        config.html_theme_options |= {
            "repository_url": url,
            "repository_branch": "main",
            "use_repository_button": True,
            "use_source_button": True,
            "launch_buttons": {"binderhub_url": BINDER, "notebook_interface": "jupyterlab"},
        }


def point_at_texts(app, page, template, context, doctree):
    """Have each button name the text of a notebook, not the executed one; drop those whose file git does not have."""
    for group in context.get("header_buttons", []):
        if group.get("label") not in ("launch-buttons", "source-buttons"):
            continue
        for button in list(group["buttons"]):
            button["url"] = EXECUTED.sub(r"notebooks/\1.md", button["url"])
            file = re.search(r"(?:/blob/main/|=lab/tree/)([^?]+)", button["url"])
            if file and file[1] not in app.config.repository_files:
                group["buttons"].remove(button)
    context["header_buttons"] = [group for group in context.get("header_buttons", []) if group.get("buttons") != []]
