"""Listing against generation: a plan that writes nothing, then its execution and publish."""
