"""What of a range must be tokenized on its own, where a tokenizer splits at blanks."""

import re
import unicodedata
from typing import NamedTuple

from variorum.records.text import Span

_BLANKS = " \t\n"
_BLANK = re.compile(f"[{_BLANKS}]")


class OwnText(NamedTuple):
    """A range in two: whole words, which count what they do in the text, and the rest."""

    whole_words: Span | None
    ragged: tuple[str, ...]


def begins_with_mark(text: str, position: int = 0) -> bool:
    """Whether a combining mark stands at `position`: it may join with a blank before it."""
    return position < len(text) and unicodedata.category(text[position])[0] == "M"


def own_text(text: str, span: Span, *, split: bool) -> OwnText:
    """The trimmed characters of `span`; without `split` all of them are ragged.

    The whole words run from a blank, or the first character after one, to another. Each ragged
    part lies between a blank and an end of the range that stands in a word.
    """
    inside = text[span.start : span.end]
    start = span.start + len(inside) - len(inside.lstrip())
    end = span.start + len(inside.rstrip())
    if start >= end:
        return OwnText(None, ())
    first, last = _first_word(text, start, end), _last_word(text, start, end)
    if not split or first >= last or begins_with_mark(text, last):
        return OwnText(None, (text[start:end],))
    ragged = (text[start:first], text[last:end])
    return OwnText(Span(first, last), tuple(part for part in ragged if part))


def _first_word(text: str, start: int, end: int) -> int:
    """Where the words begin that no end of the range cuts; `end` where there are none."""
    after_blank = start == 0 or text[start - 1] in _BLANKS
    if after_blank and not begins_with_mark(text, start):
        return start
    blank = _BLANK.search(text, start, end)
    return blank.start() if blank else end


def _last_word(text: str, start: int, end: int) -> int:
    """Where these words end; `start` where there are none."""
    if end == len(text) or text[end] in _BLANKS:
        return end
    return max(start, *(text.rfind(blank, start, end) + 1 for blank in _BLANKS))
