"""The book's work from a shell: `attention-phases COMMAND --help`.

Exit codes: 0 done; 1 the work failed, or a solution did not converge; 2 bad input; one line on stderr says why.
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

TOO_LARGE = ("can't allocate memory", "Maximum allowed dimension exceeded")  # what torch and NumPy say of an array


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
        return _complain(error, 2)
    except (ResultError, NotebookError, StoreError, SweepError) as error:
        return _complain(error)
    except (ArithmeticError, np.linalg.LinAlgError, MemoryError, BrokenExecutor) as error:
        return _complain(f"no result at these parameters: {type(error).__name__}: {error}")
    except (RuntimeError, ValueError) as error:
        if not any(words in str(error) for words in TOO_LARGE):
            raise
        return _complain(f"no result at these parameters: {error}")
    except KeyboardInterrupt:
        return _complain("stopped; a sweep goes on from its store")
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
    if as_json:
        return whole
    width = max(map(len, result))
    lines = []
    for name, value in result.items():
        is_table = isinstance(value, list) and value and isinstance(value[0], dict)
        lines += [f"{name:{width}}  {json.dumps(entry)}" for entry in (value if is_table else [value])]
    return "\n".join(lines)


def _line(message):
    """On one line, whatever a value contains."""
    return " ".join(str(message).split())


def _complain(message, code=1):
    """Say in one line what is wrong, and return the exit code."""
    print(_line(message), file=sys.stderr)
    return code


def _parser():
    parser = _Parser(prog="attention-phases", description=__doc__.splitlines()[0])
    subparsers = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=_Parser)

    def group():
        return argparse.ArgumentParser(add_help=False)

    def add(command, *groups):
        subparser = subparsers.add_parser(command.__name__, help=command.__doc__, parents=[*groups, common])
        subparser.set_defaults(command=command)
        return subparser

    common, alpha, task, covariance, architecture, quadrature, dimension = (group() for _ in range(7))
    common.add_argument("--json", action="store_true", help="one JSON object on stdout")
    common.add_argument("--quiet", action="store_true", help="no progress on stderr")
    alpha.add_argument("--alpha", type=float, required=True, help="sample complexity n/d")
    task.add_argument("--omega", type=float, default=Task.omega, help="weight of the positional part, in [0, 1]")
    task.add_argument("--sigma", type=float, default=Task.sigma, help="standard deviation of the tokens")
    task.add_argument("--lam", type=float, default=Task.lam, help="ridge penalty")
    task.add_argument("--matrix", default="standard", help='standard, alternative or "a,b;c,d"')
    directions = '"eigenvalue,weight[,teacher[,encoding]];..." of the tokens, in the place of --sigma'
    covariance.add_argument("--covariance", metavar="DIRECTIONS", help=directions)
    architecture.add_argument("--architecture", choices=tuple(SCORES), default="tied", help="form of the student")
    architecture.add_argument("--tokens", type=int, default=2, help="length L of a sentence, at least 2")
    correlation = "of any two tokens' entries, in (-1/(L - 1), 1)"
    architecture.add_argument("--token-correlation", type=float, default=0.0, help=correlation)
    quadrature.add_argument("--points", type=int, help="points a scramble, a power of two")
    quadrature.add_argument("--scrambles", type=int, help="independent scrambles, for the error bar")
    quadrature.add_argument("--seed", type=int, default=0, help="of the scrambles")
    dimension.add_argument("--d", type=int, default=1000, help="embedding dimension")

    option = add(commands.theory, alpha, task, architecture, quadrature).add_argument
    option("--branch", choices=("semantic", "positional", "symmetric"), required=True)
    option("--breaking", type=int, choices=(0, 1), default=0, help="steps of replica symmetry breaking")
    option("--y", type=float, help="with --breaking 1: weights the minima; without it, the lowest ones")

    option = add(commands.threshold, task, architecture, quadrature).add_argument
    option("--kind", choices=("critical", "linear"), required=True)

    add(commands.baseline, task, architecture)

    option = add(commands.optimal, alpha, task).add_argument
    option("--tokens", type=int, default=2, help="length L of a sentence, at least 2")
    option("--d", type=int, help="also look for the teacher on data of this dimension, by message passing")
    option("--seeds", type=int, default=4, help="number of data sets")
    option("--seed", type=int, default=0, help="of the first data set")

    option = add(commands.end).add_argument
    option("--sigma", type=float, default=Task.sigma, help="standard deviation of the tokens")
    option("--matrix", default="standard", help='standard, alternative or "a,b;c,d"')
    option("--omega", type=float, help="also print the lowest test errors at this omega")

    option = add(commands.simulate, alpha, task, architecture, dimension).add_argument
    starts = ("semantic", "positional", "mixed", "random")
    option("--init", choices=starts, required=True, help="mixed: one column each, for rank2 and untied")
    option("--optimizer", choices=("lbfgs", "gd", "adam"), default="lbfgs")
    option("--seeds", type=int, default=4, help="number of data sets")
    option("--seed", type=int, default=0, help="of the first data set")
    option("--workers", type=int, default=1, help="processes")

    option = add(commands.gamp, alpha, task, dimension).add_argument
    option("--init", choices=("semantic", "positional", "random"), required=True)
    option("--damping", type=float, default=0.7, help="share of the old state that is kept, in [0, 1)")
    option("--steps", type=int, default=1000, help="iterations at most")
    option("--seed", type=int, default=0, help="of the data set")

    subparser = add(commands.sweep)
    option = subparser.add_argument
    option("name", choices=tuple(GRIDS))
    option("--profile", choices=PROFILES, default="paper")
    place = subparser.add_mutually_exclusive_group().add_argument
    place("--workers", type=int, help="processes, one a core by default")
    place("--scheduler", help="address of a Dask cluster to run on, such as tcp://host:8786")
    option("--store", type=Path, help="SQLite file that keeps results as they come")
    option("--data", type=Path, help="folder of the exported tables")

    option = add(commands.verify).add_argument
    option("--sample", type=int, default=20, help="cells to recompute")
    option("--seed", type=int, default=0, help="chooses the cells")
    option("--experiment", choices=tuple(GRIDS), help="of one experiment only")

    option = add(commands.published).add_argument
    option("folder", type=Path, help="a checkout of SPOC-group/positional-and-semantic-attention, or its empirics/")
    option("--out", type=Path, help="Parquet file that keeps the comparison")

    option = add(commands.figure).add_argument
    option("name", help="such as fig02, or the name of a notebook")
    option("--profile", choices=PROFILES, default="paper", help="at which size")
    option("--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the notebook")
    option("--out", type=Path, help="folder of what is written (_build/figures/NAME)")

    add(commands.figures).add_argument("--list", action="store_true", help="list them")
    return parser


if __name__ == "__main__":
    sys.exit(main())
