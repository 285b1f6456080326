"""All notebooks executed with a profile's parameters, and put where the book takes them from."""

import hashlib
import json
import os
import re
import shutil
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

import nbformat
from tqdm import tqdm

from .. import paths
from ..pages import scorecard
from ..render.markup import COMPARISON
from ..store.provenance import environment
from .behind import FIGURES, write_figures
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
    """Copy executed notebooks to the book, with what is behind their figures, the page of times and the scorecard."""
    shutil.rmtree(shown, ignore_errors=True)
    shown.mkdir(parents=True)
    times, pages = {}, []
    for path in sorted(kept.glob("*.ipynb")):
        if path.stem.endswith(".failed"):
            continue
        shutil.copy(path, shown)
        notebook = nbformat.read(path, 4)
        write_figures(notebook, paths.NOTEBOOKS / f"{path.stem}.md", shown / FIGURES)
        title = next(line[2:] for line in notebook.cells[0].source.splitlines() if line.startswith("# "))
        times[title] = float((kept / f"{path.stem}.seconds").read_text())
        pages.append(_page(path.stem, title, notebook))
    (shown / "times.md").write_text(times_page(times, profile))
    write_scorecard(pages, profile, shown)


def times_page(times, profile):
    """The page of seconds by notebook, with their sum."""
    rows = [f"| {title} | {seconds:.1f} |" for title, seconds in times.items()]
    machine = f"{environment()['cpu']}, {os.cpu_count()} cores"
    page = [
        "# Execution times",
        f"Profile `{profile}`, in seconds, on the machine that built this book ({machine}). Notebooks",
        "ran two at a time, unless `--jobs` said otherwise: all took about half of their sum.",
        *("", "| notebook | seconds |", "|---|--:|", *rows, f"| **sum** | {sum(times.values()):.1f} |"),
    ]
    return "\n".join(page) + "\n"


def _page(name, title, notebook):
    """What the scorecard takes from an executed notebook: its comparisons, and where they stand."""
    label = re.match(r"\(([\w-]+)\)=", notebook.cells[0].source)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    return {
        "figure": label[1] if label else name,
        "title": title,
        "page": f"_executed/{name}.html",
        "inputs": notebook.metadata["inputs"],
        "tables": [output.metadata[COMPARISON] for output in outputs if COMPARISON in output.get("metadata", {})],
    }


def write_scorecard(pages, profile, shown):
    """Put the scorecard where its page takes it from: as data, the picture of all differences, tables, sentences."""
    frame = scorecard.gathered(pages)
    data = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(paths.DATA.glob("*.parquet")))).hexdigest()
    found = scorecard.document(frame, {"commit": environment()["commit"], "profile": profile, "data": data})
    (shown / "scorecard.json").write_text(json.dumps(found, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    scorecard.draw_differences(frame).savefig(shown / "scorecard.svg", metadata={"Date": None})
    for name, text in scorecard.texts(frame).items():
        (shown / f"scorecard_{name}.txt").write_text(text + "\n")
