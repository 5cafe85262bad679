"""What a run leaves on disk: the model, its card and the report."""
