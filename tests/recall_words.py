"""Small data sets, and cutters of a fixed width, for the tests of recall."""

from collections.abc import Sequence

from variorum.lab.questions import Alternative, Dataset, Passage, Place, Question, Reading
from variorum.lab.questions.records import DocumentKey
from variorum.lab.recall.units import Cutter, Piece
from variorum.records.text import Span


def reading(document: str, text: str, version: str = "") -> Reading:
    return Reading(DocumentKey(document, version), text, "text/plain")


def passage(document: str, *spans: tuple[int, int]) -> Passage:
    return Passage(tuple(Place(document, start, end) for start, end in spans))


def question(
    query_id: str, text: str, document: str, *alternatives: Alternative, version: str = ""
) -> Question:
    key = DocumentKey(document, version)
    return Question(query_id, text, "en", key, alternatives, document, "tune")


def dataset(
    readings: Sequence[Reading], questions: Sequence[Question], base_version: str = ""
) -> Dataset:
    return Dataset("small", tuple(readings), tuple(questions), base_version)


def every(width: int) -> Cutter:
    """Pieces of `width` characters."""

    def cut(one: Reading) -> list[Piece]:
        text = one.characters
        places = range(0, len(text), width)
        spans = [Span(start, min(start + width, len(text))) for start in places]
        return [Piece(span, text[span.start : span.end].strip()) for span in spans]

    return cut
