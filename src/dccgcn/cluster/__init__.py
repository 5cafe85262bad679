"""Fits on a Ray cluster."""
