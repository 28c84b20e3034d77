"""Which characters of a revision belong to a section, and which of them are kept back."""

import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

from variorum.access.policy import Section
from variorum.records.text import Span

Outline = Sequence[tuple[int, int, Sequence[str]]]
"""(start, end, heading path) of each run of blocks that stand under one heading path, in order.

What stands between two runs and is not blank belongs to both.
"""

ALL = Span(0, 1 << 62)


def kept_back(
    sections: Iterable[Section],
    outline: Outline | None,
    readers: frozenset[str] | None,
    at_us: int | None,
) -> list[Span]:
    """What may not be shown of a revision, to these readers (None: the owner) at that instant.

    Where the revision lacks a section that `missing_denies`, all of it is kept back: a renamed
    heading does not open what it named. So it is where nobody knows yet what sections there are.
    """
    spans: list[Span] = []
    for section in sections:
        if _is_open(section, readers, at_us):
            continue
        if outline is None:
            return [ALL]
        found = [Span(start, end) for start, end, path in outline if _stands_under(path, section)]
        if not found and section.missing_denies:
            return [ALL]
        spans += found
    return sorted(spans)


def _is_open(section: Section, readers: frozenset[str] | None, at_us: int | None) -> bool:
    may_read = readers is None or section.readers is None or bool(section.readers & readers)
    return may_read and section.interval.holds(at_us)


def _stands_under(path: Sequence[str], section: Section) -> bool:
    titles = [_folded(title) for title in path[: len(section.heading)]]
    return len(titles) == len(section.heading) and all(
        wanted == "*" or _folded(wanted) == title
        for wanted, title in zip(section.heading, titles, strict=True)
    )


def _folded(title: str) -> str:
    """Titles are compared loosely: a change of case, width or white space opens nothing."""
    return " ".join(unicodedata.normalize("NFKC", title).casefold().split())


def overlaps(spans: Iterable[Span], start: int, end: int) -> bool:
    """Whether a range shares a character with one of the spans."""
    return any(span.start < end and start < span.end for span in spans)


def read_outline(stored: Sequence[Any] | None) -> Outline | None:
    """An outline as read back from JSON; None where the revision was not read for one yet."""
    if stored is None:
        return None
    return [(start, end, tuple(path)) for start, end, path in stored]
