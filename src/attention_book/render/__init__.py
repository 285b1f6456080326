"""What the pages show: figures with their style and their data, and tables with their headings."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, ["style"])
