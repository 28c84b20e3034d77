"""Where the sentences of a text are, in English, Chinese and other languages that mark their ends.

A sentence ends at a terminator with its closing quotes and brackets: a full-width one alone, a
Latin one before white space, unless it belongs to an abbreviation, an initial or a number, or a
small letter follows. It ends at the end of a block, at a blank line, and at a line end before a
list item or after a title; other line ends are inside it. Headings, code and the like are one
piece each.
"""

import re
from collections.abc import Iterator

from variorum.records.text import BlockKind, Span, Structure

_WHOLE = frozenset(
    {
        BlockKind.HEADING,
        BlockKind.CODE,
        BlockKind.TABLE,
        BlockKind.ROW,
        BlockKind.HTML,
        BlockKind.FRONT_MATTER,
    }
)
_CLOSERS = r"[\"'”’»」』】》）)\]*_]"
_LINE_END = r"(?:\r\n|\r(?!\n)|\n)"
_BREAK = re.compile(
    rf"(?P<full>[。！？｡．][。！？｡．…]*{_CLOSERS}*\s*)"
    rf"|(?P<latin>(?<![.!?؟۔।॥…])[.!?؟۔।॥…]++{_CLOSERS}*+)(?=\s)"
    rf"|(?P<blank>{_LINE_END}(?:[^\S\r\n]*{_LINE_END})+)"
    rf"|(?P<item>{_LINE_END})(?=[^\S\r\n]*(?:[-*+•]|\d{{1,3}}[.)]|\#{{1,6}}|>)[^\S\r\n])"
    rf"|(?P<title>^[^\S\r\n]*\#{{1,6}}[^\S\r\n][^\r\n]*{_LINE_END})",
    re.MULTILINE,
)
_LAST_WORD = re.compile(r"[^\s(\[\"'“‘]*$")
_NEXT = re.compile(r"\s+[\"'“‘(\[*_]*(\S)")
_SPACED_LETTERS = re.compile(r"(?:[^\W\d_]\.)+")
_NUMBER = re.compile(r"\d{1,3}\.")
_LOOK_BEHIND = 40

_ALWAYS = re.compile(
    r"mr|mrs|ms|dr|prof|rev|hon|st|gen|col|capt|lt|sgt|sen|rep|gov|pres|messrs|mme|mlle|vs|cf|viz"
    r"|figs?|eqs?|secs?|ch|chap|vols?|nos?|pp|art|eds?|ca|approx|al|e\.g|i\.e|a\.k\.a",
    re.IGNORECASE,
)
"""Abbreviations that something always follows."""

_OFTEN = re.compile(
    r"etc|inc|ltd|co|corp|dept|univ|est|jr|sr|ave|blvd|rd|mt|jan|feb|mar|apr|jun|jul|aug|sept?"
    r"|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun",
    re.IGNORECASE,
)
"""Abbreviations that may also end a sentence: they do where a capital letter follows."""


def sentences(text: str, structure: Structure | None = None) -> list[Span]:
    """The sentences of `text` in order, without the white space around them. Linear in the text."""
    found: list[Span] = []
    place = 0
    for block in structure.blocks if structure else ():
        found.extend(_inside(text, Span(place, max(place, block.start))))
        span = Span(max(place, block.start), max(place, block.end))
        found.extend([span] if block.kind in _WHOLE else _inside(text, span))
        place = span.end
    found.extend(_inside(text, Span(place, len(text))))
    return [span for span in (_trimmed(text, one) for one in found) if span.start < span.end]


def _inside(text: str, span: Span) -> Iterator[Span]:
    """The sentences of a range of running text, with the white space after them."""
    start = span.start
    for match in _BREAK.finditer(text, span.start, span.end):
        if match["latin"] and not _ends_here(text, match.start(), match.end(), span):
            continue
        yield Span(start, match.end())
        start = match.end()
    yield Span(start, span.end)


def _ends_here(text: str, mark: int, end: int, span: Span) -> bool:
    """Whether the Latin terminator in `[mark, end)` ends a sentence."""
    following = _NEXT.match(text, end, span.end)
    if following is None:
        return True
    small = following[1].islower()
    if text[mark] != ".":
        return not small or text[end - 1] in "!?"
    if small:
        return False
    return end - mark > 1 or not _is_short(text, mark, span.start, following[1])


def _is_short(text: str, mark: int, start: int, following: str) -> bool:
    """Whether the full stop at `mark` belongs to an abbreviation, an initial or a list number."""
    behind = text[max(start, mark - _LOOK_BEHIND) : mark]
    match = _LAST_WORD.search(behind)
    word = match.group() if match else ""
    if _ALWAYS.fullmatch(word) or (len(word) == 1 and word.isupper() and word != "I"):
        return True
    if _OFTEN.fullmatch(word) or _SPACED_LETTERS.fullmatch(f"{word}."):
        return not following.isupper()
    alone = text[max(start, mark - len(word) - 1) : mark - len(word)] in ("", "\n", "\r")
    return alone and _NUMBER.fullmatch(f"{word}.") is not None


def _trimmed(text: str, span: Span) -> Span:
    """The span without the white space at its ends."""
    inside = text[span.start : span.end]
    leading = len(inside) - len(inside.lstrip())
    return Span(span.start + leading, max(span.start + leading, span.start + len(inside.rstrip())))
