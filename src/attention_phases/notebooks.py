"""Execute the text notebooks with a profile's parameters, for the book to show.

    python -m attention_phases.notebooks --profile paper

An executed notebook is kept for each profile, and made anew when its text, its parameters, the library, the
stored results or the pinned versions have changed.
"""

import argparse
import hashlib
import json
import re
import shutil
import sys
import time
import tomllib
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

import jupytext
import nbformat
import papermill
from papermill.exceptions import PapermillExecutionError
from tqdm import tqdm

from . import figures
from .errors import BadInput, check_choice, check_count
from .experiments.rank_one_grids import PROFILES
from .paths import DATA, ROOT
from .sweep.provenance import environment
from .tables import scorecard
from .tables.markup import COMPARISON
from .tables.verdicts import LIMIT

TEXTS = ROOT / "notebooks"
KEPT = ROOT / "_build" / "executed"  # a folder for each profile
SHOWN = ROOT / "book" / "_executed"  # what the book's table of contents names


class NotebookError(RuntimeError):
    """A notebook failed; the message is one line."""


def main(arguments=None):
    """Execute all notebooks, or those named, and put them where the book takes them from."""
    parser = argparse.ArgumentParser(prog="python -m attention_phases.notebooks", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="notebooks, without .md; all by default")
    parser.add_argument("--profile", choices=PROFILES, default="paper")
    parser.add_argument("--force", action="store_true", help="execute also what has not changed")
    parser.add_argument("--jobs", type=int, default=2, help="notebooks at a time (2)")
    options = parser.parse_args(arguments)
    try:
        texts = sorted(path.stem for path in TEXTS.glob("*.md"))
        for name in options.names:
            check_choice("notebook", name, texts)
        check_count("jobs", options.jobs)
        names, kept = options.names or texts, KEPT / options.profile
        values = {name: parameters(TEXTS / "profiles.toml", options.profile, name) for name in names}
        _execute_all(values, kept, options.force, options.jobs)
        show(kept, options.profile)
    except BadInput as error:
        print(error, file=sys.stderr)
        return 2
    except NotebookError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _execute_all(values, kept, force, jobs):
    """Several notebooks at a time; the first failure ends those that wait."""
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        waiting = {pool.submit(execute, TEXTS / f"{name}.md", kept, values[name], force): name for name in values}
        try:
            with tqdm(as_completed(waiting), total=len(waiting), unit="notebook", file=sys.stderr) as bar:
                for done in bar:
                    done.result()
                    bar.set_postfix_str(waiting[done])
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def parameters(profiles, profile, name):
    """The parameters that `profile` sets in the notebook `name`, from the file `profiles`."""
    with open(profiles, "rb") as file:
        tables = tomllib.load(file).get(check_choice("profile", profile, PROFILES), {})
    texts = sorted(path.stem for path in profiles.parent.glob("*.md"))
    for table in tables:  # a table that no notebook reads is a slip of the pen
        check_choice(f"notebook of profile {profile}", table, texts)
    return tables.get(name, {})


def execute(text, folder, values, force=False):
    """Execute a text notebook.

    Parameters
    ----------
    text : Path
        MyST Markdown.
    folder : Path
        Where the executed notebook, "NAME.ipynb", and its seconds, "NAME.seconds", are kept. A notebook that
        fails is kept as "NAME.failed.ipynb".
    values : dict
        Parameters to set.
    force : bool
        Execute even if nothing has changed.

    Returns
    -------
    bool
        Whether it was executed.

    Raises
    ------
    BadInput
        `values` has a name that the notebook's parameters cell has not.
    NotebookError
        A cell failed.
    """
    done, failed = folder / f"{text.stem}.ipynb", folder / f"{text.stem}.failed.ipynb"
    inputs = fingerprint(text, values)
    if not force and done.exists() and nbformat.read(done, 4).metadata.get("inputs") == inputs:
        return False
    folder.mkdir(parents=True, exist_ok=True)
    nbformat.write(_with_ids(jupytext.read(text)), failed)
    declared = papermill.inspect_notebook(str(failed))
    for name in values.keys() - declared.keys():
        failed.unlink()
        raise BadInput(name, values[name], f"a parameter of the notebook {text.stem}: {', '.join(declared)}")
    began = time.perf_counter()
    try:
        executed = papermill.execute_notebook(
            str(failed), str(failed), values, kernel_name="python3", cwd=str(text.parent), progress_bar=False
        )
    except PapermillExecutionError as error:
        raise NotebookError(
            f"{text.name}, cell {error.exec_count}: {error.ename}: {' '.join(error.evalue.split())} "
            f"(executed so far: {failed})"
        ) from error
    (folder / f"{text.stem}.seconds").write_text(f"{time.perf_counter() - began:.1f}")
    nbformat.write(_without_run(executed, inputs), failed)
    failed.replace(done)
    return True


def fingerprint(text, values):
    """Hash of everything an executed notebook depends on."""
    digest = hashlib.sha256(json.dumps(values, sort_keys=True).encode())
    library = sorted((ROOT / "src").rglob("*.py"))
    for path in [text, *library, *sorted(DATA.glob("*.parquet")), ROOT / "constraints.txt"]:
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def _with_ids(notebook):
    """Cell names that depend on nothing but the order of the cells, and the kernel that papermill asks for."""
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook.nbformat_minor = 5
    return notebook


def _without_run(notebook, inputs):
    """Without times and paths, so that the same inputs give the same file."""
    notebook.metadata.pop("papermill", None)
    notebook.metadata["inputs"] = inputs
    for number, cell in enumerate(notebook.cells):
        cell.metadata.pop("papermill", None)
        cell.metadata.pop("execution", None)
        cell.id = f"cell-{number}"
        if "injected-parameters" in cell.metadata.get("tags", ()):
            cell.metadata.tags.append("remove-cell")
    return notebook


def show(kept, profile):
    """Copy executed notebooks to the book, with the page of their times and the scorecard."""
    shutil.rmtree(SHOWN, ignore_errors=True)
    SHOWN.mkdir(parents=True)
    times, pages = [], []
    for path in sorted(kept.glob("*.ipynb")):
        if path.stem.endswith(".failed"):
            continue
        shutil.copy(path, SHOWN)
        notebook = nbformat.read(path, 4)
        title = next(line[2:] for line in notebook.cells[0].source.splitlines() if line.startswith("# "))
        times.append(f"| {title} | {(kept / f'{path.stem}.seconds').read_text()} |")
        pages.append(_page(path.stem, title, notebook))
    page = ["# Execution times", f"Profile `{profile}`, in seconds on the machine that built this book.", "",
            "| notebook | seconds |", "|---|---|", *times]  # fmt: skip
    (SHOWN / "times.md").write_text("\n".join(page) + "\n")
    write_scorecard(pages, profile)


def _page(name, title, notebook):
    """What the scorecard takes from an executed notebook: its comparisons, and where they stand."""
    label = re.match(r"\(([\w-]+)\)=", notebook.cells[0].source)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    return {
        "figure": label[1] if label else name,
        "title": title,
        "page": f"_executed/{name}.html",
        "inputs": notebook.metadata["inputs"],
        "tables": [output.data[COMPARISON] for output in outputs if COMPARISON in output.get("data", {})],
    }


def write_scorecard(pages, profile):
    """Put the scorecard where its page takes it from: as data, the picture of all differences, tables, sentences."""
    frame = scorecard.gathered(pages)
    data = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(DATA.glob("*.parquet")))).hexdigest()
    found = scorecard.document(frame, {"commit": environment()["commit"], "profile": profile, "data": data})
    (SHOWN / "scorecard.json").write_text(json.dumps(found, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    figures.forest(scorecard.strips(frame), LIMIT).savefig(SHOWN / "scorecard.svg", metadata={"Date": None})
    for name, text in {
        "summary": scorecard.sentence(frame),
        "counts": scorecard.summary(frame),
        "reasons": scorecard.reasons(),
        "tables": scorecard.sections(frame),
    }.items():
        (SHOWN / f"scorecard_{name}.txt").write_text(text + "\n")


if __name__ == "__main__":
    sys.exit(main())
