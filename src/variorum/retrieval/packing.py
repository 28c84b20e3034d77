"""Filling a budget with whole chunks, counted as they are written."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from variorum.records.protocols import TokenCounter
from variorum.retrieval.writing import Quote, Writer, written

Taken = Sequence[int]
"""Places of chunks, in the order in which they were taken."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A chunk to be taken: with what is around it, widest first, or at last alone."""

    place: int
    groups: Sequence[Sequence[int]]


@dataclass(frozen=True, slots=True)
class Refused:
    """A chunk that was not taken; `tokens` is what it would have come to, None for a duplicate."""

    place: int
    tokens: int | None


@dataclass(frozen=True, slots=True)
class Packed:
    """What the budget holds: the quotes, how they are written, and what was refused."""

    quotes: tuple[Quote, ...]
    text: str
    tokens: int
    refused: tuple[Refused, ...]


@dataclass(frozen=True, slots=True)
class Chunks:
    """What packing asks of chunks: their texts, which of them have the same text, and the quotes
    that taken ones make.
    """

    text: Callable[[int], str]
    text_id: Callable[[int], int]
    quotes: Callable[[Taken], tuple[Quote, ...]]


@dataclass(slots=True)
class Packing:
    """Takes chunks one after the other while they fit.

    Each chunk and each piece of the frame is counted once, and their sum decides what is tried. The
    whole is counted at the end, exactly, and what was taken last is given up again where a
    tokenizer counts more for the whole than for its parts.
    """

    counter: TokenCounter
    budget: int
    chunks: Chunks
    writer: Writer
    fence: str
    _steps: list[tuple[int, list[int]]] = field(default_factory=list)
    _taken: dict[int, None] = field(default_factory=dict)
    _text_ids: set[int] = field(default_factory=set)
    _texts: int = 0
    _counts: dict[str, int] = field(default_factory=dict)
    _chunk_counts: dict[int, int] = field(default_factory=dict)
    _refused: list[Refused] = field(default_factory=list)

    def packed(self, choices: Iterable[Choice]) -> Packed:
        """The first of the choices that the budget holds. Linear in the choices, each of which
        looks at all that was taken before it.
        """
        for choice in choices:
            self._try(choice)
        packed = self._packed()
        while packed.tokens > self.budget and self._steps:
            self._give_up(packed.tokens)
            packed = self._packed()
        return packed

    def _try(self, choice: Choice) -> None:
        place = choice.place
        if place not in self._taken and self.chunks.text_id(place) in self._text_ids:
            self._refused.append(Refused(place, None))
            return
        tokens = 0
        for group in choice.groups:
            added = [one for one in group if one not in self._taken]
            tokens = self._sum(added)
            if tokens <= self.budget:
                self._take(place, added)
                return
        self._refused.append(Refused(place, tokens))

    def _take(self, place: int, added: list[int]) -> None:
        self._steps.append((place, added))
        self._taken.update(dict.fromkeys(added))
        self._text_ids.update(map(self.chunks.text_id, added))
        self._texts += sum(map(self._chunk_tokens, added))

    def _give_up(self, tokens: int) -> None:
        place, added = self._steps.pop()
        for one in added:
            del self._taken[one]
        self._refused.append(Refused(place, tokens))

    def _sum(self, added: Taken) -> int:
        """What the context would come to; its texts alone where they are too much already."""
        if not added:
            return 0
        texts = self._texts + sum(map(self._chunk_tokens, added))
        if texts > self.budget:
            return texts
        quotes = self.chunks.quotes([*self._taken, *added])
        return texts + sum(map(self._count, self.writer.frame(quotes, self.fence)))

    def _chunk_tokens(self, place: int) -> int:
        if place not in self._chunk_counts:
            text = self.writer.text(self.chunks.text(place))
            self._chunk_counts[place] = self.counter.count(text)
        return self._chunk_counts[place]

    def _count(self, piece: str) -> int:
        if piece not in self._counts:
            self._counts[piece] = self.counter.count(piece)
        return self._counts[piece]

    def _packed(self) -> Packed:
        quotes = self.chunks.quotes(list(self._taken))
        text = written(self.writer, quotes, self.fence)
        # A chunk that a later one brought in as its neighbour is in.
        refused = tuple(one for one in self._refused if one.place not in self._taken)
        return Packed(quotes, text, self.counter.count(text) if text else 0, refused)
