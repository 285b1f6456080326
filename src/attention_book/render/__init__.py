"""What the pages show: figures with their style and their data, and tables with their headings.

The module `style` is loaded when it is first used, so that `from attention_book import style` works.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
