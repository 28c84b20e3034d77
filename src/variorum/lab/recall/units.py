"""The units that a chunker makes of the documents of a data set, and which are in whose pool."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from variorum.chunking import render
from variorum.lab.questions.records import DocumentKey, Question, Reading
from variorum.records.protocols import Tokenizer
from variorum.records.text import Span


@dataclass(frozen=True, slots=True)
class Piece:
    """A range of a document, and the exact input that is embedded for it."""

    span: Span
    input: str


Cutter = Callable[[Reading], Sequence[Piece]]
"""How a document becomes pieces, in order."""


@dataclass(frozen=True, slots=True)
class Unit:
    """What is ranked and returned whole. `tokens` counts its own text, trimmed, as returned."""

    document: DocumentKey
    span: Span
    tokens: int
    input: str


@dataclass(frozen=True)
class Units:
    """The units of every version of every document, in the order of names, then of places."""

    units: tuple[Unit, ...]
    base_version: str

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """The distinct inputs, in order."""
        return tuple(dict.fromkeys(unit.input for unit in self.units))

    @cached_property
    def input_rows(self) -> NDArray[np.intp]:
        """For each unit the place of its input in `inputs`."""
        rows = {text: row for row, text in enumerate(self.inputs)}
        return np.array([rows[unit.input] for unit in self.units], dtype=np.intp)

    @cached_property
    def _bounds(self) -> dict[DocumentKey, tuple[int, int]]:
        bounds: dict[DocumentKey, tuple[int, int]] = {}
        for place, unit in enumerate(self.units):
            start, _ = bounds.get(unit.document, (place, place))
            bounds[unit.document] = (start, place + 1)
        return bounds

    @cached_property
    def _base(self) -> NDArray[np.bool_]:
        return np.array([unit.document.version == self.base_version for unit in self.units], bool)

    def pool(self, question: Question) -> NDArray[np.bool_]:
        """Which units the question may find: every document in its base version, but the one asked
        about in the version asked about.
        """
        asked = question.document
        if asked.version == self.base_version:
            return self._base
        allowed = self._base.copy()
        for version, is_in in ((self.base_version, False), (asked.version, True)):
            start, end = self._bounds.get(DocumentKey(asked.document, version), (0, 0))
            allowed[start:end] = is_in
        return allowed

    def of(self, document: DocumentKey) -> tuple[Unit, ...]:
        """The units of one version of a document, in order."""
        start, end = self._bounds.get(document, (0, 0))
        return self.units[start:end]

    def neighbours(self, place: int, reach: int) -> list[int]:
        """The places of a unit and of up to `reach` units before and after it in its document."""
        start, end = self._bounds[self.units[place].document]
        return list(range(max(start, place - reach), min(end, place + reach + 1)))


def cut(
    readings: Sequence[Reading], cutter: Cutter, tokenizer: Tokenizer, base_version: str = ""
) -> Units:
    """Cut every reading, in the order of names; a piece without text is no unit."""
    # By name, so that units of equal score stand alike in whatever order a set lists its documents.
    ordered = sorted(readings, key=lambda one: one.key)
    pieces = [(one, piece) for one in ordered for piece in cutter(one)]
    shown = [render("", one.characters[piece.span.start : piece.span.end]) for one, piece in pieces]
    counts = tokenizer.count_many(shown)
    units = tuple(
        Unit(one.key, piece.span, tokens, piece.input)
        for (one, piece), text, tokens in zip(pieces, shown, counts, strict=True)
        if text
    )
    return Units(units, base_version)
