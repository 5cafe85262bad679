"""The report of a run: its data (schema.py, docs/report-data.md) and one HTML file that shows them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
