"""What every method shares: its signature, prediction, cost, and the list of all."""
