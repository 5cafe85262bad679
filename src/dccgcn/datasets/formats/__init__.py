"""Readers of the files that benchmark graphs are published in."""
