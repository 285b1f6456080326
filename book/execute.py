"""The execution of all text notebooks with the parameters of a profile, for the book to show.

    python book/execute.py --profile paper

Executed notebooks are kept for each profile. A notebook is executed anew if its text, its parameters, the code, the
stored results or the pinned versions have changed.
"""

import argparse
import shutil
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed

import execution
import nbformat
from execution import execute
from filelock import FileLock
from parameters import profile_values
from tqdm import tqdm

from attention_book import paths
from attention_book.command_line.printing import docstring_of, print_anything
from attention_book.experiments import PROFILES
from attention_book.render.style import FIGURE_INFO, SVG
from attention_book.store.provenance import environment
from attention_phases.errors import BadInput, NotebookError, check_choice, check_count
from attention_phases.machine import SpawnWithoutScript, cores, end_with_parent

BOOK_FOLDER = paths.ROOT / "book" / "_executed"  # the folder that the book's table of contents names


def main(arguments=None):
    """Execute all notebooks, or the named ones, and copy them to the folder of the book."""
    print_anything()
    parser = argparse.ArgumentParser(prog="python book/execute.py", description=docstring_of(sys.modules[__name__])[0])
    parser.add_argument("names", nargs="*", help="notebooks, without .md; all by default")
    parser.add_argument("--profile", choices=PROFILES, default="paper")
    parser.add_argument("--force", action="store_true", help="execute also what has not changed")
    parser.add_argument("--jobs", type=int, default=2, help="notebooks at a time (2)")
    parser.add_argument("--keep", action="store_true", help="leave the book's pages as they are")
    what = "a command that reads the pages, the last option; of two in a checkout one waits until it has ended"
    parser.add_argument("--then", nargs=argparse.REMAINDER, metavar="COMMAND", help=what)
    options = parser.parse_args(arguments)
    try:
        texts = sorted(paths.NOTEBOOKS.glob("*.md"))
        for name in options.names:
            check_choice("notebook", name, [text.stem for text in texts])
        texts = [text for text in texts if not options.names or text.stem in options.names]
        check_count("jobs", options.jobs)
        kept = execution.KEPT_FOLDER / options.profile
        executed = [kept / f"{text.stem}.ipynb" for text in texts]
        values = {text: profile_values(text, options.profile) for text in texts}
        execution.KEPT_FOLDER.mkdir(parents=True, exist_ok=True)
        with FileLock(execution.KEPT_FOLDER / "lock"):  # if two run at once in a checkout, one waits
            execute_all(values, kept, options.force, options.jobs)
            print("executed:", *(executed if options.names else [kept]))
            if not options.keep:
                show(kept, options.profile, BOOK_FOLDER)
            return subprocess.run(options.then).returncode if options.then else 0
    except BadInput as error:
        print(error, file=sys.stderr)
        return 2
    except (NotebookError, OSError) as error:  # includes a full disk and a folder without permission to write
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped; what is executed is kept", file=sys.stderr)
        return 1


def execute_all(values, kept, force, jobs):
    """Execute `jobs` notebooks at a time; if one fails, the waiting ones are not started.

    values: the parameters that a profile sets, by text (a Path).
    """
    with ProcessPoolExecutor(jobs, mp_context=SpawnWithoutScript(), initializer=end_with_parent) as pool:
        waiting = {
            pool.submit(execute, text, kept, parameters, force=force): text.stem for text, parameters in values.items()
        }
        try:
            with tqdm(as_completed(waiting), total=len(waiting), unit="notebook", file=sys.stderr, disable=None) as bar:
                for done in bar:
                    done.result()
                    bar.set_postfix_str(waiting[done])
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def show(kept, profile, shown):
    """Copy executed notebooks to the book, together with the page of times."""
    shutil.rmtree(shown, ignore_errors=True)
    shown.mkdir(parents=True)
    rows = []
    for text in sorted(paths.NOTEBOOKS.glob("*.md")):  # `kept` may also have pages that the book no longer has
        path = kept / f"{text.stem}.ipynb"
        if not path.exists():
            continue
        shutil.copy(path, shown)
        notebook = nbformat.read(path, 4)
        seconds = float((kept / f"{path.stem}.seconds").read_text(encoding="utf-8"))
        rows.append((paths.title(notebook.cells[0].source), experiments_of(notebook), seconds))
    (shown / "times.md").write_text(times_page(rows, profile), encoding="utf-8")


def experiments_of(notebook):
    """Return the names of the experiments that an executed notebook has read, from the metadata of its figures."""
    outputs = (output for cell in notebook.cells for output in cell.get("outputs", ()))
    read = (output.get("metadata", {}).get(SVG, {}).get(FIGURE_INFO, ()) for output in outputs)
    return sorted({name for some in read for name, _ in some})


def times_page(rows, profile):
    """Return the page that lists for each notebook its data, their size, and its seconds, with the sum.

    rows: title, names of experiments, and seconds of each notebook.
    """
    lines = []
    for title, names, seconds in rows:
        files = [path for name in names if (path := paths.DATA / f"{name}.parquet").exists()]
        size = sum(path.stat().st_size for path in files) / 1e6
        lines.append(f"| {title} | {', '.join(f'`{name}`' for name in names)} | {size:.2f} | {seconds:.1f} |")
    machine = f"{environment()['cpu']}, {cores()} cores"
    page = [
        "# Data and time behind each page",
        "The experiments that the figures of a page are drawn from, the size of their stored tables in `data/`, in MB,",
        "and the time that the page takes. `attention-phases sweep NAME` computes an experiment.",
        "",
        f"Profile `{profile}`, in seconds, on the machine that built this book ({machine}). Notebooks",
        "ran two at a time, unless `--jobs` said otherwise, so all of them took about half of the sum. These times",
        "grow if the machine does other work. On two idle cores (AMD EPYC) all pages of the profile `paper` take about",
        "four minutes.",
        "",
        "| page | experiments | MB | seconds |",
        "|---|---|--:|--:|",
        *lines,
        f"| **sum** | | | {sum(seconds for *_, seconds in rows):.1f} |",
    ]
    return "\n".join(page) + "\n"


if __name__ == "__main__":
    sys.exit(main())
