"""The least that a revision must embed again, given how the one before it was cut."""

from bisect import bisect_right
from collections.abc import Sequence

from variorum.chunking.differences import common_prefix, common_suffix
from variorum.chunking.occurrences import Finder, Occurrence
from variorum.records.layout import PreviousLayout


def reusable_tokens(previous: PreviousLayout, new: str) -> int:
    """Tokens of the heaviest set of old inputs that stand in the new text without overlapping.

    Whatever the new layout, no more can be reused of the old one. Chunks within the common ends of
    both texts count as they stand; the search is made between them. Linear in what differs.
    """
    old, chunks = previous.characters, previous.layout.chunks
    prefix = common_prefix(old, new)
    suffix = common_suffix(old, new, min(len(old), len(new)) - prefix)
    head = sum(1 for chunk in chunks if chunk.end <= prefix)
    tail = sum(1 for chunk in chunks[head:] if chunk.start >= len(old) - suffix)
    kept = [*chunks[:head], *chunks[len(chunks) - tail :]]
    middle = chunks[head : len(chunks) - tail]
    start = chunks[head - 1].end if head else 0
    behind = len(old) - chunks[len(chunks) - tail].start if tail else 0
    rest = new[start : len(new) - behind]
    contents = [old[chunk.start : chunk.end].strip() for chunk in middle]
    weights = [chunk.tokens for chunk in middle]
    return sum(chunk.tokens for chunk in kept) + _heaviest(rest, contents, weights)


def _heaviest(text: str, contents: Sequence[str], weights: Sequence[int]) -> int:
    """The largest weight of contents found in the text, no two overlapping."""
    if not contents or not text:
        return 0
    lines = [place + 1 for place, one in enumerate(text) if one == "\n"]
    found = Finder(text, contents, lambda _index, _place: True).within(0, len(text), lines)
    return _schedule(sorted(found, key=lambda one: one.end), weights)


def _schedule(found: Sequence[Occurrence], weights: Sequence[int]) -> int:
    """Weighted interval scheduling over occurrences sorted by their ends."""
    ends = [one.end for one in found]
    best = [0]
    for number, one in enumerate(found):
        before = bisect_right(ends, one.start, 0, number)
        best.append(max(best[-1], best[before] + weights[one.index]))
    return best[-1]
