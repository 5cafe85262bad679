"""The reproduction of the DCC-GCN paper, and the project's own studies: ``python -m paper table2``.

What to run is data in ``specs``, what a page looks like is in ``templates``.
"""
