"""Which boundaries of an older layout stay: everything but the surroundings of the differences."""

from collections.abc import Sequence
from dataclasses import dataclass

from variorum.chunking.occurrences import meeting_place
from variorum.records.text import Span

MARGIN_CHUNKS = 1
"""Unchanged chunks beside a difference that may still be cut anew."""

_LARGE_CHUNKS = 16
_PROBES = 8


@dataclass(frozen=True, slots=True)
class Region:
    """Old chunks `[first, last)` against the characters `[start, end)` of the new text."""

    first: int
    last: int
    start: int
    end: int


def kept_stretches(old: str, spans: Sequence[Span], new: str) -> list[list[int]]:
    """Boundaries of the new text that stay, in order: what lies between two stretches changed.

    Common ends are taken off by whole chunks. A large rest is split where a chunk from its middle
    occurs once, and both parts are treated alike. Cost: n log n in the texts.
    """
    kept: list[list[int]] = []
    pending = [Region(0, len(spans), 0, len(new))]
    while pending:
        rest, head, tail = _trim(pending.pop(), old, spans, new)
        kept.extend([head, tail])
        pending.extend(_split(rest, old, spans, new))
    return sorted(kept, key=lambda stretch: (stretch[0], stretch[-1]))


def _trim(
    region: Region, old: str, spans: Sequence[Span], new: str
) -> tuple[Region, list[int], list[int]]:
    """What is left between the common ends of a region, and the boundaries kept at each end."""
    chunks = spans[region.first : region.last]
    before, after = _characters(region, old, spans), new[region.start : region.end]
    prefix = common_prefix(before, after)
    suffix = common_suffix(before, after, min(len(before), len(after)) - prefix)
    base = chunks[0].start if chunks else 0
    heads = sum(1 for span in chunks if span.end - base <= prefix) - MARGIN_CHUNKS
    tails = sum(1 for span in chunks if span.start - base >= len(before) - suffix) - MARGIN_CHUNKS
    heads, tails = max(0, heads), max(0, tails)
    ahead, behind = region.start - base, region.end - base - len(before)
    head = [region.start, *(meeting_place(new, span.end + ahead) for span in chunks[:heads])]
    kept = chunks[len(chunks) - tails :]
    tail = [*(meeting_place(new, span.start + behind) for span in kept), region.end]
    return Region(region.first + heads, region.last - tails, head[-1], tail[0]), head, tail


def _characters(region: Region, old: str, spans: Sequence[Span]) -> str:
    """The characters of the old chunks of a region."""
    if region.first >= region.last:
        return ""
    return old[spans[region.first].start : spans[region.last - 1].end]


def _split(region: Region, old: str, spans: Sequence[Span], new: str) -> list[Region]:
    """The region in two, at an old chunk from its middle that occurs in it exactly once."""
    chunks = region.last - region.first
    if chunks < _LARGE_CHUNKS:
        return []
    for probe in range(_PROBES):
        offset = chunks * (2 * probe + 1) // (2 * _PROBES)
        number = region.first + (offset + chunks // 2) % chunks
        content = old[spans[number].start : spans[number].end].strip()
        found = new.find(content, region.start, region.end)
        if found >= 0 and new.find(content, found + 1, region.end) < 0:
            place = meeting_place(new, found)
            if region.start < place < region.end and region.first < number:
                left = Region(region.first, number, region.start, place)
                return [left, Region(number, region.last, place, region.end)]
    return []


def common_prefix(first: str, second: str) -> int:
    """Length of the longest common prefix, by bisection over slice comparisons."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def common_suffix(first: str, second: str, most: int) -> int:
    """Length of the longest common suffix, at most `most`."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        ours = first[len(first) - middle : len(first) - low]
        if ours == second[len(second) - middle : len(second) - low]:
            low = middle
        else:
            high = middle - 1
    return low
