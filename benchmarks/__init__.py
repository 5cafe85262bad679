"""Measurements of speed, memory and accuracy behind ``dccgcn bench``."""
