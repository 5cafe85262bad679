"""What every method shares: its signature, prediction, cost, and the list of all."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
