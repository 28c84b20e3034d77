"""The reuse planner: the layout of a new revision that embeds least, given the old one's inputs.

A layout is a path over places where chunks may meet: the structural candidates of the new text,
the base chunker's own boundaries, and both ends of every verbatim occurrence of an old input. A
span that is an old input costs nothing, any other its tokens, each with the penalties of
`pricing`. The cheapest path wins, the first of equals.

An edit in one place therefore embeds at most the old chunks that it touches and what it inserts,
within `pricing.MAX_PENALTY` tokens for each span that results, since keeping every other chunk is
one of the paths. The guard against drift, below, is the one exception.

Work is confined to windows around the differences: what precedes the first and follows the last
difference, and every longer run of old chunks in between, keeps its old boundaries, `MARGIN_CHUNKS`
at each end apart.

Drift is bounded. A layout whose penalties exceed a fresh layout's by more than
`DRIFT_PER_TOKEN * tokens + DRIFT_TOKENS` is planned again over the whole text with heavier
penalties, and in the end replaced by the fresh layout. So after any number of revisions no layout
is worse than a fresh one by more than that.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NoReturn

from variorum.chunking.boundaries import boundaries
from variorum.chunking.chunker import Chunker, Reading, Shape
from variorum.chunking.differences import MARGIN_CHUNKS, kept_stretches
from variorum.chunking.occurrences import Finder, meeting_place, runs
from variorum.chunking.paths import cheapest_path
from variorum.chunking.pricing import Pricing
from variorum.records.errors import InputError
from variorum.records.text import Span

DRIFT_PER_TOKEN = 0.05
"""Penalty in tokens, for each token of the text, that a layout may have above a fresh one's."""

DRIFT_TOKENS = 32.0
"""Penalty in tokens that a layout may have above that, so that short texts have room to reuse."""

_WEIGHTS = (1.0, 4.0, 16.0)


PrefixAt = Callable[[int], str]
"""The prefix of an input whose first character stands at a position of the new text."""


@dataclass(frozen=True, slots=True)
class OldLayout:
    """The older revision, its line ends folded: characters, spans, and the inputs of the spans.

    Without `inputs`, the prefixes of the old inputs are unknown, and any place with the
    same characters is taken to give the same input.
    """

    characters: str
    spans: tuple[Span, ...]
    inputs: tuple[str, ...] = ()

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

    Cost: that of the chunker, then n log n in the size of the
    windows, and a search of the windows for each old chunk.

    Raises:
        InputError: kind `planner-needs-no-overlap`, where the chunker's spans overlap.
    """
    if chunker.overlaps:
        refuse_overlap(chunker)
    text = reading.characters
    if previous.characters == text and previous.spans:
        return _spans(_meeting_places(text, (span.start for span in previous.spans)))
    fresh = chunker.spans(text, reading.structure, reading.tokens)
    if not previous.spans or not text:
        return fresh
    cuts = _meeting_places(text, (span.start for span in fresh))
    return _spans(_Planner(reading, chunker.shape, cuts, previous, prefix_at).cuts())


def refuse_overlap(chunker: Chunker) -> NoReturn:
    """Raise the error for a recipe that the planner cannot serve.

    Raises:
        InputError: always, kind `planner-needs-no-overlap`.
    """
    raise InputError(
        f"the reuse planner cannot work with overlapping chunks: {chunker.spec}",
        kind="planner-needs-no-overlap",
        subject=chunker.spec,
        expected="a chunker without overlap",
        found=chunker.spec,
        remedy="set the overlap to 0, or turn the planner off",
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
        self,
        reading: Reading,
        shape: Shape,
        fresh: list[int],
        previous: OldLayout,
        prefix_at: PrefixAt,
    ) -> None:
        self._text = reading.characters
        self._tokens = reading.tokens
        self._shape = shape
        self._fresh = fresh
        self._previous = previous
        self._prefix_at = prefix_at
        self._contents = previous.contents()
        self._candidates = boundaries(reading.characters, reading.structure)
        self._places = sorted({*self._candidates.positions.tolist(), *fresh})
        self._finder = Finder(reading.characters, self._contents, self._places, self._fits)

    def cuts(self) -> list[int]:
        """The boundaries of the layout, both ends of the text included."""
        plain = self._pricing(1.0)
        allowed = plain.total(self._fresh) + DRIFT_PER_TOKEN * self._tokens.total + DRIFT_TOKENS
        for weight in _WEIGHTS:
            kept = self._kept() if weight == 1.0 else [[0], [len(self._text)]]
            cuts = self._join(kept, self._pricing(weight))
            if plain.total(cuts) <= allowed:
                return cuts
        return self._fresh

    def _pricing(self, weight: float) -> Pricing:
        return Pricing(self._tokens, self._candidates, self._shape, weight)

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
            [one.start for one in run[MARGIN_CHUNKS : 1 - MARGIN_CHUNKS]]
            for left, right in pairwise(kept)
            if left[-1] < right[0]
            for run in runs(self._finder.within(left[-1], right[0]), self._contents)
            if len(run) > 2 * MARGIN_CHUNKS
        ]
        return sorted([*kept, *middle])

    def _join(self, kept: list[list[int]], pricing: Pricing) -> list[int]:
        """The kept stretches with the cheapest path between each two of them."""
        cuts = list(kept[0])
        for stretch in kept[1:]:
            if stretch[0] > cuts[-1]:
                cuts.extend(self._window(cuts[-1], stretch[0], pricing))
            cuts.extend(stretch[1:])
        return cuts

    def _window(self, start: int, end: int, pricing: Pricing) -> list[int]:
        """The boundaries after `start`, up to and with `end`, of the cheapest path."""
        reusable = [(one.start, one.end) for one in self._finder.within(start, end)]
        places = self._places
        inside = places[bisect_right(places, start) : bisect_left(places, end)]
        ends = [place for ends in reusable for place in ends]
        window = sorted({start, end, *inside, *ends})
        before = [self._tokens.before(place) for place in window]
        return cheapest_path(window, before, reusable, pricing, self._shape.max_tokens)
