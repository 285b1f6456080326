"""The command-line interface; `attention-phases COMMAND --help` describes each command.

Exit codes: 0 success; 1 the work failed or there is no result; 2 bad input; 130 stopped by Ctrl-C; 143 stopped by
SIGTERM. After a failure, one line on stderr says why.
"""

import argparse
import json
import os
import signal
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from attention_phases.errors import BadInput, NotebookError, ResultError, StoreError, SweepError
from attention_phases.model.architectures import FORMS
from attention_phases.records import code_in_words, origin_of
from attention_phases.task import Task

from ..experiments import GRIDS, PROFILES
from ..paths import missing_package
from . import commands
from .printing import docstring_of, print_anything, readable_text

# Some options have different names from the arguments of the library.
OPTIONS = {"spectrum": "covariance", "form": "architecture", "correlation": "token-correlation"}


def main(arguments=None):
    """Run one command and return its exit code."""
    print_anything()
    options, stops = parser().parse_args(arguments), []
    try:
        with np.errstate(all="ignore"), _stopped_by_sigterm(stops):  # intermediate results may be infinite
            result = options.command(options)
        problem = result.pop("problem", None)
        text = _json(result | {"origin": _origin(options)} if options.json else result, problem)
    except BadInput as error:
        name, *rest = error.args
        return _complain(BadInput(OPTIONS.get(name, name), *rest), 2)
    except (ResultError, NotebookError, StoreError, SweepError) as error:
        return _complain(error)
    except ModuleNotFoundError as error:
        if error.name.startswith("attention_"):
            raise
        return _complain(missing_package(options.command.__name__, error))
    except OSError as error:  # for example, a full disk or a folder without write permission
        return _complain(f"{error.filename}: {error.strerror}" if error.filename else error)
    except ArithmeticError:
        return _complain("no result at these parameters: a number is too large or too small to compute with")
    except (np.linalg.LinAlgError, MemoryError) as error:
        return _complain(f"no result at these parameters: {type(error).__name__}: {error}")
    except KeyboardInterrupt as stop:
        return _complain(str(stop) or "stopped", 128 + (stops or [signal.SIGINT])[0])
    try:
        print(text if options.json else readable_text(result), flush=True)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # discards output that can no longer be written
        if not isinstance(error, BrokenPipeError):  # a program such as `head` may close the pipe early
            return _complain(f"the result could not be written: {error.strerror}")
    if problem:
        print(problem, file=sys.stderr)
    return 1 if problem else 0


@contextmanager
def _stopped_by_sigterm(stops):
    """Make SIGTERM stop the program like Ctrl-C, and append the signal to `stops`.

    A cluster sends SIGTERM to end a job.
    """

    def stop(number, frame):
        stops.append(number)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _origin(options):
    """Return a dictionary that records the command, all of its options, the version and the commit."""
    given = {name: value for name, value in vars(options).items() if name not in ("command", "json", "quiet")}
    plain = {name: str(value) if isinstance(value, Path) else value for name, value in given.items()}
    return origin_of(command=options.command.__name__, **plain)


def _json(result, problem):
    """Return a result as one JSON object, or raise `ResultError` if a number is not finite."""
    try:
        return json.dumps(result, allow_nan=False)
    except ValueError:
        raise ResultError(problem or "no finite result at these parameters") from None


def _complain(message, code=1):
    """Print an error message on one line of stderr, and return the exit code."""
    print(" ".join(str(message).split()), file=sys.stderr)
    return code


# Options


class _Defaults(argparse.ArgumentDefaultsHelpFormatter):
    """A formatter of help texts that shows the default values of options."""

    def _get_help_string(self, action):
        has_one = action.default not in (None, []) and action.default is not False
        return super()._get_help_string(action) if has_one else action.help


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        self.exit(_complain(f"{message} (see {self.prog} --help)", 2))  # shows no usage text


class _Version(argparse.Action):
    def __call__(self, parser, *given):  # runs only if the option is given, because it asks git for the commit
        print(code_in_words())
        parser.exit()


def parser():
    """Return the argument parser of the program `attention-phases`.

    The parsed options include `command`, the function of the chosen command.
    """
    parser = _Parser(prog="attention-phases", description=docstring_of(sys.modules[__name__])[0])
    parser.add_argument("--version", action=_Version, nargs=0, default=argparse.SUPPRESS, help="version and commit")
    subparsers = parser.add_subparsers(required=True, metavar="COMMAND")

    common = argparse.ArgumentParser(add_help=False)
    option = common.add_argument
    option("--json", action="store_true", help="print one JSON object; its origin has the options, version and commit")
    option("--quiet", action="store_true", help="show no progress on stderr")

    def add(command):
        text, answer = docstring_of(command)
        of_command = {"help": text, "description": text, "epilog": answer, "formatter_class": _Defaults}
        subparser = subparsers.add_parser(command.__name__, **of_command, parents=[common])
        subparser.set_defaults(command=command)
        return subparser

    option = add(commands.threshold).add_argument
    option("--kind", choices=("critical", "linear"), default="critical", help="alpha_c (critical) or alpha_l (linear)")
    option("--omega", type=float, default=Task.omega, help="weight of the positional part of the teacher, in [0, 1]")
    option("--sigma", type=float, default=Task.sigma, help="standard deviation of the tokens")
    option("--lam", type=float, default=Task.lam, help="ridge penalty")
    option("--matrix", default="standard", help='A of the teacher: standard, alternative or "a,b;c,d"')
    option("--encoding", type=float, default=Task.encoding, help="strength of the positional encoding")
    directions = '"eigenvalue,weight[,teacher[,encoding]];..." of the tokens, instead of --sigma'
    option("--covariance", metavar="DIRECTIONS", default=[], help=directions)
    option("--tokens", type=int, default=2, help="length L of a sentence, at least 2")
    option("--architecture", choices=tuple(FORMS), default="tied", help="form of the student")
    correlation = "correlation between the entries of any two tokens, in (-1/(L - 1), 1)"
    option("--token-correlation", type=float, default=0.0, help=correlation)
    points = "quadrature points per scramble, a power of two (default: 16384, or 2048 for other than standard students)"
    option("--points", type=int, help=points)
    option("--scrambles", type=int, default=16, help="number of independent scrambles, which give the error bar")
    option("--seed", type=int, default=0, help="seed of the scrambles")

    of_sweep = add(commands.sweep)
    option = of_sweep.add_argument
    option("name", choices=tuple(GRIDS), metavar="name", nargs="?", help="an experiment, such as fig02")
    option("--grid", type=Path, metavar="FILE", help="TOML file with your own sizes, instead of an experiment")
    option("--profile", choices=PROFILES, default="paper", help="size of the experiment")
    option("--store", type=Path, help="SQLite file that keeps results as they come")
    option("--data", type=Path, help="folder of the exported tables")
    option("--set", action="append", default=[], metavar="NAME=VALUE", help="a changed parameter of the experiment")
    option("--device", default="cpu", help="where students are trained: cpu, cuda (a GPU) or auto")
    option = of_sweep.add_mutually_exclusive_group().add_argument
    option("--workers", type=int, help="number of processes (default: one per core)")
    option("--scheduler", help="address of a Dask cluster to run on, such as tcp://host:8786")

    option = add(commands.verify).add_argument
    option("--sample", type=int, default=20, help="number of cells to recompute")
    option("--seed", type=int, default=0, help="seed of the choice of cells")
    option("--experiment", choices=tuple(GRIDS), metavar="NAME", help="check only this experiment")

    option = add(commands.published).add_argument
    option("folder", type=Path, help="a checkout of SPOC-group/positional-and-semantic-attention, or its empirics/")
    option("--out", type=Path, help="Parquet file that keeps the comparison")

    option = add(commands.figure).add_argument
    option("name", help="name of a page, such as fig02; `figures` lists all names")
    sizes = "size; all pages take 4 (paper, with stored results), 17 (laptop) or 6 (smoke) minutes on two cores"
    option("--profile", choices=PROFILES, default="paper", help=sizes)
    option("--set", action="append", default=[], metavar="NAME=VALUE", help="a changed parameter of the notebook")
    option("--out", type=Path, help="output folder (default: _build/figures/NAME)")

    add(commands.figures)
    return parser


if __name__ == "__main__":
    sys.exit(main())
