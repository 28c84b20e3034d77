"""Filling a budget with whole chunks, counted as they are written."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain

from variorum.records.context import Passage
from variorum.records.protocols import TokenCounter

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
    """What the budget holds: the passages, how they are written, and what was refused."""

    passages: tuple[Passage, ...]
    text: str
    tokens: int
    refused: tuple[Refused, ...]


@dataclass(slots=True)
class Packing:
    """Takes chunks one after the other while they fit.

    `passages` makes passages of taken chunks, `parts` writes them, and `text_id` is equal for
    chunks whose text is the same. Parts are counted once each,
    and their sum decides what is tried; the whole is counted at the end, exactly, and what was
    taken last is given up again where a tokenizer counts more for the whole than for its parts.
    """

    counter: TokenCounter
    budget: int
    passages: Callable[[Taken], tuple[Passage, ...]]
    parts: Callable[[Sequence[Passage]], list[str]]
    text_id: Callable[[int], int]
    _steps: list[tuple[Choice, list[int]]] = field(default_factory=list)
    _counts: dict[str, int] = field(default_factory=dict)
    _refused: list[Refused] = field(default_factory=list)

    def packed(self, choices: Iterable[Choice]) -> Packed:
        """The first of the choices that the budget holds. Linear in the choices, each of which
        looks at all that was taken before it.
        """
        for choice in choices:
            self._try(choice)
        passages, text, tokens = self._written()
        while tokens > self.budget and self._steps:
            choice, _ = self._steps.pop()
            self._refused.append(Refused(choice.place, tokens))
            passages, text, tokens = self._written()
        return Packed(passages, text, tokens, self._left_out())

    def _try(self, choice: Choice) -> None:
        taken = self._taken()
        if choice.place not in taken and self._is_in(choice.place, taken):
            self._refused.append(Refused(choice.place, None))
            return
        tokens = 0
        for group in choice.groups:
            added = [place for place in group if place not in taken]
            tokens = self._sum([*taken, *added]) if added else 0
            if tokens <= self.budget:
                self._steps.append((choice, added))
                return
        self._refused.append(Refused(choice.place, tokens))

    def _is_in(self, place: int, taken: Iterable[int]) -> bool:
        text_id = self.text_id(place)
        return any(self.text_id(one) == text_id for one in taken)

    def _left_out(self) -> tuple[Refused, ...]:
        """A chunk that a later one brought in as its neighbour is in."""
        taken = self._taken()
        return tuple(one for one in self._refused if one.place not in taken)

    def _taken(self) -> dict[int, None]:
        return dict.fromkeys(chain.from_iterable(added for _, added in self._steps))

    def _sum(self, taken: Taken) -> int:
        return sum(map(self._count, self.parts(self.passages(taken))))

    def _count(self, part: str) -> int:
        if part not in self._counts:
            self._counts[part] = self.counter.count(part)
        return self._counts[part]

    def _written(self) -> tuple[tuple[Passage, ...], str, int]:
        passages = self.passages(list(self._taken()))
        text = "".join(self.parts(passages)) if passages else ""
        return passages, text, self.counter.count(text) if text else 0
