"""Experiments: jobs → store → specs → results → pages → reproduction. What to run is data in YAML files."""
