"""The book's work from a shell: `attention-phases COMMAND --help`.

Exit codes: 0 done; 1 the work failed, or a solution did not converge; 2 bad input, told in one line on stderr.
"""

import argparse
import json
import os
import sys
from concurrent.futures import BrokenExecutor
from pathlib import Path

import numpy as np

from attention_phases.errors import BadInput, NotebookError, ResultError, StoreError, SweepError
from attention_phases.model.architectures import SCORES
from attention_phases.task import Task

from . import commands
from .experiments import GRIDS, PROFILES


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        self.exit(2, _line(message) + "\n")  # without the usage text


def main(arguments=None):
    """Run one command and return its exit code."""
    options = _parser().parse_args(arguments)
    try:
        with np.errstate(all="ignore"):  # only the result has to be finite
            result = options.command(options)
        problem = result.pop("problem", None)
        text = _text(result, options.json, problem)
    except BadInput as error:
        print(_line(error), file=sys.stderr)
        return 2
    except (ResultError, NotebookError, StoreError, SweepError) as error:
        print(_line(error), file=sys.stderr)
        return 1
    except (ArithmeticError, np.linalg.LinAlgError, MemoryError, BrokenExecutor) as error:
        print(_line(f"no result at these parameters: {type(error).__name__}: {error}"), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped; a sweep goes on from its store", file=sys.stderr)
        return 1
    try:
        print(text, flush=True)
    except BrokenPipeError:  # whoever reads, such as `head`, has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if problem:
        print(problem, file=sys.stderr)
    return 1 if problem else 0


def _text(result, as_json, problem):
    """One JSON object, or a line for each entry; `ResultError` where a number is not finite, which JSON cannot say."""
    try:
        whole = json.dumps(result, allow_nan=False)
    except ValueError:
        raise ResultError(problem or "no finite result at these parameters") from None
    width = max(map(len, result))
    lines = [
        f"{name:{width}}  {json.dumps(each)}"
        for name, value in result.items()
        for each in (value if isinstance(value, list) and value and isinstance(value[0], dict) else [value])
    ]
    return whole if as_json else "\n".join(lines)


def _line(message):
    """On one line, whatever a value contains."""
    return " ".join(str(message).split())


def _parser():
    parser = _Parser(prog="attention-phases", description=__doc__.splitlines()[0])
    subparsers = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=_Parser)

    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--json", action="store_true", help="one JSON object on stdout")
    common.add_argument("--quiet", action="store_true", help="no progress on stderr")
    task = argparse.ArgumentParser(add_help=False)
    task.add_argument("--omega", type=float, default=Task.omega, help="weight of the positional part, in [0, 1]")
    task.add_argument("--sigma", type=float, default=Task.sigma, help="standard deviation of the tokens")
    task.add_argument("--lam", type=float, default=Task.lam, help="ridge penalty")
    task.add_argument("--matrix", default="standard", help='standard, alternative or "a,b;c,d"')
    architecture = argparse.ArgumentParser(add_help=False)
    architecture.add_argument("--architecture", choices=tuple(SCORES), default="tied", help="form of the student")
    architecture.add_argument("--tokens", type=int, default=2, help="length L of a sentence, at least 2")
    architecture.add_argument("--token-correlation", type=float, default=0.0,
                              help="of any two tokens' entries, in (-1/(L - 1), 1)")  # fmt: skip
    quadrature = argparse.ArgumentParser(add_help=False)
    quadrature.add_argument("--points", type=int, help="points a scramble, a power of two")
    quadrature.add_argument("--scrambles", type=int, help="independent scrambles, for the error bar")
    quadrature.add_argument("--seed", type=int, default=0, help="of the scrambles")
    alpha = argparse.ArgumentParser(add_help=False)
    alpha.add_argument("--alpha", type=float, required=True, help="sample complexity n/d")

    def add(command, *parents):
        added = subparsers.add_parser(command.__name__, help=command.__doc__, parents=[*parents, common])
        added.set_defaults(command=command)
        return added

    added = add(commands.theory, alpha, task, architecture, quadrature)
    added.add_argument("--branch", choices=("semantic", "positional", "symmetric"), required=True)
    added.add_argument("--breaking", type=int, choices=(0, 1), default=0, help="steps of replica symmetry breaking")
    added.add_argument("--y", type=float, help="with --breaking 1: weights the minima; without it, the lowest ones")
    added = add(commands.threshold, task, architecture, quadrature)
    added.add_argument("--kind", choices=("critical", "linear"), required=True)
    add(commands.baseline, task, architecture)
    added = add(commands.simulate, alpha, task, architecture)
    added.add_argument("--d", type=int, default=1000, help="embedding dimension")
    added.add_argument(
        "--init",
        choices=("semantic", "positional", "mixed", "random"),
        required=True,
        help="mixed: one column each, for rank2 and untied",
    )
    added.add_argument("--optimizer", choices=("lbfgs", "gd", "adam"), default="lbfgs")
    added.add_argument("--seeds", type=int, default=4, help="number of data sets")
    added.add_argument("--seed", type=int, default=0, help="of the first data set")
    added.add_argument("--workers", type=int, default=1, help="processes")
    added = add(commands.gamp, alpha, task)
    added.add_argument("--d", type=int, default=1000, help="embedding dimension")
    added.add_argument("--init", choices=("semantic", "positional", "random"), required=True)
    added.add_argument("--damping", type=float, default=0.7, help="share of the old state that is kept, in [0, 1)")
    added.add_argument("--steps", type=int, default=1000, help="iterations at most")
    added.add_argument("--seed", type=int, default=0, help="of the data set")
    added = add(commands.sweep)
    added.add_argument("name", choices=tuple(GRIDS))
    added.add_argument("--profile", choices=PROFILES, default="paper")
    where = added.add_mutually_exclusive_group()
    where.add_argument("--workers", type=int, help="processes, one a core by default")
    where.add_argument("--scheduler", help="address of a Dask cluster to run on, such as tcp://host:8786")
    added.add_argument("--store", type=Path, help="SQLite file that keeps results as they come")
    added.add_argument("--data", type=Path, help="folder of the exported tables")
    added = add(commands.verify)
    added.add_argument("--sample", type=int, default=20, help="cells to recompute")
    added.add_argument("--seed", type=int, default=0, help="chooses the cells")
    added.add_argument("--experiment", choices=tuple(GRIDS), help="of one experiment only")
    added = add(commands.figure)
    added.add_argument("name", help="such as fig02, or the name of a notebook")
    added.add_argument("--profile", choices=PROFILES, default="paper", help="at which size")
    added.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the notebook")
    added.add_argument("--out", type=Path, help="folder of what is written (_build/figures/NAME)")
    add(commands.figures).add_argument("--list", action="store_true", help="list them")
    return parser


if __name__ == "__main__":
    sys.exit(main())
