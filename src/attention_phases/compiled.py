"""Functions compiled by numba, on any machine."""

import numba


def njit(**options):
    """`numba.njit`; where compiled code cannot be kept, neither beside the source nor in HOME, without `cache`."""

    def compiled(function):
        try:
            return numba.njit(**options)(function)
        except RuntimeError as error:
            if "no locator available" not in str(error):
                raise
            return numba.njit(**{**options, "cache": False})(function)

    return compiled
