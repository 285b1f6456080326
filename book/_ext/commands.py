"""The commands as a page of the book, made of what `--help` says: it cannot say anything else."""

import re
from collections import Counter
from contextlib import redirect_stdout, suppress
from io import StringIO
from unittest.mock import patch

from attention_book.command_line.main import main

LINE = re.compile(r"^ {2,4}(\S.*?)(?:  +|\n +)(\S.*)$", re.MULTILINE)  # a name, and what it is, perhaps a line below
OF_ALL = ("-h, --help", "--json", "--quiet")  # options that the page explains in words
SEVERAL = 2  # commands with an option that is explained once


def help_of(*command):
    """What a command, or the program, prints with --help, no line broken."""
    printed = StringIO()
    with redirect_stdout(printed), suppress(SystemExit), patch.dict("os.environ", COLUMNS="1000", NO_COLOR="1"):
        main([*command, "--help"])
    return printed.getvalue()


def page():
    """All commands with their options, in MyST Markdown."""
    commands = dict(LINE.findall(help_of().partition("COMMAND\n")[2].partition("\noptions:")[0]))
    options = {name: options_of(name) for name in commands}
    counts = Counter(option for some in options.values() for option in some.items())
    shared = {option: what for (option, what), count in counts.items() if count >= SEVERAL}
    parts = []
    for name, about in commands.items():
        own = [entry(*option) for option in options[name].items() if option not in shared.items()]
        also = [option.split()[0] for option, what in options[name].items() if shared.get(option) == what]
        below = [f"Also `{' '.join(also)}`: {{ref}}`shared-options`."] if also else []
        parts += [f"## {name}", plain(about), *own, *below]
    parts += ["(shared-options)=\n## Options of several commands", *(entry(*option) for option in shared.items())]
    return "\n\n".join(parts)


def options_of(command):
    """What each option of a command is, by its name; without those of all."""
    of_command = help_of(command).partition("\n\n")[2].partition("\n\n")[2]  # below its usage and what it does
    return {name: what for name, what in LINE.findall(of_command) if name not in OF_ALL}


def entry(name, what):
    """A name and what it is, as an entry of a definition list."""
    return f"`{name.replace(',', ', ')}`\n: {plain(what)}"  # choices may stand in several lines


def plain(text):
    """Text whose characters mean nothing in Markdown; options as code."""
    return re.sub(r"(?<!\S)--[\w-]+", r"`\g<0>`", re.sub(r"([*_<>$|[])", r"\\\1", text))
