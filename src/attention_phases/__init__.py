"""Positional and semantic learning in a solvable model of dot-product attention.

`solve`, `follow` and `threshold` solve the model in high dimension; `train` and `message_passing` learn from sampled
sentences. The file `__init__.pyi` lists all names. A module is loaded when one of its names is first used, because some
modules take long to load.
"""

import lazy_loader

from .records import __version__ as __version__

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
