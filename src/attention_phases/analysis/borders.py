"""Between which alphas each branch is a minimum; kept, for it takes a minute or two to compute."""

import json
from hashlib import sha256

import numpy as np
import pandas as pd
from filelock import FileLock

from ..paths import BUILT
from ..sweep.provenance import code_digest
from ..theory import border

POINTS = 2**11  # quadrature points a scramble, as the pages of Figures 3 and 9 take
BRANCHES = ("semantic", "positional")


def borders(lines, points=POINTS):
    """`theory.border` of both branches, read from `_build/` where code and lines have not changed since.

    Parameters
    ----------
    lines : pandas.DataFrame
        Rows of `theory.theory_line` with the fields of their lines.
    points : int
        Quadrature points a scramble.

    Returns
    -------
    dict of pandas.DataFrame
        By branch: omega as index, alpha and alpha_error; where the minimum begins (semantic) or ends (positional).
    """
    digest = sha256(code_digest("attention_phases.theory.lines").encode())
    digest.update(lines[["omega", "matrix", "what", "alpha", "q", "theta", "m", "V"]].to_json().encode())
    folder = BUILT / "borders"
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / f"{digest.hexdigest()[:12]}-{points}.json"
    with FileLock(kept.with_suffix(".lock")):  # of several that need it, one computes and the others wait
        if not kept.exists():
            found = {branch: border(lines, branch, points=points).reset_index().to_dict("list") for branch in BRANCHES}
            partial = kept.with_suffix(".partial")
            partial.write_text(json.dumps(found))
            partial.replace(kept)
    return {branch: pd.DataFrame(each).set_index("index") for branch, each in json.loads(kept.read_text()).items()}


def is_minimum(limits, branch, omega, alpha):
    """Whether a branch, where it is there, is a minimum at some alphas of an omega; `limits` are its `borders`."""
    border = limits[branch]["alpha"].get(omega)
    if border is None:
        return np.isfinite(alpha)
    return alpha >= border if branch == "semantic" else alpha <= border
