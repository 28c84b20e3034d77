"""One generation as one filter lets it through: what every read path works on."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from variorum.access.dates import Interval, us_of
from variorum.access.sections import Outline, kept_back, overlaps
from variorum.access.standing import Standing
from variorum.records.errors import NotFoundError
from variorum.records.names import Citation, DocumentName
from variorum.records.protocols import Vectors
from variorum.records.text import Span
from variorum.store import ann
from variorum.store.fields import Fields
from variorum.store.generations import GenerationRow
from variorum.store.manifests import ManifestRow
from variorum.store.postings import Sought
from variorum.store.recent import Recent
from variorum.store.snapshot import Places, Snapshot
from variorum.store.terms import Occurrences
from variorum.store.visibility import Decision

T = TypeVar("T")


@dataclass(slots=True)
class _Choice:
    """Chosen chunks, held so that no other array has their id, and what was found out about them:
    where their vectors stand (the loads until then, and the row of each), what an approximate
    index holds of them, and what a reader found.
    """

    chosen: NDArray[np.intp]
    rows: tuple[int, NDArray[np.intp]] = (-1, np.empty(0, np.intp))
    mask: tuple[ann.Ann, ann.Mask] | None = None
    found: object = None


class View:
    """The documents, chunks and revisions that pass a filter. Immutable, and safe for many threads.

    What does not pass is not there: not in a list, a count, an error or the work done.
    """

    def __init__(self, snapshot: Snapshot, decision: Decision) -> None:
        self._snapshot = snapshot
        self.decision = decision
        self._choices: Recent[Hashable, NDArray[np.intp]] = Recent(8)
        self._used: Recent[int, _Choice] = Recent(8)

    @property
    def generation(self) -> GenerationRow:
        """The generation that is read."""
        return self._snapshot.generation

    @property
    def collection_id(self) -> int:
        """The collection that is read."""
        return self._snapshot.collection_id

    @property
    def is_owner(self) -> bool:
        """Whether it is the owner who asks."""
        return self.decision.is_owner

    @cached_property
    def documents(self) -> Mapping[int, ManifestRow]:
        """Every document of the generation that passes, by its manifest row's id."""
        rows = self._snapshot.documents
        ids = np.fromiter((row.document_id for row in rows.values()), np.int64, len(rows))
        passing = self.decision.passes(ids)
        narrowed = self._snapshot.narrowed_rows
        if passing.all() and not narrowed:
            return rows
        return {
            identifier: row
            for (identifier, row), passes in zip(rows.items(), passing, strict=True)
            if passes and (identifier not in narrowed or self.decision.passes_row(row))
        }

    @cached_property
    def places(self) -> Places:
        """Every chunk of the generation that passes, section by section."""
        places = self._snapshot.places
        passing = np.ones(places.input_ids.size, np.bool_)
        if self.documents is not self._snapshot.documents:
            passing = np.isin(places.manifest_ids, np.fromiter(self.documents, np.int64))
        for identifier, spans in self.kept_back.items():
            first, last = np.searchsorted(places.manifest_ids, [identifier, identifier + 1])
            for span in spans:
                inside = (places.starts[first:last] < span.end) & (
                    places.ends[first:last] > span.start
                )
                passing[first:last] &= ~inside
        return places if passing.all() else places.chosen(passing)

    @cached_property
    def fields(self) -> Fields:
        """The user's metadata of the documents of which a chunk passes, typed and by key."""
        rows = self.documents
        return Fields.of(rows[one] for one in np.unique(self.places.manifest_ids).tolist())

    def changed_since(self, since_us: int) -> set[int]:
        """The manifest rows of documents that came to stand as they do at an instant or later."""
        published = self._snapshot.created_at
        numbers = {
            number
            for number, created_at in published.items()
            if us_of(datetime.fromisoformat(created_at)) >= since_us
        }
        return {row.id for row in self.documents.values() if row.from_generation in numbers}

    def chosen(self, key: Hashable, choose: Callable[[], NDArray[np.intp]]) -> NDArray[np.intp]:
        """Places of chunks that were chosen under `key` before; chosen now where they were not."""
        return self._choices.get(key, choose)

    @cached_property
    def name_order(self) -> NDArray[np.int64]:
        """Which document, in the order of their names, each chunk of `places` is of."""
        rows = sorted(self.documents.values(), key=lambda row: row.document)
        ids = np.fromiter((row.id for row in rows), np.int64, len(rows))
        order = np.argsort(ids)
        found: NDArray[np.int64] = order[np.searchsorted(ids[order], self.places.manifest_ids)]
        return found

    @cached_property
    def kept_back(self) -> dict[int, list[Span]]:
        """What sections keep back of the generation's documents, by manifest row."""
        sections = self.decision.sections
        passing = {row.id: row.document_id for row in self.documents.values()}
        wanted = [one for one in passing.values() if one in sections]
        outlines = self._snapshot.outlines(wanted) if wanted else {}
        return {
            row: spans
            for row, outline in outlines.items()
            if row in passing and (spans := self._spans(passing[row], outline))
        }

    def _spans(self, document_id: int, outline: Outline | None) -> list[Span]:
        asked = self.decision.filter
        sections = self.decision.sections.get(document_id, ())
        return kept_back(sections, outline, asked.readers, asked.at_us)

    def vectors(self, chosen: NDArray[np.intp]) -> tuple[Vectors, NDArray[np.intp]]:
        """A matrix of vectors, and the row in it of each chosen chunk of `places`.

        The rows are kept for the arrays that were asked for last: a choice that is used again is
        not looked up again.
        """
        choice = self._choice(chosen)
        loads, rows = choice.rows
        matrix = self._snapshot.matrix_of(loads)
        if matrix is None:
            found = self._snapshot.vector_rows(self.places.input_ids[chosen])
            # The rows alone are kept: a matrix that has grown since must not live on here.
            matrix, rows, choice.rows = found.matrix, found.rows, (found.loads, found.rows)
        return matrix, rows

    def near(
        self, chosen: NDArray[np.intp], query: NDArray[np.float32], k: int
    ) -> NDArray[np.intp] | None:
        """Places in `chosen`, ascending, of at least k chunks that may be the k nearest to `query`.

        By an approximate index; None where there is none, or all are to be looked at. Always for
        those from whom something is kept back: which near rows an index misses hangs together with
        all the others in it.
        """
        if chosen.size < ann.LEAST_ROWS or self._keeps_back or not (index := self._snapshot.ann()):
            return None
        choice = self._choice(chosen)
        if choice.mask is None or choice.mask[0] is not index:
            choice.mask = (index, index.mask(self.places.input_ids[chosen]))
        return index.near(choice.mask[1], query, k)

    @cached_property
    def _keeps_back(self) -> bool:
        """Whether rights hide anything of the generation."""
        return not self.is_owner and self.places is not self._snapshot.places

    def once(self, chosen: NDArray[np.intp], find: Callable[[], T]) -> T:
        """What `find` says of the chosen chunks: found once, and kept as long as they are.

        One kind of finding alone is kept.
        """
        choice = self._choice(chosen)
        if choice.found is None:
            choice.found = find()
        return cast(T, choice.found)

    def _choice(self, chosen: NDArray[np.intp]) -> _Choice:
        return self._used.get(id(chosen), lambda: _Choice(chosen))

    def require_terms(self, analyzer: str) -> None:
        """Refuse to go on where the store has no terms of `analyzer`.

        Raises:
            UnsupportedError: it has none, or not of every chunk.
        """
        self._snapshot.require_terms(analyzer)

    def lengths(self, input_ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many terms each input of the view has, repetitions counted; ids ascending."""
        return self._snapshot.lengths(input_ids)

    def occurrences(
        self, terms: Sequence[Sought], input_ids: NDArray[np.int64], analyzer: str
    ) -> list[Occurrences]:
        """For each of `terms`, which of some inputs of the view, ascending, hold it.

        Raises:
            UnsupportedError: the store has no terms of `analyzer`, or not of every chunk.
        """
        return self._snapshot.occurrences(terms, input_ids, analyzer)

    def content(self, revision_id: int) -> bytes:
        """The bytes of a revision, of a row that passes."""
        return self._snapshot.content(revision_id)

    def heading_paths(self, chunks: Iterable[tuple[int, int]]) -> list[tuple[str, ...]]:
        """The headings, outermost first, that each chunk (layout id, ordinal) stands under."""
        return self._snapshot.heading_paths(chunks)

    def derived(self, chunks: Iterable[tuple[ManifestRow, int]]) -> list[dict[str, str]]:
        """What users' functions made of each chunk (row, ordinal) that passes, by name.

        Of its section only where nothing of the document is kept back.
        """
        return self._snapshot.derived(
            (row.layout_id, ordinal, row.id not in self.kept_back) for row, ordinal in chunks
        )

    def earlier_revisions(self, row: ManifestRow) -> Iterator[tuple[int, str]]:
        """(revision id, when it was published) of a document, newest first, from `row` back.

        Ends where what came before does not pass.
        """
        return self._snapshot.earlier_revisions(row, self._passed_then)

    def _passed_then(self, document_id: int, reader_set_id: int | None) -> bool:
        return self.decision.passes_document(document_id) and self.decision.passes_narrowing(
            reader_set_id
        )

    def find_revision(self, citation: Citation) -> ManifestRow:
        """What history keeps of the cited revision, newest first, that passes with the whole range.

        A document that does not pass and one that is not there take the same steps to here.

        Raises:
            NotFoundError: no such document, no such revision of it, or it does not pass.
            DamagedError: the document passes, and its history is not as it was written.
        """
        identifier = self._snapshot.document_ids.get(citation.document)
        if identifier is not None and self.decision.passes_document(identifier):
            for row in self._snapshot.revisions_of(identifier, citation.revision):
                if self.decision.passes_row(row) and self._range_passes(row, citation):
                    return row
            self._snapshot.require_sound_revisions(identifier)
        raise NotFoundError(
            "no such revision of that document in the index",
            kind="no-such-citation",
            subject=str(citation),
            expected="a document and revision that a kept generation holds",
            found="none that can be read here",
            remedy="copy the citation as `variorum search` printed it, in quotes",
        )

    def _range_passes(self, row: ManifestRow, citation: Citation) -> bool:
        end = max(citation.end, citation.start + 1)
        return not overlaps(self.kept_back_of(row), citation.start, end)

    def document_id(self, name: DocumentName) -> int:
        """The id of a document that the collection holds or ever held, for the owner's questions.

        Raises:
            NotFoundError: it never did.
        """
        identifier = self._snapshot.document_ids.get(name)
        if identifier is None:
            raise NotFoundError(
                f"the collection never held {name}",
                kind="no-such-document",
                subject=str(name),
                expected="a document of a published generation",
                found=str(name),
                remedy="copy the name from `variorum search` or `variorum access what`",
            )
        return identifier

    def narrowed_to(self, document_id: int) -> int | None:
        """The reader set that a document's last synced revision narrows it to."""
        return self._snapshot.narrowed_to(document_id)

    def passes(self, row: ManifestRow, span: Span) -> bool:
        """Whether a range of a document of the generation may be read, whole."""
        kept = self.kept_back.get(row.id, ())
        return row.id in self.documents and not overlaps(kept, span.start, span.end)

    def kept_back_of(self, row: ManifestRow) -> list[Span]:
        """What sections keep back of a revision, in order."""
        if row.document_id not in self.decision.sections:
            return []
        return self._spans(row.document_id, self._snapshot.outline(row.layout_id))

    def standings(self, rows: Iterable[ManifestRow]) -> dict[int, Standing]:
        """Authority and interval of revisions, by manifest row."""
        asked = list(rows)
        said: Mapping[int, Standing] = {}
        if self.decision.filter.policy_version:
            said = self._snapshot.authorities([row.document_id for row in asked])
        return {row.id: _standing(said.get(row.document_id, Standing()), row) for row in asked}

    def is_current(self, row: ManifestRow) -> bool:
        """Whether the generation still shows this revision of the document."""
        return any(
            one.document_id == row.document_id and one.revision_id == row.revision_id
            for one in self.documents.values()
        )


def _standing(said: Standing, row: ManifestRow) -> Standing:
    own = Interval(row.effective_from, row.effective_until)
    return Standing(said.authority, said.interval.within(own))
