"""The commands as a page of the book, made of what `--help` says: it cannot say anything else."""

import re
from contextlib import redirect_stdout, suppress
from io import StringIO
from unittest.mock import patch

from attention_book.command_line.main import main

LINE = re.compile(r"^ {2,4}(\S.*?)(?:  +|\n +)(\S.*)$", re.MULTILINE)  # a name, and what it is, perhaps a line below
OF_ALL = ("-h, --help", "--json", "--quiet")  # options that the page explains in words


def help_of(*command):
    """What a command, or the program, prints with --help, no line broken."""
    printed = StringIO()
    with redirect_stdout(printed), suppress(SystemExit), patch.dict("os.environ", COLUMNS="1000", NO_COLOR="1"):
        main([*command, "--help"])
    return printed.getvalue()


def page():
    """All commands with their options, in MyST Markdown."""
    commands = dict(LINE.findall(help_of().partition("COMMAND\n")[2].partition("\noptions:")[0]))
    parts = []
    for name, about in commands.items():
        of_command = help_of(name).partition("\n\n")[2].partition("\n\n")[2]  # below its usage and what it does
        options = [entry(*option) for option in LINE.findall(of_command) if option[0] not in OF_ALL]
        parts += [f"## {name}", plain(about), *options]
    return "\n\n".join(parts)


def entry(name, what):
    """A name and what it is, as an entry of a definition list."""
    return f"`{name.replace(',', ', ')}`\n: {plain(what)}"  # choices may stand in several lines


def plain(text):
    """Text whose characters mean nothing in Markdown; options as code."""
    return re.sub(r"(?<!\S)--[\w-]+", r"`\g<0>`", re.sub(r"([*_<>$|[])", r"\\\1", text))
