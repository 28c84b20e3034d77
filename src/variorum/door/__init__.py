"""The one door to the index, and its configuration."""
