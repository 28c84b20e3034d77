"""Publishes to cost, waste, coverage and alerts. Reads what was published; changes no index."""
