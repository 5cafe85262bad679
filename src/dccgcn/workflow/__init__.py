"""What is done with a fitted model."""
