"""Progress of work that takes a while: on stderr, with the time left, and only where somebody watches."""

import sys

from tqdm import tqdm


def progress(total, unit, quiet=False, done=0):
    """A `tqdm` for a `with` block, whose ``update(n)`` counts n more; nothing is shown if `quiet`, or on no terminal.

    Args:
        total: units of work.
        unit: what they are called.
        done: units that were done before.
    """
    hidden = True if quiet else None  # None: tqdm looks whether there is a terminal
    return tqdm(total=total, unit=unit, smoothing=0, file=sys.stderr, disable=hidden, initial=done)
