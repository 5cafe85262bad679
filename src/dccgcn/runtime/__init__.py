"""Device, threads, memory, files and outputs, locks, the scratch folder, blocks of rows."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
