"""dccgcn: classify the nodes of a graph from a handful of labels, and say which predictions can be trusted."""

import os
from pathlib import Path

import lazy_loader

from dccgcn.kernel_cache import prepare_kernel_cache

# libgomp's threads spin while they wait; on a busy machine that makes two threads slower than one.
# It reads this when it is loaded, so it has to be set before torch is imported.
os.environ.setdefault("GOMP_SPINCOUNT", "1000")
prepare_kernel_cache(Path(__file__).parent)

__version__ = "0.2.0"

# NumPy, SciPy and numba take a second to load, so nothing is imported before it is asked for
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
