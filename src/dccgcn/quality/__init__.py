"""Metrics, calibration, which predictions are trusted, the table of classes, label errors, bounds of audits."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
