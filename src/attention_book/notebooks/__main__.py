"""Execute the text notebooks with a profile's parameters, for the book to show.

    python -m attention_book.notebooks --profile paper

An executed notebook is kept for each profile, and made anew when its text, its parameters, the library, the
stored results or the pinned versions have changed.
"""

import argparse
import sys

from attention_phases.errors import BadInput, NotebookError, check_choice, check_count

from ..experiments import PROFILES
from ..paths import NOTEBOOKS
from . import book, reference
from .parameters import of_profile


def main(arguments=None):
    """Execute all notebooks, or those named, and put them where the book takes them from."""
    parser = argparse.ArgumentParser(prog="python -m attention_book.notebooks", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="notebooks, without .md; all by default")
    parser.add_argument("--profile", choices=PROFILES, default="paper")
    parser.add_argument("--force", action="store_true", help="execute also what has not changed")
    parser.add_argument("--jobs", type=int, default=2, help="notebooks at a time (2)")
    parser.add_argument("--keep", action="store_true", help="leave the book's pages as they are")
    parser.add_argument("--reference", action="store_true", help="smoke: keep what they say for `make test`, in git")
    options = parser.parse_args(arguments)
    try:
        texts = sorted(NOTEBOOKS.glob("*.md"))
        for name in options.names:
            check_choice("notebook", name, [text.stem for text in texts])
        texts = [text for text in texts if not options.names or text.stem in options.names]
        check_count("jobs", options.jobs)
        if options.reference:
            check_choice("profile", options.profile, ("smoke",))
        kept = book.KEPT / options.profile
        values = {text: of_profile(text, options.profile) for text in texts}
        book.execute_all(values, kept, options.force, options.jobs)
        if options.reference:
            reference.write(kept / f"{text.stem}.ipynb" for text in texts)
        if not options.keep:
            book.show(kept, options.profile, book.SHOWN)
    except BadInput as error:
        print(error, file=sys.stderr)
        return 2
    except NotebookError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
