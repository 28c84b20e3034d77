"""What stdout and stderr do with characters that they cannot carry, and with writes that fail."""

import codecs
import io
import os
import sys
from typing import TextIO

_PLAIN = {
    "–": "-",
    "›": ">",
    "…": "...",
    "“": '"',
    "”": '"',
    "‘": "'",
    "’": "'",
}
_NAME = "variorum-plain"


def _plain(error: UnicodeError) -> tuple[str, int]:
    """Our own typography in ASCII; every other character as its escape, `\\u4e2d`."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    refused = error.object[error.start : error.end]
    return "".join(_PLAIN.get(one) or _escape(one) for one in refused), error.end


def _escape(character: str) -> str:
    return character.encode("ascii", "backslashreplace").decode()


codecs.register_error(_NAME, _plain)


def degrade_gracefully() -> None:
    """Let both streams write what their encoding lacks in another way, and never fail for it.

    A stream that was closed before the start takes everything and keeps nothing.
    """
    sys.stdout = sys.stdout or _nowhere()
    sys.stderr = sys.stderr or _nowhere()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_NAME)


def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")


def discard(stream: TextIO) -> None:
    """Drop what the stream still holds: whoever read it is gone, or its disk is full."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    except (OSError, ValueError):  # not a file of the system, or closed
        return
