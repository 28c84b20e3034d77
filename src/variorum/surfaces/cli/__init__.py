"""The `variorum` command."""

from variorum.surfaces.cli.app import main

__all__ = ["main"]
