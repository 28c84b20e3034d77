"""Edits in atoms: one CJK character, one run of other word characters, or one punctuation mark.

The matching blocks are those of `difflib.SequenceMatcher(autojunk=False)`: the longest run that
both sequences share, the earliest of equals, then the same on either side of it. A move is a
deletion and an insertion, so the fraction overstates edits that only relocate text.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import Match, SequenceMatcher
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from variorum.records.text import Span

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"
ATOM = re.compile(rf"[{_CJK}]|[^\W{_CJK}]+|[^\w\s]")
"""White space is no atom."""

BANDS = (
    ("small", Fraction(5, 100)),
    ("medium", Fraction(20, 100)),
    ("large", Fraction(50, 100)),
    ("extreme", Fraction(1)),
)
"""Each band's name and the greatest edit fraction in it."""

SMALL_RANGE = 1_000_000
"""Atoms of one side times those of the other, up to which the standard search is the fast one."""


@dataclass(frozen=True, slots=True)
class Edit:
    """What became of the atoms of a version: how many went and came, and where the new ones are."""

    removed: int
    added: int
    old_atoms: int
    new_atoms: int
    added_spans: tuple[Span, ...]

    @property
    def fraction(self) -> Fraction:
        """(removed + added) / (atoms of both versions); 0 where neither has any."""
        return Fraction(self.removed + self.added, max(1, self.old_atoms + self.new_atoms))

    @property
    def band(self) -> str:
        """The name of the band that the fraction falls into."""
        return band(self.fraction)


def atoms(text: str) -> list[str]:
    """The atoms of a text, in order.

    >>> atoms("Don't 改, 3.5%")
    ['Don', "'", 't', '改', ',', '3', '.', '5', '%']
    """
    return ATOM.findall(text)


def band(fraction: Fraction) -> str:
    """`small` up to 5 %, `medium` up to 20 %, `large` up to 50 %, `extreme` above."""
    return next(name for name, most in BANDS if fraction <= most)


def edit(old: str, new: str, *, strip: bool = False) -> Edit:
    """The edit from one text to the next.

    With `strip`, the atoms that both begin and end with are taken as matched first, as in a long
    history of small edits; without it, the blocks are found in the whole sequences.

    Cost: n log n in the atoms for each level of the recursion that a large range takes.
    """
    before = atoms(old)
    places = [Span(*match.span()) for match in ATOM.finditer(new)]
    after = [new[start:end] for start, end in places]
    head = _common(before, after) if strip else 0
    tail = _common(before[head:][::-1], after[head:][::-1]) if strip else 0
    middle = (before[head : len(before) - tail], after[head : len(after) - tail])
    matched = [(head + start, size) for start, size in _matched(*middle)]
    whole = [(0, head), *matched, (len(after) - tail, tail)]
    kept = sum(size for _, size in whole)
    gaps = _gaps(whole, len(after))
    return Edit(
        len(before) - kept,
        len(after) - kept,
        len(before),
        len(after),
        tuple(Span(places[start].start, places[end - 1].end) for start, end in gaps),
    )


def _common(before: Sequence[str], after: Sequence[str]) -> int:
    length = 0
    for ours, theirs in zip(before, after, strict=False):
        if ours != theirs:
            break
        length += 1
    return length


def _matched(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int]]:
    """(start in `after`, size) of every matching block."""
    blocks = LongRangeMatcher(before, after).get_matching_blocks()
    return [(block.b, block.size) for block in blocks if block.size]


def _gaps(blocks: Sequence[tuple[int, int]], length: int) -> list[tuple[int, int]]:
    """The ranges of `range(length)` that no block covers."""
    place, gaps = 0, []
    for start, size in [*blocks, (length, 0)]:
        if start > place:
            gaps.append((place, start))
        place = max(place, start + size)
    return gaps


class LongRangeMatcher(SequenceMatcher[str]):
    """The same blocks as the standard matcher; ranges with many repeats are searched by doubling.

    The standard search takes time in the product of how often each atom stands on both sides. Here
    each run of `2^k` atoms gets a number that equals another run's exactly where the runs are
    equal, so the longest common run is found by halving, in n log n steps.
    """

    def __init__(
        self, before: Sequence[str], after: Sequence[str], small_range: int = SMALL_RANGE
    ) -> None:
        super().__init__(None, before, after, autojunk=False)
        self._small_range = small_range
        numbers: dict[str, int] = {}
        self._before, self._after = (
            np.array([numbers.setdefault(atom, len(numbers)) for atom in side], dtype=np.int64)
            for side in (before, after)
        )

    def find_longest_match(
        self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None
    ) -> Match:
        """The longest common run, the earliest in the old sequence, then in the new one."""
        ahi = len(self._before) if ahi is None else ahi
        bhi = len(self._after) if bhi is None else bhi
        before, after = self._before[alo:ahi], self._after[blo:bhi]
        if len(before) * len(after) <= self._small_range:
            return super().find_longest_match(alo, ahi, blo, bhi)
        start, other, size = longest_common_run(before, after)
        return Match(alo + start, blo + other, size)


Numbers = NDArray[np.int64]


def longest_common_run(before: Numbers, after: Numbers) -> tuple[int, int, int]:
    """(start in before, start in after, size) of the longest run in both; the earliest of equals.

    (0, 0, 0) where they share nothing.
    """
    sides = (before, after)
    powers: list[tuple[Numbers, Numbers]] = []
    while len(sides[0]) and len(sides[1]) and np.intersect1d(*sides).size:
        powers.append(sides)
        sides = _paired(sides, sides, 1 << (len(powers) - 1))
    if not powers:
        return 0, 0, 0
    size, runs = 1 << (len(powers) - 1), powers[-1]
    for power in reversed(range(len(powers) - 1)):
        longer = _paired(runs, powers[power], size)
        if len(longer[0]) and len(longer[1]) and np.intersect1d(*longer).size:
            size, runs = size + (1 << power), longer
    start = int(np.flatnonzero(np.isin(runs[0], runs[1]))[0])
    return start, int(np.flatnonzero(runs[1] == runs[0][start])[0]), size


def _paired(
    left: tuple[Numbers, Numbers], right: tuple[Numbers, Numbers], shift: int
) -> tuple[Numbers, Numbers]:
    """Numbers of the runs that begin as `left` does and go on, `shift` later, as `right` does."""
    joined = []
    for first, second in zip(left, right, strict=True):
        length = max(0, min(len(first), len(second) - shift))
        joined.append(np.stack([first[:length], second[shift : shift + length]]))
    if not joined[0].shape[1] or not joined[1].shape[1]:
        return joined[0][0], joined[1][0]
    widest = int(max(side[1].max() for side in joined)) + 1
    keys = np.concatenate([side[0] * widest + side[1] for side in joined])
    _, numbers = np.unique(keys, return_inverse=True)
    return numbers[: joined[0].shape[1]], numbers[joined[0].shape[1] :]
