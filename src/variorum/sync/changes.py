"""Where two texts differ, and the words that say so."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from variorum.chunking.differences import common_prefix, common_suffix

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff]+|\s+|[^\w\s]")
_MOST_WORD_PAIRS = 1_000_000
_LONG = 1_000
"""Pieces of a text in which the frequent ones are not compared first: blank lines, spaces."""
_SHOWN_CHARACTERS = 32


class Change(NamedTuple):
    """Characters `[old_start, old_end)` of the old text became `[new_start, new_end)`."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


class Changes:
    """The differences between two texts, in order, to whole words."""

    def __init__(self, old: str, new: str) -> None:
        self._old, self._new = old, new
        self._found = list(_by_lines(old, new))
        self._old_ends = [change.old_end for change in self._found]

    def of_words(self) -> Iterator[Change]:
        """Every change in order, but those of white space alone."""
        for change in self._found:
            before = self._old[change.old_start : change.old_end]
            after = self._new[change.new_start : change.new_end]
            if before.strip() or after.strip():
                yield change

    def in_new(self, start: int, end: int) -> Change | None:
        """The first change within `[start, end)` of the new text; a removal at its ends counts."""
        inside = (
            change for change in self._found if change.new_start < end and start < change.new_end
        )
        beside = (change for change in self._found if start <= change.new_start <= end)
        return next(inside, None) or next(beside, None)

    def nearest(self, start: int, end: int) -> Change | None:
        """The change nearest to `[start, end)` of the old text, the first of those inside."""
        return min(
            self._found,
            key=lambda change: max(start - change.old_end, change.old_start - end, 0),
            default=None,
        )

    def moved(self, position: int) -> int:
        """Where a position of the old text stands in the new one."""
        index = bisect_right(self._old_ends, position) - 1
        if index + 1 < len(self._found) and self._found[index + 1].old_start < position:
            return self._found[index + 1].new_end
        if index < 0:
            return position
        return position + self._found[index].new_end - self._found[index].old_end

    def words(self, change: Change | None) -> str:
        """`"old" -> "new"` of a change, or what was added or removed; short."""
        if change is None:
            return ""
        before = _short(self._old[change.old_start : change.old_end])
        after = _short(self._new[change.new_start : change.new_end])
        if before and after:
            return f'"{before}" -> "{after}"'
        if not before and not after:
            return "white space"
        return f'added "{after}"' if after else f'removed "{before}"'


def _by_lines(old: str, new: str) -> Iterator[Change]:
    """The differing lines, each group taken apart to words."""
    first = common_prefix(old, new)
    first = old.rfind("\n", 0, first) + 1
    last = _whole_lines(old, common_suffix(old, new, min(len(old), len(new)) - first))
    before = old[first : len(old) - last].splitlines(keepends=True)
    after = new[first : len(new) - last].splitlines(keepends=True)
    for change in _differing(before, after, first, first):
        yield from _by_words(old, new, change)


def _whole_lines(text: str, last: int) -> int:
    """The most of the text's last characters, at most `last`, that begin a line."""
    line = text.find("\n", max(0, len(text) - last - 1))
    return 0 if line < 0 else len(text) - line - 1


def _by_words(old: str, new: str, change: Change) -> Iterator[Change]:
    before = _WORD.findall(old[change.old_start : change.old_end])
    after = _WORD.findall(new[change.new_start : change.new_end])
    if before and after and len(before) * len(after) <= _MOST_WORD_PAIRS:
        yield from _differing(before, after, change.old_start, change.new_start)
    else:
        yield change


def _differing(
    before: Sequence[str], after: Sequence[str], old_start: int, new_start: int
) -> Iterator[Change]:
    """The ranges in which two sequences of pieces differ, in characters from the given starts."""
    old_ends, new_ends = _ends(before, old_start), _ends(after, new_start)
    matcher = SequenceMatcher(None, before, after, autojunk=len(before) > _LONG)
    for kind, first, last, start, end in matcher.get_opcodes():
        if kind != "equal":
            yield Change(old_ends[first], old_ends[last], new_ends[start], new_ends[end])


def _ends(pieces: Sequence[str], start: int) -> list[int]:
    ends = [start]
    for piece in pieces:
        ends.append(ends[-1] + len(piece))
    return ends


def _short(words: str) -> str:
    line = " ".join(words.split())
    return line if len(line) <= _SHOWN_CHARACTERS else line[: _SHOWN_CHARACTERS - 1].rstrip() + "…"
