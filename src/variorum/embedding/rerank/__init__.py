"""Models that read a query and a passage together, in a folder or behind an address."""
