"""Sphinx configuration: ``make docs`` builds the site into build/docs, without a network."""

import dccgcn

project = "dccgcn"
author = "The dccgcn authors"
version = release = dccgcn.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["**.ipynb_checkpoints"]
html_theme = "furo"
html_title = f"dccgcn {release}"
html_extra_path = ["tutorial.ipynb"]  # linked from the tutorial, of which it is a copy
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False

myst_heading_anchors = 4
napoleon_google_docstring = False
napoleon_use_rtype = False
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
suppress_warnings = ["misc.highlighting_failure"]  # there is no highlighter for CSV


def setup(app):
    """Leave out what scikit-learn adds to every estimator; its texts refer to scikit-learn's own pages."""
    app.connect("autodoc-skip-member", lambda *about: True if "request" in about[2] or "routing" in about[2] else None)
