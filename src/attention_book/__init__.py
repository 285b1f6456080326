"""The package that computes, stores and shows the results of the book.

Notebooks import this package as `book` and use the names listed in `__init__.pyi`. A module is imported when one of its
names is first used, because importing all modules takes a second.

`experiments` defines the cells of every experiment and computes them. `store` keeps the results. `analysis` derives
from the results the numbers that several pages need. `render` turns numbers into tables and figures. `command_line` is
the program.
"""

import lazy_loader

from .paths import missing_package

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name):
    try:
        return _load(name)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(missing_package(f"{__name__}.{name}", error), name=error.name) from None
