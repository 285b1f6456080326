"""Progress of work that takes a while: on stderr, with the time left, and only where somebody watches."""

import sys

from tqdm import tqdm


def progress(total, unit, quiet=False, done=0):
    """A progress bar; nothing is shown if `quiet`, or where stderr is no terminal.

    Parameters
    ----------
    total : int
        Units of work.
    unit : str
        What they are called.
    quiet : bool
    done : int
        Units that were done before.

    Returns
    -------
    tqdm.tqdm
        For a `with` block; ``update(n)`` counts n more.
    """
    hidden = True if quiet else None  # None: tqdm looks whether there is a terminal
    return tqdm(total=total, unit=unit, smoothing=0, file=sys.stderr, disable=hidden, initial=done)
