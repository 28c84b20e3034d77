"""The reuse planner: the layout of a new revision that embeds least, given the old one's inputs.

A layout is a path over places where chunks may meet: the structural candidates of the new text,
the base chunker's own boundaries, and both ends of every verbatim occurrence of an old input. A
span that is an old input costs nothing, any other its tokens, each with the penalties of
`pricing`. The cheapest path wins, the first of equals.

An edit in one place therefore embeds at most the old chunks that it touches and what it inserts,
within `pricing.MAX_PENALTY` tokens for each span that results, since keeping every other chunk is
one of the paths. The guard against drift, below, is the one exception.

Cost follows the edit. Chunks that stand in the new text as they did, a margin of `MARGIN_CHUNKS`
beside each difference apart, are kept by comparing characters alone, with the token counts that
their inputs are known to have. Only the windows between kept stretches are tokenized, cut by the
chunker and planned, each on its own (`Part`). Where no chunk is kept the window is the whole text.

Drift is bounded, first in each window: one whose penalties exceed those of the chunker's own cuts
of it by more than `drift` of its tokens is planned again with heavier penalties, and in the end
takes these cuts. Then in the layout as a whole, since the windows of many edits overlap: where its
penalties are within `usual` (of a fresh layout, by the chunker's rule alone: 0 for structural ones)
plus `drift`, it stands, and no fresh layout is made. Where they are not, one is, of the whole text;
and where they exceed those of that one by more than `drift`, the whole text is planned as one
window. Since penalties are never negative, no layout has penalties above the greater of a fresh
one's and the usual by more than `drift`, after any number of revisions: the check looks at the
layout, not at its history. (Kept chunks are checked by the counts of their inputs, which differ
from counts within the text by a token or two.)
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NoReturn

from variorum.chunking.chunker import Chunker, Reading
from variorum.chunking.differences import MARGIN_CHUNKS, kept_stretches
from variorum.chunking.occurrences import Finder, Occurrence, meeting_place, runs
from variorum.chunking.parts import Part, Parts
from variorum.chunking.paths import cheapest_path
from variorum.chunking.pricing import Pricing, drift, of_boundary, of_size, usual
from variorum.records.errors import InputError
from variorum.records.text import Span

_WEIGHTS = (1.0, 4.0, 16.0)
_SHORTER = (0, 1, 2, 8)
"""Tokens under the maximum at which a path is tried."""


PrefixAt = Callable[[int], str]
"""The prefix of an input whose first character stands at a position of the new text."""


@dataclass(frozen=True, slots=True)
class OldLayout:
    """The older revision, its line ends folded: characters, spans, and the inputs of the spans.

    Without `inputs`, the prefixes of the old inputs are unknown, and any place with the same
    characters is taken to give the same input. `tokens` counts the characters of each span as its
    input has them, where that is known, else 0.
    """

    characters: str
    spans: tuple[Span, ...]
    inputs: tuple[str, ...] = ()
    tokens: tuple[int, ...] = ()

    def contents(self) -> list[str]:
        """The characters of each chunk as its input has them."""
        return [self.characters[start:end].strip() for start, end in self.spans]


def plan_spans(
    reading: Reading,
    chunker: Chunker,
    previous: OldLayout,
    prefix_at: PrefixAt = lambda _: "",
) -> list[Span]:
    """The spans that reuse most of `previous`, tiling the text as `chunker.spans` would.

    Cost: that of the chunker and n log n in the size of the windows, a comparison of the two
    texts, and a few characters at each boundary that is kept.

    Raises:
        InputError: kind `planner-needs-no-overlap`, where the chunker's spans overlap.
    """
    if chunker.overlaps:
        refuse_overlap(chunker)
    text = reading.characters
    if previous.characters == text and previous.spans:
        return _spans(_meeting_places(text, (span.start for span in previous.spans)))
    if not previous.spans or not text:
        return chunker.spans(text, reading.structure, reading.tokens)
    return _spans(_Planner(reading, chunker, previous, prefix_at).cuts())


def refuse_overlap(chunker: Chunker) -> NoReturn:
    """Raise the error for a recipe that the planner cannot serve.

    Raises:
        InputError: always, kind `planner-needs-no-overlap`.
    """
    raise InputError(
        f"the reuse planner cannot work with overlapping chunks: {chunker.spec}",
        kind="planner-needs-no-overlap",
        subject=chunker.spec,
        expected="a chunker without overlap, or planner = false",
        found=f"{chunker.spec} with planner = true",
        remedy="set planner = false beside the chunker, or its overlap to 0",
    )


def _meeting_places(text: str, positions: Iterable[int]) -> list[int]:
    """Both ends of the text and the meeting places of the positions, in order."""
    return sorted({0, len(text), *(meeting_place(text, position) for position in positions)})


def _spans(cuts: Sequence[int]) -> list[Span]:
    """The spans between the cuts."""
    return [Span(start, end) for start, end in pairwise(cuts)]


class _Planner:
    """One text against one older layout."""

    def __init__(
        self, reading: Reading, chunker: Chunker, previous: OldLayout, prefix_at: PrefixAt
    ) -> None:
        self._text = reading.characters
        self._tokens = reading.tokens
        self._shape = chunker.shape
        self._previous = previous
        self._prefix_at = prefix_at
        self._contents = previous.contents()
        self._sizes = dict(zip(self._contents, previous.tokens, strict=False))
        self._parts = Parts(reading, chunker)
        self._finder = Finder(reading.characters, self._contents, self._fits)

    def cuts(self) -> list[int]:
        """The boundaries of the layout, both ends of the text included."""
        kept = self._kept()
        cuts, penalty, tokens = self._join(kept)
        if penalty <= usual(self._shape, tokens) + drift(self._shape, tokens):
            return cuts
        whole = self._parts.part(0, len(self._text))
        pricing = Pricing(whole.tokens, whole.candidates, self._shape)
        allowed = pricing.total(whole.fresh) + drift(self._shape, whole.tokens.total)
        return cuts if pricing.total(cuts) <= allowed else self._planned(whole)[0]

    def _fits(self, index: int, position: int) -> bool:
        """Whether old chunk `index` gives its old input byte for byte at `position`."""
        if not self._previous.inputs:
            return True
        return self._prefix_at(position) + self._contents[index] == self._previous.inputs[index]

    def _kept(self) -> list[list[int]]:
        """Boundaries that stay, in stretches: what lies between two stretches is planned."""
        old = self._previous
        kept = kept_stretches(old.characters, old.spans, self._text)
        middle = [
            [one.start for one in run[MARGIN_CHUNKS : len(run) + 1 - MARGIN_CHUNKS]]
            for left, right in pairwise(kept)
            if left[-1] < right[0]
            for run in runs(self._found(left[-1], right[0]), self._contents)
            if len(run) > 2 * MARGIN_CHUNKS
        ]
        return sorted([*kept, *middle])

    def _found(self, start: int, end: int) -> list[Occurrence]:
        """The old contents in a range of the text."""
        return self._finder.within(start, end, self._parts.anchors(start, end))

    def _join(self, kept: list[list[int]]) -> tuple[list[int], float, int]:
        """The kept stretches with the windows between them planned; penalty and tokens of all."""
        cuts = list(kept[0])
        penalty, tokens = self._price(kept)
        for stretch in kept[1:]:
            if stretch[0] > cuts[-1]:
                window = self._parts.part(cuts[-1], stretch[0])
                inside, more = self._planned(window)
                cuts.extend(inside[1:])
                penalty, tokens = penalty + more, tokens + window.tokens.total
            cuts.extend(stretch[1:])
        return cuts, penalty, tokens

    def _price(self, kept: list[list[int]]) -> tuple[float, int]:
        """Penalty and tokens of the kept chunks, with the boundaries at all ends of theirs."""
        chunks = [ends for stretch in kept for ends in pairwise(stretch) if ends[0] < ends[1]]
        sizes = [self._size(*ends) for ends in chunks]
        inner = sorted({cut for stretch in kept for cut in stretch} - {0, len(self._text)})
        weak = sum(map(of_boundary, self._parts.levels(inner)))
        return weak + sum(of_size(self._shape, size) for size in sizes), sum(sizes)

    def _size(self, start: int, end: int) -> int:
        """Tokens of a kept chunk: as known of the old one, else counted."""
        known = self._sizes.get(self._text[start:end].strip(), 0)
        return known or self._tokens.part(start, end).total

    def _planned(self, window: Part) -> tuple[list[int], float]:
        """The boundaries of the cheapest path through a window within the drift; their penalty."""
        plain = Pricing(window.tokens, window.candidates, self._shape)
        fresh = plain.total(window.fresh)
        allowed = fresh + drift(self._shape, window.tokens.total)
        for weight in _WEIGHTS:
            pricing = Pricing(window.tokens, window.candidates, self._shape, weight)
            cuts = self._fitting_path(window, pricing)
            if (penalty := plain.total(cuts)) <= allowed:
                return [window.start + cut for cut in cuts], penalty
        return [window.start + cut for cut in window.fresh], fresh

    def _fitting_path(self, window: Part, pricing: Pricing) -> list[int]:
        """The boundaries of the cheapest path whose chunks fit as each is tokenized on its own.

        It is looked for with ever shorter steps, since a step is measured in the text; where none
        of them is short enough, the chunker's own cuts stand.
        """
        most = self._shape.max_tokens
        for shorter in _SHORTER:
            cuts = self._path(window, pricing, most - shorter)
            chunks = [Span(*ends) for ends in pairwise(cuts)]
            known = [chunk for chunk in chunks if self._is_known(window, chunk)]
            if max(window.tokens.own(sorted({*chunks} - {*known})), default=0) <= most:
                return cuts
        return window.fresh

    def _is_known(self, window: Part, chunk: Span) -> bool:
        return window.characters[chunk.start : chunk.end].strip() in self._sizes

    def _path(self, window: Part, pricing: Pricing, max_tokens: int) -> list[int]:
        """The boundaries of the cheapest path, counted from the window's start."""
        anchors = sorted({*window.candidates.positions.tolist(), *window.fresh[1:-1]})
        absolute = [window.start + anchor for anchor in anchors]
        found = self._finder.within(window.start, window.end, absolute)
        reusable = [(one.start - window.start, one.end - window.start) for one in found]
        ends = (place for ends in reusable for place in ends)
        places = sorted({0, len(window.characters), *anchors, *ends})
        before = [window.tokens.before(place) for place in places]
        return [0, *cheapest_path(places, before, reusable, pricing, max_tokens)]
