"""Making the damaged rows of a layout again from its text, where a hash proves them.

A chunk is proven by the checksum of its row, or by its input's key together with its neighbours: a
layout's chunks meet. An input is proven by its key, which is made from the text.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import product

from sqlalchemy import Connection

from variorum.chunking.headings import first_character
from variorum.chunking.render import fold_line_ends, heading_prefix, render
from variorum.formats import decode
from variorum.records.errors import InputError
from variorum.records.layout import input_key
from variorum.records.protocols import Embedder
from variorum.records.repairs import Mended
from variorum.records.text import Revision, Text
from variorum.store.audit import Audit, StoredChunk, StoredLayout
from variorum.store.flips import RawRow, Value, raw_seal
from variorum.store.mending import raw_rows, row_name, write_raw
from variorum.store.rewriting import (
    has_unsound_manifest,
    input_id_of,
    mend_metadata,
    model_id_of,
    put_chunk,
)
from variorum.store.schema import chunk as chunk_table
from variorum.store.schema import input_
from variorum.store.schema import layout as layout_table
from variorum.store.seals import insert_rows, name_of, write_json
from variorum.sync.laying import metadata_of
from variorum.sync.slices import Sections, is_parsed_alike, key_of, passage_of

MADE_FROM_TEXT = "text"
"""A row made again from the text of its revision."""

EmbedderOf = Callable[[str], Embedder | None]
"""The model of a fingerprint, where it is at hand."""


def readable(connection: Connection, layout_id: int) -> tuple[StoredLayout, Text] | None:
    """A layout and its text, where its revision is as it was written."""
    for layout in Audit(connection).layouts(layout_id):
        revision = Revision(layout.content, layout.content_type)
        if revision.sha256 == layout.sha256:
            return layout, decode(revision)
    return None


def is_whole(connection: Connection, layout: StoredLayout, text: Text) -> bool:
    """Whether nothing that a layout's text tells is to be made again."""
    if has_unsound_manifest(connection, layout.id):
        return False
    if is_parsed_alike(layout) and layout.outline not in (None, Sections(layout, text).outline):
        return False
    ordinals = [one.ordinal for one in layout.chunks]
    last = layout.chunks[-1].end if layout.chunks else 0
    return (
        ordinals == list(range(len(ordinals)))
        and not text.characters[last:].strip()
        and all(_is_whole(layout, one, text) for one in layout.chunks)
    )


def _is_whole(layout: StoredLayout, one: StoredChunk, text: Text) -> bool:
    return one.is_sound and bool(one.is_input_sound) and one.key == key_of(layout, one, text)


def remade(
    connection: Connection, layout: StoredLayout, text: Text, embedder_of: EmbedderOf
) -> Iterator[Mended]:
    """Within a transaction: what of a layout can be made again. Linear in its chunks."""
    work = _Remaking(connection, layout, text, embedder_of)
    yield from work.outline()
    yield from work.metadata()
    yield from work.chunks()
    [after] = Audit(connection).layouts(layout.id)
    for one in after.chunks:
        if one.is_sound and not (one.is_input_sound and one.key == key_of(after, one, text)):
            yield from work.input(one)


@dataclass(frozen=True, slots=True)
class _Shape:
    """A chunk as it may have been; `meets` says that it begins and ends where its neighbours do."""

    start: int
    end: int
    prefix: str
    meets: bool


class _Remaking:
    """The making again of one layout's rows."""

    def __init__(
        self, connection: Connection, layout: StoredLayout, text: Text, embedder_of: EmbedderOf
    ) -> None:
        self._connection = connection
        self._layout = layout
        self._text = text.characters
        self._sections = Sections(layout, text) if is_parsed_alike(layout) else None
        self._embedder_of = embedder_of

    def outline(self) -> Iterator[Mended]:
        """The outline, where the row's checksum fits with it."""
        found = self._sections and self._sections.outline
        if self._layout.outline is None or found in (None, self._layout.outline):
            return
        [row] = raw_rows(self._connection, layout_table, layout_table.c.id == self._layout.id)
        made = {"outline": str(found).encode()}
        if raw_seal(layout_table, {**row.values, **made}) == row.seal and write_raw(
            self._connection, layout_table, row, **made
        ):
            yield Mended(row_name(layout_table, row), MADE_FROM_TEXT)

    def metadata(self) -> Iterator[Mended]:
        """What the revision says of itself, in the manifest rows whose checksum fits with it."""
        if self._sections is not None:
            with suppress(InputError):
                said = metadata_of(self._sections.structure)
                yield from mend_metadata(self._connection, self._layout.id, said)

    def chunks(self) -> Iterator[Mended]:
        """Every damaged chunk, and each that is missing alone."""
        known = {one.ordinal: one for one in self._layout.chunks if one.is_sound}
        mine = chunk_table.c.layout_id == self._layout.id
        held = {
            ordinal: row
            for row in raw_rows(self._connection, chunk_table, mine)
            if isinstance(ordinal := row.values["ordinal"], int)
        }
        before, ordinal = 0, 0
        while ordinal <= max(held, default=-1) or self._text[before:].strip():
            if ordinal not in known:
                made = self._chunk(ordinal, before, known, held)
                if made is None:
                    return
                yield Mended(put_chunk(self._connection, made), MADE_FROM_TEXT)
                before = int(made["end"])  # type: ignore[call-overload]
            else:
                before = known[ordinal].end
            ordinal += 1

    def _chunk(
        self,
        ordinal: int,
        before: int,
        known: dict[int, StoredChunk],
        held: dict[int, RawRow],
    ) -> dict[str, object] | None:
        """The row at an ordinal, where it is proven."""
        row, after = held.get(ordinal), known.get(ordinal + 1)
        limit = after.start if after else len(self._text)
        proven = None
        for shape in self._shapes(before, limit, row, known):
            passage = render(shape.prefix, self._text[shape.start : shape.end])
            layout = self._layout
            key = input_key(layout.tenant, layout.model_fingerprint, "passage", passage)
            input_id = input_id_of(self._connection, key)
            if input_id is None:
                continue
            made = self._row(ordinal, shape, input_id)
            if (
                made is not None
                and row is not None
                and raw_seal(chunk_table, _raw(made)) == row.seal
            ):
                return made
            proven = proven or (made if shape.meets else None)
        return proven

    def _row(self, ordinal: int, shape: _Shape, input_id: int) -> dict[str, object] | None:
        if self._sections is None:
            return None
        place = first_character(self._text, shape.start, shape.end)
        return {
            "layout_id": self._layout.id,
            "ordinal": ordinal,
            "start": shape.start,
            "end": shape.end,
            "heading_path": list(self._sections.headings.path_at(place)),
            "prefix": shape.prefix,
            "input_id": input_id,
        }

    def _shapes(
        self, before: int, limit: int, row: RawRow | None, known: dict[int, StoredChunk]
    ) -> Iterator[_Shape]:
        starts, ends, prefixes = [before], [limit], [one.prefix for one in known.values()]
        if row is not None:
            starts += _numbers(row.values["start"])
            ends += _numbers(row.values["end"])
            prefixes = [*_texts(row.values["prefix"]), *prefixes]
        for start, end in dict.fromkeys(product(starts, ends)):
            if not 0 <= start < end <= len(self._text):
                continue
            meets = (start, end) == (before, limit)
            for prefix in dict.fromkeys([*prefixes, *self._prefixes(start, end)]):
                yield _Shape(start, end, prefix, meets)

    def _prefixes(self, start: int, end: int) -> Iterator[str]:
        """What may stand before a passage: titles, fewer where there was no room, and a head."""
        yield ""
        if self._sections is None:
            return
        above = self._sections.headings.above(first_character(self._text, start, end))
        repeated = [f"{fold_line_ends(one).strip()}\n" for one in self._sections.repeated()]
        for depth in range(min(self._layout.heading_depth, len(above)) + 1):
            titles = heading_prefix(depth, above)
            yield from (titles + one for one in ["", *repeated])

    def input(self, one: StoredChunk) -> Iterator[Mended]:
        """The input of a sound chunk: its key from the text, its tokens by checksum or model."""
        layout = self._layout
        passage = passage_of(one, self._text)
        key = input_key(layout.tenant, layout.model_fingerprint, "passage", passage)
        rows = raw_rows(self._connection, input_, input_.c.id == one.input_id)
        model_id = model_id_of(self._connection, layout.model_fingerprint)
        if model_id is None or (rows and one.is_input_sound):
            return
        for row in rows:
            ways: list[dict[str, Value]] = [{"key": key}, {"key": key, "model_id": model_id}]
            for made in ways:
                fits = raw_seal(input_, {**row.values, **made}) == row.seal
                if fits and write_raw(self._connection, input_, row, **made):
                    yield Mended(row_name(input_, row), MADE_FROM_TEXT)
                    return
        embedder = self._embedder_of(layout.model_fingerprint)
        if embedder is not None:
            [tokens] = embedder.count([passage])
            counted: dict[str, Value] = {"key": key, "model_id": model_id, "tokens": tokens}
            if self._is_put(one.input_id, rows, counted):
                yield Mended(name_of(input_, (one.input_id,)), MADE_FROM_TEXT)

    def _is_put(self, identifier: int, rows: Sequence[RawRow], made: dict[str, Value]) -> bool:
        if rows:
            return write_raw(self._connection, input_, rows[0], **made)
        return insert_rows(self._connection, input_, [{"id": identifier, **made}]) == 1


def _raw(row: dict[str, object]) -> dict[str, Value]:
    """A row of `chunk` given by value as its file holds it."""
    return {
        **row,  # type: ignore[dict-item]
        "heading_path": write_json(row["heading_path"]).encode(),
        "prefix": str(row["prefix"]).encode(),
    }


def _numbers(value: Value) -> list[int]:
    return [value] if isinstance(value, int) else []


def _texts(value: Value) -> list[str]:
    try:
        return [value.decode()] if isinstance(value, bytes) else []
    except UnicodeDecodeError:
        return []
