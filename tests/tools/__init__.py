"""Long-running checks: make fuzz, make kill."""
