"""dccgcn: classify the nodes of a graph from a handful of labels, and say which answers to trust."""

import os

# libgomp's threads spin while they wait; on a busy machine that makes two threads slower than one.
# It reads this when it is loaded, so it has to be set before torch is imported.
os.environ.setdefault("GOMP_SPINCOUNT", "1000")

__version__ = "0.1.0"
