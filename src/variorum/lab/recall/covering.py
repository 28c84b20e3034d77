"""Whether ranges cover evidence: every character of it but blanks must lie in one of them."""

from collections.abc import Mapping, Sequence

from variorum.lab.questions.records import Alternative, DocumentKey, Passage, Place
from variorum.records.text import Span

Texts = Mapping[DocumentKey, str]


class Waiting:
    """What of one place is not covered yet."""

    __slots__ = ("_document", "_left", "_text")

    def __init__(self, place: Place, document: DocumentKey, texts: Texts) -> None:
        self._document = document
        self._text = texts[document]
        self._left = _filled([place.span], self._text)

    @property
    def is_over(self) -> bool:
        """Whether it is covered."""
        return not self._left

    def cover(self, document: DocumentKey, span: Span) -> bool:
        """Take a range away; whether there was anything of it left."""
        if document != self._document:
            return False
        left = [part for one in self._left for part in _without(one, span)]
        if left == self._left:
            return False
        self._left = _filled(left, self._text)
        return True


def _without(whole: Span, taken: Span) -> list[Span]:
    if taken.end <= whole.start or whole.end <= taken.start:
        return [whole]
    parts = (Span(whole.start, taken.start), Span(taken.end, whole.end))
    return [part for part in parts if part.start < part.end]


def _filled(spans: Sequence[Span], text: str) -> list[Span]:
    return [span for span in spans if text[span.start : span.end].strip()]


class WaitingPassage:
    """What of a passage is not covered yet: it is over as soon as one of its places is."""

    __slots__ = ("_places",)

    def __init__(self, passage: Passage, version: str, texts: Texts) -> None:
        self._places = [
            Waiting(place, DocumentKey(place.document, version), texts) for place in passage.places
        ]

    def cover(self, document: DocumentKey, span: Span) -> bool:
        """Take a range away; whether the passage is covered now."""
        # Every place takes its share, so that a later range can complete any of them.
        for place in self._places:
            place.cover(document, span)
        return any(place.is_over for place in self._places)


def completion_ranks(
    alternative: Alternative,
    version: str,
    units: Sequence[tuple[DocumentKey, Span]],
    texts: Texts,
) -> list[int | None]:
    """For each passage the 0-based place of the unit that completes it, or None."""
    waiting = {
        number: WaitingPassage(passage, version, texts)
        for number, passage in enumerate(alternative)
    }
    found: list[int | None] = [None] * len(alternative)
    for rank, (document, span) in enumerate(units):
        for number in list(waiting):
            if waiting[number].cover(document, span):
                found[number] = rank
                del waiting[number]
        if not waiting:
            break
    return found


def is_covered(
    alternatives: Sequence[Alternative],
    version: str,
    units: Sequence[tuple[DocumentKey, Span]],
    texts: Texts,
) -> bool:
    """Whether the units cover one sufficient set: the question's evidence recall, 1 or 0."""
    return any(None not in completion_ranks(one, version, units, texts) for one in alternatives)
