"""A run on disk: the run folder, the model files and their checks."""
