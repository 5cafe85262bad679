"""Tables → NodeGraph and back: columns, encoders, edges, other libraries' graphs."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
