"""Taking an export into a store: every row under an id of this store, what it has shared.

A model, a recipe, a revision, an input or a layout that the store already holds is not written
again; its vector stays the one that is here.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby, islice
from typing import Any

from sqlalchemy import Connection, Table, func, select, tuple_

from variorum.records.errors import ConflictError
from variorum.store.derived import note_derivations
from variorum.store.engine import write_transaction
from variorum.store.lexicon import claim
from variorum.store.portable import PARTS
from variorum.store.reading_exports import Export, Row
from variorum.store.schema import audit, chunk, collection, head, layout, policy
from variorum.store.seals import insert_rows, reseal_row

_PAGE = 400
_NATURAL_KEYS = {
    "model": ("fingerprint",),
    "recipe": ("fingerprint",),
    "reader_set": ("digest",),
    "document": ("collection_id", "source", "path"),
    "revision": ("tenant", "sha256"),
    "input": ("key",),
    "derivation": ("name", "version"),
    "output": ("key",),
}
"""What tells that a row is here already; its id is then the one to refer to."""

_OF_A_LAYOUT = ("start", "end", "heading_path", "prefix", "input_id")
_GROUP = ("revision_id", "recipe_id", "content_type", "parser")


def import_rows(
    connection: Connection,
    collection_id: int,
    export: Export,
    analyzer: str,
    index: Callable[[Connection], None],
) -> None:
    """Insert every row of an export as those of a collection without any, in one transaction.

    `index` gives the chunks their terms, by `analyzer`.

    Raises:
        ConflictError: the collection has a generation, or a policy; or the store's terms are being
            made anew.
    """
    with write_transaction(connection):
        _require_empty(connection, collection_id, export)
        claim(connection, analyzer)
        rows = _Importing(connection, collection_id, export)
        for name in PARTS:
            rows.take(name)
        note_derivations(connection, collection_id)
        index(connection)
        _count_readings(connection, collection_id)


def _count_readings(connection: Connection, collection_id: int) -> None:
    """Note how many readings were logged, so that one that is gone is missed."""
    query = select(func.count()).where(audit.c.collection_id == collection_id)
    readings = connection.execute(query).scalar_one()
    reseal_row(connection, collection, collection_id, readings=readings)


def _require_empty(connection: Connection, collection_id: int, export: Export) -> None:
    query = select(head.c.generation).where(head.c.collection_id == collection_id)
    newest = connection.execute(query).scalar()
    policies = select(func.count()).where(policy.c.collection_id == collection_id)
    if newest is not None or connection.execute(policies).scalar_one():
        raise ConflictError(
            "there is a collection in the store already; nothing was imported",
            kind="collection-exists",
            subject=export.collection,
            expected="a collection that was never published",
            found=f"one with generation {newest}" if newest else "one with a policy",
            remedy="name another store with --store, or another collection with --collection",
        )


class _Importing:
    """One import within its transaction; `_ids` maps the ids of the file to those of the store."""

    def __init__(self, connection: Connection, collection_id: int, export: Export) -> None:
        self._connection = connection
        self._collection_id = collection_id
        self._export = export
        self._ids: dict[str, dict[int, int]] = {}
        self._waiting: dict[int, Row] = {}
        self._shared: dict[tuple[object, ...], bool] = {}

    def take(self, name: str) -> None:
        """Insert the rows of one part."""
        rows = (self._referring(name, row) for row in self._export.part(name))
        if name == "layout":
            self._take_layouts(rows)
        elif name == "chunk":
            self._take_chunks(rows)
        else:
            for page in _pages(rows):
                self._insert(PARTS[name].table, page)

    def _referring(self, name: str, row: Row) -> Row:
        """The row with the ids of this store in the place of the file's."""
        for column in PARTS[name].columns:
            if column.name == "collection_id":
                row[column.name] = self._collection_id
            elif row.get(column.name) is not None and (name, column.name) != _LATE:
                for key in column.foreign_keys:
                    row[column.name] = self._ids[key.column.table.name][row[column.name]]
        return row

    def _insert(self, table: Table, rows: Iterable[Row]) -> None:
        given = list(rows)
        plain = [{name: row[name] for name in row if name != "id"} for row in given]
        if "id" not in table.primary_key.columns:
            insert_rows(self._connection, table, given)
            return
        insert_rows(self._connection, table, plain)
        if table.name in _NATURAL_KEYS:
            self._note_ids(table, given)

    def _note_ids(self, table: Table, rows: list[Row]) -> None:
        names = _NATURAL_KEYS[table.name]
        columns = [table.c[name] for name in names]
        wanted = {tuple(row[name] for name in names): row["id"] for row in rows}
        query = select(table.c.id, *columns).where(tuple_(*columns).in_(list(wanted)))
        ids = self._ids.setdefault(table.name, {})
        for identifier, *key in self._connection.execute(query):
            ids[wanted[tuple(key)]] = identifier

    def _take_layouts(self, rows: Iterator[Row]) -> None:
        """Insert layouts; where the store has others of the revision, wait for the chunks."""
        self._ids["layout"] = {}
        for row in rows:
            group = tuple(row[name] for name in _GROUP)
            if group not in self._shared:
                self._shared[group] = bool(self._stored_layouts(row))
            if self._shared[group]:
                self._waiting[row["id"]] = row
            else:
                self._ids["layout"][row["id"]] = self._insert_layout(row, row["ordinal"])

    def _stored_layouts(self, row: Row) -> list[tuple[int, int]]:
        """(id, ordinal) of the store's layouts of the same revision under the same settings."""
        query = select(layout.c.id, layout.c.ordinal)
        for name in _GROUP:
            query = query.where(layout.c[name] == row[name])
        return [(one.id, one.ordinal) for one in self._connection.execute(query)]

    def _insert_layout(self, row: Row, ordinal: int) -> int:
        values = {name: row[name] for name in (*_GROUP, "outline")} | {"ordinal": ordinal}
        insert_rows(self._connection, layout, [values])
        return int(self._connection.execute(select(func.max(layout.c.id))).scalar_one())

    def _take_chunks(self, rows: Iterator[Row]) -> None:
        for identifier, group in groupby(rows, key=lambda row: int(row["layout_id"])):
            self._take_layout(identifier, list(group))
        for identifier in list(self._waiting):
            self._take_layout(identifier, [])

    def _take_layout(self, identifier: int, chunks: list[Row]) -> None:
        ids = self._ids["layout"]
        waiting = self._waiting.pop(identifier, None)
        if waiting is not None:
            stored = self._stored_layouts(waiting)
            same = next((one for one, _ in stored if self._chunks(one) == _plain(chunks)), None)
            if same is not None:
                ids[identifier] = same
                return
            newest = max((ordinal for _, ordinal in stored), default=-1)
            ids[identifier] = self._insert_layout(waiting, newest + 1)
        for page in _pages(iter(chunks)):
            own = [{**row, "layout_id": ids[identifier]} for row in page]
            insert_rows(self._connection, chunk, own)

    def _chunks(self, layout_id: int) -> list[tuple[object, ...]]:
        query = (
            select(*(chunk.c[name] for name in _OF_A_LAYOUT))
            .where(chunk.c.layout_id == layout_id)
            .order_by(chunk.c.ordinal)
        )
        return _plain(row._mapping for row in self._connection.execute(query))


_LATE = ("chunk", "layout_id")
"""Known only when the chunks of a layout have been compared."""


def _pages(rows: Iterator[Row]) -> Iterator[list[Row]]:
    while page := list(islice(rows, _PAGE)):
        yield page


def _plain(rows: Iterable[Mapping[Any, Any]]) -> list[tuple[object, ...]]:
    return [
        tuple(list(row[name]) if name == "heading_path" else row[name] for name in _OF_A_LAYOUT)
        for row in rows
    ]
