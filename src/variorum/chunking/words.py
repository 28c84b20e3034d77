"""What of a range must be tokenized on its own, where a tokenizer splits at blanks or at seams."""

import re
import unicodedata
from collections.abc import Callable
from typing import NamedTuple

from variorum.records.text import Span

_BLANKS = " \t\n"
_BLANK = re.compile(f"[{_BLANKS}]")
_REACH = 64
"""Characters from an end of a range in which a seam is looked for."""

_HALF_WORD = 900
"""A seam counts only in a word that ends within so many characters on both sides of it."""

At = Callable[[str, int], bool]
"""Whether something holds at a place inside a text."""


def nowhere(text: str, place: int) -> bool:
    """False."""
    return False


class Splits(NamedTuple):
    """Where the tokens of a text are those of its parts: at blanks, at seams, at ends of ranges."""

    at_blanks: bool = False
    is_seam: At = nowhere
    is_end: At = nowhere


class OwnText(NamedTuple):
    """A range in parts: what counts as it does in the text, and what is tokenized again.

    It counts the tokens that start in `inside`, those of `ragged`, less those of `repeated`: a
    character that stands in `inside` and before the last ragged part.
    """

    inside: Span | None
    ragged: tuple[str, ...]
    repeated: str = ""


def begins_with_mark(text: str, position: int = 0) -> bool:
    """Whether a combining mark stands at `position`: it may join with a blank before it."""
    return position < len(text) and unicodedata.category(text[position])[0] == "M"


def own_text(text: str, span: Span, splits: Splits) -> OwnText:
    """The trimmed characters of `span`; where nothing splits at blanks all of them are ragged.

    What is inside runs from a blank, a seam, or the first character after a blank, to another one
    or to an end.
    """
    trimmed = text[span.start : span.end]
    start = span.start + len(trimmed) - len(trimmed.lstrip())
    end = span.start + len(trimmed.rstrip())
    if start >= end:
        return OwnText(None, ())
    if not splits.at_blanks:
        return OwnText(None, (text[start:end],))
    left, right = _left(text, start, end, splits), _right(text, start, end, splits)
    if left > right or left == end or right == start or begins_with_mark(text, right):
        return OwnText(None, (text[start:end],))
    head = text[start:left]
    at_seam = right < end and text[right - 1] not in _BLANKS
    repeated = text[right - 1] if at_seam else ""
    ragged = (head, repeated + text[right:end])
    return OwnText(Span(left, right), tuple(part for part in ragged if part), repeated)


def _left(text: str, start: int, end: int, splits: Splits) -> int:
    """Where what is inside begins; `end` where nothing is."""
    after_blank = start == 0 or text[start - 1] in _BLANKS
    if after_blank and not begins_with_mark(text, start):
        return start
    blank = _BLANK.search(text, start, end)
    last = blank.start() if blank else end
    for place in range(start + 1, min(last, start + _REACH)):
        if splits.is_seam(text, place):
            return place if _is_short(text, place) else last
    return last


def _right(text: str, start: int, end: int, splits: Splits) -> int:
    """Where it ends; `start` where nothing is."""
    if end == len(text) or text[end] in _BLANKS:
        return end
    if splits.is_end(text, end) and _is_short(text, end):
        return end
    first = max(start, *(text.rfind(blank, start, end) + 1 for blank in _BLANKS))
    for place in range(end - 1, max(first, end - _REACH), -1):
        if splits.is_seam(text, place):
            return place if _is_short(text, place) else first
    return first


def _is_short(text: str, place: int) -> bool:
    """Whether the word around `place` ends within `_HALF_WORD` characters on both sides."""
    behind, ahead = place - _HALF_WORD, place + _HALF_WORD
    begins = behind <= 0 or _BLANK.search(text, behind, place) is not None
    return begins and (ahead >= len(text) or _BLANK.search(text, place, ahead) is not None)
