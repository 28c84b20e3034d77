"""A plan on its way to a generation: staged rows that no reader can see.

Staged rows live in temporary tables of one connection, on disk and outside the store, so a plan of
any size takes bounded memory, a plan that is dropped leaves nothing behind, and a publish is a few
statements that copy sets of rows.
"""

import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import (
    Connection,
    Integer,
    bindparam,
    delete,
    func,
    insert,
    select,
    update,
)

from variorum.records.layout import Chunk
from variorum.records.names import DocumentName
from variorum.store.conflict import insert_ignoring
from variorum.store.contents import read_content
from variorum.store.known import read_documents
from variorum.store.manifests import ManifestRow
from variorum.store.schema import chunk, input_, layout, manifest, vector
from variorum.store.schema import revision as revision_table
from variorum.store.seals import require_sound, unsound
from variorum.store.staged import staged_chunk, staged_document, staged_input, temporary
from variorum.store.temporary import drop_temporary, make_temporary

# Built once: they run for every document of a plan, and building costs more than running.
_STORED_LAYOUT = (
    select(layout.c.id, layout.c.ordinal)
    .join(revision_table, revision_table.c.id == layout.c.revision_id)
    .where(
        revision_table.c.tenant == bindparam("tenant"),
        revision_table.c.sha256 == bindparam("sha256"),
        layout.c.recipe_id == bindparam("recipe"),
        layout.c.content_type == bindparam("content_type"),
        layout.c.parser == bindparam("parser"),
    )
    .order_by(layout.c.ordinal.desc())
    .limit(1)
)
_FIRST_USE = (
    select(staged_chunk.c.document_id, staged_chunk.c.ordinal)
    .where(staged_chunk.c.key == staged_input.c.key)
    .order_by(staged_chunk.c.document_id, staged_chunk.c.ordinal)
    .limit(1)
)
_HAND_OVER_INPUTS = (
    update(staged_input)
    .where(staged_input.c.document_id == bindparam("withdrawn"))
    .values(
        document_id=_FIRST_USE.with_only_columns(staged_chunk.c.document_id).scalar_subquery(),
        ordinal=_FIRST_USE.with_only_columns(staged_chunk.c.ordinal).scalar_subquery(),
    )
)
"""An input of a withdrawn document that others share counts for the first of these."""

_NOTE_SENT = update(staged_input).where(staged_input.c.key == bindparam("sent_key")).values(sent=1)
_LAID_OUT_BY = select(staged_document.c.id, staged_document.c.layout_ordinal).where(
    staged_document.c.sha256 == bindparam("sha256"),
    staged_document.c.content_type == bindparam("content_type"),
    staged_document.c.layout_id.is_(None),
    staged_document.c.laid_out_by.is_(None),
)
BATCH_STEPS = 256
"""Steps of staging that share a transaction; one document takes about four."""

_INSERT_DOCUMENT = insert(staged_document)
_INSERT_CHUNK = insert(staged_chunk)


@dataclass(frozen=True, slots=True)
class StagedRevision:
    """A revision that a plan wants to publish for a document.

    `closes` is the manifest row that it replaces, if any; `action` is "added", "changed" or "held"
    (a held document that only a change of recipe lays out again).
    """

    document: DocumentName
    action: str
    content: bytes
    sha256: str
    content_type: str
    parser: str
    metadata: Mapping[str, object]
    closes: int | None
    outline: Sequence[tuple[int, int, Sequence[str]]] = ()


@dataclass(frozen=True, slots=True)
class StagedInput:
    """An input without a vector, as the planner left it."""

    key: bytes
    tokens: int
    text: str


class _Place(NamedTuple):
    """A layout, or a staged document that brings one; its ordinal among those of its revision."""

    id: int
    ordinal: int


class Staging:
    """The staged rows of one plan, on one connection. Use it from one thread."""

    def __init__(self, connection: Connection, tenant: str, recipe_id: int | None) -> None:
        self.connection = connection
        self.tenant = tenant
        self.recipe_id = recipe_id
        self._last_id = 0
        self._batch_left = 0
        self._last_stored: tuple[tuple[str, str, str], _Place | None] | None = None
        with connection.begin():
            make_temporary(connection, temporary)

    def drop(self) -> None:
        """Give the staged rows' space back."""
        with self.connection.begin():
            drop_temporary(self.connection, temporary)

    @contextmanager
    def batches(self) -> Iterator[None]:
        """Stage many documents: inside the block a transaction is shared by several steps.

        Committing each of them costs more than the rows.
        """
        self._batch_left = BATCH_STEPS
        try:
            yield
            self._end_batch()
        finally:
            self._batch_left = 0
            if self.connection.in_transaction():
                self.connection.rollback()

    @contextmanager
    def _step(self) -> Iterator[None]:
        """One step of staging: a transaction of its own, or a part of the batch's."""
        if not self._batch_left:
            with self.connection.begin():
                yield
            return
        yield
        self._batch_left -= 1
        if not self._batch_left:
            self._end_batch()
            self._batch_left = BATCH_STEPS

    def _end_batch(self) -> None:
        if self.connection.in_transaction():
            self.connection.commit()

    @property
    def is_empty(self) -> bool:
        """Whether nothing was ever staged."""
        return not self._last_id

    def stage_removal(self, document: DocumentName, closes: int) -> None:
        """Stage that a document is gone from its source."""
        with self._step():
            self._insert_document(
                action="removed", source=document.source, path=document.path, closes=closes
            )

    def reuse_layout(self, staged: StagedRevision) -> bool:
        """Stage `staged` with the newest layout that history holds, or else one of this plan.

        False where neither has one: lay it out, then call `stage_layout` (invariant 11).
        """
        with self._step():
            stored = self._stored_layout(staged)
            if stored is None:
                return self._share_layout(staged)
            self._reuse(staged, stored)
            return True

    def knows_layout(self, staged: StagedRevision) -> bool:
        """Whether history, or this plan so far, has a layout of the revision."""
        with self._step():
            return (self._stored_layout(staged) or self._laid_out_by(staged)) is not None

    def share_layout(self, staged: StagedRevision) -> bool:
        """Stage `staged` with the layout that another document of this plan brings, if one does."""
        with self._step():
            return self._share_layout(staged)

    def _share_layout(self, staged: StagedRevision) -> bool:
        first = self._laid_out_by(staged)
        if first is None:
            return False
        identifier = self._stage(staged, ordinal=first.ordinal, laid_out_by=first.id)
        self._copy_staged_chunks(first.id, identifier)
        return True

    def _reuse(self, staged: StagedRevision, stored: _Place) -> None:
        identifier = self._stage(staged, layout_id=stored.id, ordinal=stored.ordinal)
        self._copy_chunks_of_layout(stored.id, identifier)

    def stage_layout(
        self,
        staged: StagedRevision,
        chunks: Sequence[Chunk],
        keys: Sequence[bytes],
        inputs: Sequence[str],
    ) -> None:
        """Stage a new layout: chunk `i` is embedded as `inputs[i]`, whose key is `keys[i]`.

        It becomes the newest of its revision; one that is stored stays as it is.
        """
        with self._step():
            stored = self._stored_layout(staged)
            identifier = self._stage(staged, ordinal=0 if stored is None else stored.ordinal + 1)
            if chunks:
                self._insert_chunks(identifier, chunks, keys)
                self._insert_inputs(identifier, chunks, keys, inputs)

    def _insert_chunks(
        self, identifier: int, chunks: Sequence[Chunk], keys: Sequence[bytes]
    ) -> None:
        rows = [
            {
                "document_id": identifier,
                "ordinal": ordinal,
                "start": piece.start,
                "end": piece.end,
                "heading_path": list(piece.heading_path),
                "prefix": piece.prefix,
                "key": key,
            }
            for ordinal, (piece, key) in enumerate(zip(chunks, keys, strict=True))
        ]
        self.connection.execute(_INSERT_CHUNK, rows)

    def _insert_inputs(
        self,
        identifier: int,
        chunks: Sequence[Chunk],
        keys: Sequence[bytes],
        inputs: Sequence[str],
    ) -> None:
        places = enumerate(zip(chunks, keys, inputs, strict=True))
        rows = [
            {
                "key": key,
                "tokens": piece.tokens,
                "text": text,
                "document_id": identifier,
                "ordinal": ordinal,
            }
            for ordinal, (piece, key, text) in places
        ]
        self.connection.execute(insert_ignoring(self.connection.dialect.name, staged_input), rows)

    def open_rows(
        self, collection_id: int | None, known: Mapping[int, ManifestRow]
    ) -> dict[int, ManifestRow]:
        """The manifest rows of the newest generation, by their ids; the `known` are not read again.

        Linear in the collection's documents.
        """
        is_open = manifest.c.to_generation.is_(None)
        with self._step():
            return read_documents(self.connection, collection_id or 0, is_open, known)

    def content(self, revision_id: int) -> bytes:
        """The stored bytes of a revision."""
        with self._step():
            return read_content(self.connection, revision_id)

    def chunks(self, layout_id: int) -> tuple[Chunk, ...]:
        """Every chunk of a stored layout, in order."""
        query = (
            select(
                chunk.c.start,
                chunk.c.end,
                input_.c.tokens,
                chunk.c.heading_path,
                chunk.c.prefix,
                *unsound(chunk, input_),
            )
            .join(input_, input_.c.id == chunk.c.input_id)
            .where(chunk.c.layout_id == layout_id)
            .order_by(chunk.c.ordinal)
        )
        with self._step():
            rows = [require_sound(row, 2) for row in self.connection.execute(query)]
        return tuple(
            Chunk(start, end, tokens, tuple(path), prefix)
            for start, end, tokens, path, prefix in rows
        )

    def actions(self) -> dict[str, int]:
        """How many staged documents each action has."""
        if self.is_empty:
            return {}
        query = select(staged_document.c.action, func.count()).group_by(staged_document.c.action)
        with self._step():
            return {row.action: row[1] for row in self.connection.execute(query)}

    def forget_known_texts(self) -> None:
        """Drop the texts of inputs that have a vector: nothing will ask for them."""
        if self.is_empty:
            return
        with_vector = (
            select(input_.c.key)
            .join(vector, vector.c.input_id == input_.c.id)
            .where(input_.c.key == staged_input.c.key)
        )
        forget = update(staged_input).where(with_vector.exists()).values(text=None)
        with self._step():
            self.connection.execute(forget)

    def note_sent(self, keys: Sequence[bytes]) -> None:
        """Note that the model has answered these inputs: this run asks for them no more."""
        with self._step():
            self.connection.execute(_NOTE_SENT, [{"sent_key": key} for key in keys])

    def forget_unsent(self) -> int:
        """Drop the texts of the inputs that another writer has embedded meanwhile; how many.

        From then on they count as reused: this run did not pay for them.
        """
        unsent = (staged_input.c.text.is_not(None), staged_input.c.sent == 0)
        with self._step():
            done = self.connection.execute(update(staged_input).where(*unsent).values(text=None))
        return int(done.rowcount)

    def inputs_to_embed(self, page_size: int = 512) -> Iterator[StagedInput]:
        """Inputs that had no vector, and that this run did not send yet, in document order.

        Read a page at a time.
        """
        position = (0, -1)
        while page := self._page_to_embed(position, page_size):
            for document_id, ordinal, key, tokens, text in page:
                yield StagedInput(key, tokens, text)
                position = (document_id, ordinal)

    def _page_to_embed(
        self, position: tuple[int, int], page_size: int
    ) -> list[tuple[int, int, bytes, int, str]]:
        place = (staged_input.c.document_id, staged_input.c.ordinal)
        after = (place[0] > position[0]) | ((place[0] == position[0]) & (place[1] > position[1]))
        query = (
            select(*place, staged_input.c.key, staged_input.c.tokens, staged_input.c.text)
            .where(staged_input.c.text.is_not(None), staged_input.c.sent == 0, after)
            .order_by(*place)
            .limit(page_size)
        )
        with self._step():
            return [tuple(row) for row in self.connection.execute(query)]

    def documents_with_input(self, key: bytes) -> list[tuple[DocumentName, bool]]:
        """The staged documents that need input `key`, and whether each is new to the collection."""
        query = (
            select(staged_document.c.source, staged_document.c.path, staged_document.c.closes)
            .join(staged_chunk, staged_chunk.c.document_id == staged_document.c.id)
            .where(staged_chunk.c.key == key)
            .distinct()
        )
        with self._step():
            rows = self.connection.execute(query).all()
        return [(DocumentName(row.source, row.path), row.closes is None) for row in rows]

    def withdraw(self, document: DocumentName) -> None:
        """Unstage a document whose input the model rejected: it stays at its last good revision."""
        with self._step():
            identifier = self.connection.execute(
                select(staged_document.c.id).where(
                    staged_document.c.source == document.source,
                    staged_document.c.path == document.path,
                )
            ).scalar()
            if identifier is None:
                return
            self._hand_over_layout(identifier)
            self.connection.execute(
                delete(staged_chunk).where(staged_chunk.c.document_id == identifier)
            )
            self.connection.execute(
                delete(staged_document).where(staged_document.c.id == identifier)
            )
            needed = select(staged_chunk.c.key).where(staged_chunk.c.key == staged_input.c.key)
            self.connection.execute(delete(staged_input).where(~needed.exists()))
            self.connection.execute(_HAND_OVER_INPUTS, {"withdrawn": identifier})

    def _hand_over_layout(self, identifier: int) -> None:
        """Another staged document of the same revision becomes the one that brings the layout."""
        heir = self.connection.execute(
            select(staged_document.c.id)
            .where(staged_document.c.laid_out_by == identifier)
            .order_by(staged_document.c.id)
        ).scalar()
        if heir is None:
            return
        self.connection.execute(
            update(staged_document)
            .where(staged_document.c.laid_out_by == identifier)
            .values(laid_out_by=heir)
        )
        self.connection.execute(
            update(staged_document)
            .where(staged_document.c.id == heir)
            .values(laid_out_by=None, outline=self._outline(identifier))
        )

    def _outline(self, identifier: int) -> object:
        query = select(staged_document.c.outline).where(staged_document.c.id == identifier)
        return self.connection.execute(query).scalar_one()

    def _stage(
        self,
        staged: StagedRevision,
        *,
        ordinal: int,
        layout_id: int | None = None,
        laid_out_by: int | None = None,
    ) -> int:
        return self._insert_document(
            action=staged.action,
            source=staged.document.source,
            path=staged.document.path,
            closes=staged.closes,
            content_type=staged.content_type,
            parser=staged.parser,
            metadata=dict(staged.metadata),
            outline=list(staged.outline),
            sha256=staged.sha256,
            size_bytes=len(staged.content),
            content=zlib.compress(staged.content, 6),
            layout_id=layout_id,
            layout_ordinal=ordinal,
            laid_out_by=laid_out_by,
        )

    def _insert_document(self, **values: object) -> int:
        self._last_id += 1
        row = {"id": self._last_id, "tenant": self.tenant, **values}
        self.connection.execute(_INSERT_DOCUMENT, [row])
        return self._last_id

    def newest_layout(self, staged: StagedRevision) -> int | None:
        """The id of the newest stored layout of a revision under the recipe, if there is one."""
        with self._step():
            stored = self._stored_layout(staged)
        return None if stored is None else stored.id

    def _stored_layout(self, staged: StagedRevision) -> _Place | None:
        """The newest stored layout of the revision; asked for again right away, it is at hand."""
        if self.recipe_id is None:
            return None
        asked = (staged.sha256, staged.content_type, staged.parser)
        if self._last_stored is None or self._last_stored[0] != asked:
            self._last_stored = (asked, self._find_stored_layout(staged))
        return self._last_stored[1]

    def _find_stored_layout(self, staged: StagedRevision) -> _Place | None:
        wanted = {
            "tenant": self.tenant,
            "sha256": staged.sha256,
            "recipe": self.recipe_id,
            "content_type": staged.content_type,
            "parser": staged.parser,
        }
        row = self.connection.execute(_STORED_LAYOUT, wanted).one_or_none()
        return None if row is None else _Place(row.id, row.ordinal)

    def _laid_out_by(self, staged: StagedRevision) -> _Place | None:
        wanted = {"sha256": staged.sha256, "content_type": staged.content_type}
        row = self.connection.execute(_LAID_OUT_BY, wanted).first()
        return None if row is None else _Place(row.id, row.layout_ordinal)

    def _copy_chunks_of_layout(self, layout_id: int, identifier: int) -> None:
        rows = (
            select(
                bindparam("staged", identifier, type_=Integer),
                chunk.c.ordinal,
                chunk.c.start,
                chunk.c.end,
                chunk.c.heading_path,
                chunk.c.prefix,
                input_.c.key,
            )
            .join(input_, input_.c.id == chunk.c.input_id)
            .where(chunk.c.layout_id == layout_id)
        )
        self.connection.execute(insert(staged_chunk).from_select(list(staged_chunk.c), rows))
        inputs = (
            select(
                input_.c.key,
                input_.c.tokens,
                bindparam("staged", identifier, type_=Integer),
                chunk.c.ordinal,
            )
            .join(input_, input_.c.id == chunk.c.input_id)
            .where(chunk.c.layout_id == layout_id)
        )
        columns = ["key", "tokens", "document_id", "ordinal"]
        self.connection.execute(
            insert_ignoring(self.connection.dialect.name, staged_input).from_select(columns, inputs)
        )

    def _copy_staged_chunks(self, first: int, identifier: int) -> None:
        rows = select(
            bindparam("staged", identifier, type_=Integer),
            *[column for column in staged_chunk.c if column.name != "document_id"],
        ).where(staged_chunk.c.document_id == first)
        self.connection.execute(insert(staged_chunk).from_select(list(staged_chunk.c), rows))
