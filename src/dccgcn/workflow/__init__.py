"""One run and its Result, many runs, new nodes, active learning, checks before training."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
