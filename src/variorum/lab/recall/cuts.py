"""What a chunker does to sentences and evidence, before anything is ranked."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_lowercase, ascii_uppercase

from variorum.chunking import sentences
from variorum.formats import parse
from variorum.lab.measure import Measure
from variorum.lab.questions.records import DocumentKey, Passage, Question, Reading
from variorum.lab.recall.covering import Texts, Waiting
from variorum.lab.recall.units import Unit, Units
from variorum.records.text import Span, Text

_CAPITAL = re.compile(r"[A-Z]")
_SMALL = re.compile(r"[a-z]")
_CAPITALS = str.maketrans(ascii_lowercase, ascii_uppercase)
_FEW = 500
"""A text with a capital for fewer than one in so many small letters has none."""


@dataclass(frozen=True, slots=True)
class Sentences:
    """The sentences of each version of each document, found once for all chunkers."""

    spans: Mapping[DocumentKey, Sequence[Span]]

    @classmethod
    def of(cls, readings: Sequence[Reading]) -> "Sentences":
        """Linear in the texts. Headings, code and tables' rows are one sentence each.

        In a text without capitals a small letter says nothing about where a sentence begins: there
        every letter counts as a capital.
        """
        found = {}
        for one in readings:
            structure = parse(Text(one.characters), one.content_type)
            capitals = len(_CAPITAL.findall(one.characters))
            small = len(_SMALL.findall(one.characters))
            is_caseless = _FEW * capitals < small
            read = one.characters.translate(_CAPITALS) if is_caseless else one.characters
            found[one.key] = sentences(read, structure)
        return cls(found)


@dataclass(frozen=True, slots=True)
class Cuts:
    """Counts over the documents of one language.

    `inner` are the cuts between two units of a document, `inside` those of them that part a
    sentence; `whole` of `sentences` lie in one unit. With overlap a cut is where a unit ends.
    """

    inner: int
    inside: int
    sentences: int
    whole: int


def cuts(units: Units, found: Sentences) -> Cuts:
    """Count the cuts and the sentences that they part."""
    inner = inside = total = whole = 0
    for key, ours in by_document(units).items():
        spans = found.spans[key]
        starts = [span.start for span in spans]
        ends = [one.span.end for one in ours[:-1]]
        inner += len(ends)
        inside += sum(_is_inside(end, spans, starts) for end in ends)
        total += len(spans)
        whole += sum(_is_whole(span, ours) for span in spans)
    return Cuts(inner, inside, total, whole)


def by_document(units: Units) -> dict[DocumentKey, list[Unit]]:
    """The units of each version of each document, in order."""
    found: dict[DocumentKey, list[Unit]] = {}
    for unit in units.units:
        found.setdefault(unit.document, []).append(unit)
    return found


def _is_inside(place: int, spans: Sequence[Span], starts: Sequence[int]) -> bool:
    at = bisect_left(starts, place) - 1
    return at >= 0 and place < spans[at].end


def _is_whole(span: Span, units: Sequence[Unit]) -> bool:
    """Whether one unit holds the span; the starts and the ends of units both rise."""
    last = bisect_right(units, span.start, key=lambda unit: unit.span.start) - 1
    return last >= 0 and units[last].span.end >= span.end


def pieces(passage: Passage, question: Question, ours: Sequence[Unit], texts: Texts) -> int | None:
    """The fewest units of a document that cover the passage at one of its places; None for none."""
    found = [
        _fewest(Waiting(place, question.document, texts), place.span, ours)
        for place in passage.places
    ]
    counts = [one for one in found if one is not None]
    return min(counts, default=None)


def cut_value(
    measure: Measure, question: Question, ours: Sequence[Unit], texts: Texts
) -> float | None:
    """`intact_span_coverage` or `fragmentation` of a question's first sufficient set.

    `ours` are the units of its document. Fragmentation is None where they cover no passage.
    """
    passages = question.alternatives[0]
    found = [pieces(passage, question, ours, texts) for passage in passages]
    counts = [count for count in found if count is not None]
    if measure.name == "intact_span_coverage":
        return sum(count == 1 for count in counts) / len(passages)
    return sum(counts) / len(counts) if counts else None


def _fewest(waiting: Waiting, span: Span, ours: Sequence[Unit]) -> int | None:
    """Greedy: of the units that hold the next uncovered character, the one that ends last."""
    taken = 0
    for unit in _chosen(span, ours):
        taken += waiting.cover(unit.document, unit.span)
        if waiting.is_over:
            return taken
    return None


def _chosen(span: Span, ours: Sequence[Unit]) -> Iterator[Unit]:
    place = span.start
    while place < span.end:
        at = bisect_right(ours, place, key=lambda unit: unit.span.start) - 1
        if at >= 0 and ours[at].span.end > place:
            yield ours[at]
            place = ours[at].span.end
        elif at + 1 < len(ours):
            place = ours[at + 1].span.start
        else:
            return
