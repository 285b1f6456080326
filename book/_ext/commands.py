"""The page of the commands, which is made from the output of `--help` so that both always agree."""

import re
from contextlib import redirect_stdout, suppress
from io import StringIO
from unittest.mock import patch

from attention_book.command_line.main import main

LINE = re.compile(r"^ {2,4}(\S.*?)(?:  +|\n +)(\S.*)$", re.MULTILINE)  # a name and its help, perhaps on the next line
COMMON_OPTIONS = ("-h, --help", "--json", "--quiet")  # common options, which the text of the page explains


def help_of(*command):
    """Return the output of a command, or of the program, with --help, without line breaks."""
    printed = StringIO()
    with redirect_stdout(printed), suppress(SystemExit), patch.dict("os.environ", COLUMNS="1000", NO_COLOR="1"):
        main([*command, "--help"])
    return printed.getvalue()


def page():
    """Return all commands with their options, in MyST Markdown."""
    commands = dict(LINE.findall(help_of().partition("COMMAND\n")[2].partition("\noptions:")[0]))
    parts = []
    for name, about in commands.items():
        of_command = help_of(name).partition("\n\n")[2].partition("\n\n")[2]  # skips the usage and the description
        options = [entry(*option) for option in LINE.findall(of_command) if option[0] not in COMMON_OPTIONS]
        parts += [f"## {name}", escape(about), *options]
    return "\n\n".join(parts)


def entry(name, what):
    """Return a name and its help as an entry of a definition list."""
    return f"`{name.replace(',', ', ')}`\n: {escape(what)}"  # joins choices of several lines


def escape(text):
    """Return a text with escaped Markdown characters, and with options as code."""
    return re.sub(r"(?<!\S)--[\w-]+", r"`\g<0>`", re.sub(r"([*_<>$|[])", r"\\\1", text))
