"""A company handbook in two editions, with questions whose answers differ between them."""

import json
from pathlib import Path
from typing import Any, Literal

__all__ = ["edition", "facts"]

_HERE = Path(__file__).resolve().parent


def edition(name: Literal["first", "second"]) -> Path:
    """Return the folder that holds one edition of the handbook."""
    return _HERE / name


def facts() -> dict[str, Any]:
    """Return the questions about the handbook and the changes between its editions.

    Paths under ``questions`` and ``changes`` are relative to the folder of an edition.
    """
    loaded: dict[str, Any] = json.loads((_HERE / "facts.json").read_text(encoding="utf-8"))
    return loaded
