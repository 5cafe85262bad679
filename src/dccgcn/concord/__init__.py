"""Concord, the project's own method and default."""
