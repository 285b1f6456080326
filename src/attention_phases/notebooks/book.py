"""All notebooks executed with a profile's parameters, and put where the book takes them from."""

import shutil
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

import nbformat
from tqdm import tqdm

from .. import paths
from .execution import execute

KEPT = paths.ROOT / "_build" / "executed"  # a folder for each profile
SHOWN = paths.ROOT / "book" / "_executed"  # what the book's table of contents names


def execute_all(values, kept, force, jobs):
    """Execute several notebooks at a time; the first failure ends those that wait.

    Parameters
    ----------
    values : dict
        By text (a Path), the parameters that a profile sets.
    kept, force
        As for `execution.execute`.
    jobs : int
        Notebooks at a time.
    """
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        waiting = {pool.submit(execute, text, kept, each, force=force): text.stem for text, each in values.items()}
        try:
            with tqdm(as_completed(waiting), total=len(waiting), unit="notebook", file=sys.stderr, disable=None) as bar:
                for done in bar:
                    done.result()
                    bar.set_postfix_str(waiting[done])
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def show(kept, profile, shown):
    """Copy executed notebooks to the book, with the page of their times and the tables of the scorecard."""
    shutil.rmtree(shown, ignore_errors=True)
    shown.mkdir(parents=True)
    times, tables = [], []
    for path in sorted(kept.glob("*.ipynb")):
        if path.stem.endswith(".failed"):
            continue
        shutil.copy(path, shown)
        notebook = nbformat.read(path, 4)
        title = next(line[2:] for line in notebook.cells[0].source.splitlines() if line.startswith("# "))
        times.append(f"| {title} | {(kept / f'{path.stem}.seconds').read_text()} |")
        if outputs := _scorecard_outputs(notebook):
            tables += [f"### [{title}](_executed/{path.name})", *outputs]
    page = ["# Execution times", f"Profile `{profile}`, in seconds on the machine that built this book.", "",
            "| notebook | seconds |", "|---|---|", *times]  # fmt: skip
    (shown / "times.md").write_text("\n".join(page) + "\n")
    (shown / "scorecard.txt").write_text("\n\n".join(tables) + "\n")


def _scorecard_outputs(notebook):
    """HTML of the comparison tables: the outputs of the cells with the tag "scorecard"."""
    tagged = [cell for cell in notebook.cells if "scorecard" in cell.metadata.get("tags", ())]
    return [output.data["text/html"] for cell in tagged for output in cell.outputs]
