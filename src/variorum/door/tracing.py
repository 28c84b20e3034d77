"""Spans around what an index does, through OpenTelemetry's API; off unless asked for."""

import importlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from variorum.records.errors import UnsupportedError

VARIABLE = "VARIORUM_TRACES"
"""Set to anything but 0: calls of the door become spans of the process's tracer."""


def tracer(environment: Mapping[str, str] = os.environ) -> Any:
    """The tracer, or None where nobody asked for traces.

    Raises:
        UnsupportedError: they are asked for, and the library is not installed.
    """
    if environment.get(VARIABLE, "0") in ("", "0"):
        return None
    try:
        api = importlib.import_module("opentelemetry.trace")
    except ImportError as error:
        raise UnsupportedError(
            f"{VARIABLE} asks for traces, which need the library opentelemetry-api",
            kind="library-missing",
            subject="opentelemetry-api",
            expected="opentelemetry-api installed",
            found=str(error),
            remedy="pip install 'variorum[traces]', and configure an exporter",
        ) from error
    return api.get_tracer("variorum")


class Span:
    """What a call adds to its span; nothing where there is none."""

    def __init__(self, inner: Any = None) -> None:
        self._inner = inner

    def note(self, **attributes: float | int | str | bool | None) -> None:
        """Add attributes under `variorum.`; None is left out."""
        if self._inner is not None:
            for name, value in attributes.items():
                if value is not None:
                    self._inner.set_attribute(f"variorum.{name}", value)


@contextmanager
def traced(name: str, **attributes: float | int | str | bool | None) -> Iterator[Span]:
    """A span `variorum.NAME` around the block; its error, if any, is recorded on it.

    Attributes are names and counts: no text of a document or a query.
    """
    found = tracer()
    if found is None:
        yield Span()
        return
    with found.start_as_current_span(f"variorum.{name}") as inner:
        span = Span(inner)
        span.note(**attributes)
        yield span
