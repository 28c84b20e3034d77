"""Chunks of another library laid back onto the text that they were cut from."""

import re
from collections.abc import Iterator, Sequence

from variorum.records.text import Span


class NotProjectedError(Exception):
    """A chunk that does not stand in its source, white space apart."""


def project(text: str, chunks: Sequence[str]) -> list[Span]:
    """The range of each chunk in `text`, in order, blank ends left out and blank chunks too.

    Chunks that overlap are not found: splitters are asked for none.

    Raises:
        NotProjectedError: a chunk is not there, after the one before it.
    """
    return list(_projected(text, chunks))


def _projected(text: str, chunks: Sequence[str]) -> Iterator[Span]:
    place = 0
    for number, chunk in enumerate(chunks, 1):
        content = chunk.strip()
        if not content:
            continue
        found = _found(text, content, place)
        if found is None:
            raise NotProjectedError(f"chunk {number} of {len(chunks)} is not in the text")
        yield found
        place = found.end


def _found(text: str, content: str, place: int) -> Span | None:
    start = text.find(content, place)
    if start >= 0:
        return Span(start, start + len(content))
    pattern = re.compile(r"\s+".join(map(re.escape, content.split())))
    match = pattern.search(text, place)
    return None if match is None else Span(*match.span())
