"""Running users' functions over the texts of chunks and sections that lack an output.

Each output is kept at once.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path

from variorum.chunking import render
from variorum.chunking.headings import SectionSpans
from variorum.formats import decode, parse
from variorum.records.derivations import Derivation, Unit
from variorum.records.errors import DamagedError, UnavailableError
from variorum.records.layout import output_key
from variorum.records.protocols import Progress
from variorum.records.text import Revision, Text
from variorum.store.derived import record_output, register_derivations
from variorum.store.leases import OUTPUTS, leases
from variorum.store.staged_derived import (
    Lacking,
    Ranges,
    Wanted,
    bringing_documents,
    layouts_lacking,
    outputs_to_make,
    stage_outputs,
    staged_ranges,
    stored_ranges,
)
from variorum.store.staging import Staging
from variorum.sync.sharing import Shared


def stage_lacking(
    staging: Staging, tenant: str, collection_id: int | None, wanted: Sequence[Derivation]
) -> None:
    """Stage what the chunks of the plan's generation lack of each function's outputs.

    Linear in the chunks that lack one.
    """
    for number, one in enumerate(wanted):
        lacking = _Lacking(staging, tenant, number, one)
        for document_id in bringing_documents(staging):
            lacking.stage(staged_ranges(staging, document_id), document_id, None)
        for layout_id in layouts_lacking(staging, collection_id, *one.named):
            with suppress(DamagedError):  # What cannot be read has none until it is repaired.
                lacking.stage(stored_ranges(staging, layout_id), None, layout_id)


@dataclass(frozen=True, slots=True)
class _Lacking:
    """The staging of what one function is to be run over."""

    staging: Staging
    tenant: str
    number: int
    derivation: Derivation

    def stage(self, ranges: Ranges, document_id: int | None, layout_id: int | None) -> None:
        """Stage the chunks of one layout."""
        text = decode(Revision(ranges.content, ranges.content_type))
        texts = texts_of(text, ranges.content_type, ranges.spans, self.derivation.unit)
        keys = {one: output_key(self.tenant, *self.derivation.named, one) for one in set(texts)}
        stage_outputs(
            self.staging,
            [Lacking(document_id, layout_id, place, keys[one]) for place, one in enumerate(texts)],
            [Wanted(keys[one], self.number, one) for one in dict.fromkeys(texts)],
        )


def texts_of(
    text: Text, content_type: str, spans: Iterable[tuple[int, int]], unit: Unit
) -> list[str]:
    """What a function of a unit is given for each chunk of a text, by the chunk's (start, end).

    The chunks of a section share one text: a copy for each would be quadratic in a long section.
    """
    characters = text.characters
    if unit == "section":
        sections = SectionSpans(parse(text, content_type), characters)
        around = (sections.around(start, end) for start, end in spans)
        spans = ((section.start, section.end) for section in around)
    rendered = cache(lambda start, end: render("", characters[start:end]))
    return [rendered(start, end) for start, end in spans]


@dataclass(slots=True)
class Deriving:
    """A run of every function over each text that it was never run over: which outputs were
    made, and why which were not.

    A text that another writer is at is waited for, with nothing of this run's in the way.
    """

    staging: Staging
    wanted: Sequence[Derivation]
    removal: int
    progress: Progress
    total: int
    made: set[bytes] = field(default_factory=set)
    failures: dict[bytes, str] = field(default_factory=dict)
    _ids: list[int] = field(default_factory=list)

    def run(self, folder: Path) -> None:
        """Run them; `folder` is the store's.

        Raises:
            UnavailableError: a function says that it cannot answer now. What was made is kept.
            ConflictError: something was removed from the store meanwhile.
        """
        connection = self.staging.connection
        self._ids = register_derivations(connection, [one.named for one in self.wanted])
        if not self.total:
            return
        with leases(connection, folder) as mine:
            in_work = partial(mine.elsewhere, OUTPUTS)
            Shared(mine, self._untried, in_work, OUTPUTS).rounds(self._make)

    def _untried(self) -> Iterator[Wanted]:
        return (one for one in outputs_to_make(self.staging) if one.key not in self.failures)

    def _make(self, claimed: Iterator[Wanted]) -> None:
        for one in claimed:
            if reason := self._failure(one):
                self.failures[one.key] = reason
            self.progress("derive", len(self.made) + len(self.failures), self.total)

    def _failure(self, one: Wanted) -> str:
        """Make one output and keep it, or why that failed."""
        derivation = self.wanted[one.derivation]
        try:
            made = derivation.function(one.text)
        except UnavailableError:
            raise
        except Exception as error:
            return f"{derivation.name} failed: {type(error).__name__}: {error}"
        if not isinstance(made, str):
            return f"{derivation.name} gave {type(made).__name__}, not text"
        try:
            made.encode()
        except UnicodeEncodeError:
            return f"{derivation.name} gave half a character (a lone surrogate), which is no text"
        record_output(
            self.staging.connection, one.key, self._ids[one.derivation], made, self.removal
        )
        self.made.add(one.key)
        return ""
