"""Studies of what the index costs, each a ratio or a count measured in one run."""
