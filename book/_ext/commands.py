"""The commands as a page of the book, made of what `--help` and `make help` say: it cannot say anything else."""

import re
from contextlib import redirect_stdout, suppress
from io import StringIO
from unittest.mock import patch

from attention_book.command_line.main import main
from attention_book.paths import ROOT

LINE = re.compile(r"^ {2,4}(\S.*?)(?:  +|\n +)(\S.*)$", re.MULTILINE)  # a name, and what it is, perhaps a line below
OF_ALL = ("-h, --help", "--json", "--quiet")  # options that the page explains once
TARGET = re.compile(r"^([a-z-]+):.*## (.*)$", re.MULTILINE)


def help_of(*command):
    """What a command, or the program, prints with --help, no line broken."""
    printed = StringIO()
    with redirect_stdout(printed), suppress(SystemExit), patch.dict("os.environ", COLUMNS="1000", NO_COLOR="1"):
        main([*command, "--help"])
    return printed.getvalue()


def page():
    """All commands with their options, and the targets of `make`, in MyST Markdown."""
    commands = dict(LINE.findall(help_of().partition("COMMAND\n")[2].partition("\noptions:")[0]))
    parts = [part for name, about in commands.items() for part in (f"## {name}", about, options(name))]
    targets = TARGET.findall((ROOT / "Makefile").read_text(encoding="utf-8"))
    return "\n\n".join([*parts, "## make", "In a checkout:", *(entry(f"make {name}", what) for name, what in targets)])


def options(command):
    """The options of a command, but for those of all, as a definition list."""
    of_command = help_of(command).partition("\n\n")[2].partition("\n\n")[2]  # below its usage and what it does
    return "\n\n".join(entry(name, what) for name, what in LINE.findall(of_command) if name not in OF_ALL)


def entry(name, what):
    """A name and what it is, as an entry of a definition list."""
    plain = re.sub(r"([*_<>$|[])", r"\\\1", what)
    return f"`{name}`\n: {plain}"
