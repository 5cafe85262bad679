"""Matrices that follow from a graph: its normalised topology and feature kNN graph, m-hop rows, scaled features."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
