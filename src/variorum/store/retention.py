"""Taking rows out: what goes with what, declared for every table.

A removal first lists what goes in a temporary table, by kind: manifest rows, then the layouts,
revisions and inputs that nothing kept still holds. Then each table that follows one of these loses
its rows. A table that is in neither mapping below fails the tests.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Integer,
    MetaData,
    Select,
    String,
    Table,
    delete,
    func,
    insert,
    literal,
    select,
)

from variorum.records.retention import Removed
from variorum.store.costs import cost
from variorum.store.forgetting import drop_unused_sets
from variorum.store.schema import (
    chunk,
    derivation,
    derived,
    document,
    input_,
    lease,
    manifest,
    metadata,
    output,
    revision,
    vector,
)
from variorum.store.temporary import drop_temporary, make_temporary
from variorum.store.unindexing import drop_postings

FOLLOWS: dict[str, tuple[str, str]] = {
    "manifest": ("id", "manifest"),
    "layout": ("id", "layout"),
    "chunk": ("layout_id", "layout"),
    "revision": ("id", "revision"),
    "derived": ("layout_id", "layout"),
    "output": ("id", "output"),
    "input": ("id", "input"),
    "vector": ("input_id", "input"),
    "indexed": ("input_id", "input"),
    "access_grant": ("document_id", "document"),
    "document": ("id", "document"),
    cost.name: ("document_id", "document"),
}
"""The tables whose rows go: by which column, and with what. Documents go by erasure alone."""

STAYS: dict[str, str] = {
    "collection": "names a collection",
    "head": "where a collection stands",
    "model": "names a model",
    "recipe": "names settings",
    "derivation": "names a user's function",
    "generation": "the line of the log; an erasure takes the document's name out of its report",
    "source": "names a source",
    "held": "what the last listing held; an erasure takes the document out",
    "lease": "ends with its writer; a prune spares what it names, an erasure waits for its end",
    "unpublished": "sums of a run, of no document",
    "removal": "the log of removals",
    "lexicon": "names an analyzer",
    "posting": "lists of inputs, made again without those that go",
    "reader_set": "a set that no row refers to any more goes too",
    "reader": "goes with its set",
    "policy": "the log; an erasure takes the document's name out of its texts",
    "audit": "the log; an erasure takes citations of the document out, with their queries",
    "denied": "digests of the names that must not come back",
}
"""The tables whose rows stay, and why that leaves nothing of a document behind."""

ROOTS = frozenset({"document", "manifest", "layout", "revision", "input", "output"})

_temporary = MetaData()
_gone = Table(
    "staged_gone",
    _temporary,
    Column("kind", String, primary_key=True),
    Column("id", Integer, primary_key=True),
    prefixes=["TEMPORARY"],
)


def undeclared(tables: MetaData = metadata) -> list[str]:
    """Tables that nobody said how to retain, or wrongly said to stay: there must be none."""
    return [name for name, table in tables.tables.items() if not _is_declared(table)]


def _is_declared(table: Table) -> bool:
    if table.name in FOLLOWS:
        return FOLLOWS[table.name][0] in table.c and table.name not in STAYS
    points = {key.column.table.name for key in table.foreign_keys} & ROOTS
    return table.name in STAYS and not points


class Gone:
    """The rows that a removal takes out, listed on one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        with connection.begin():
            make_temporary(connection, _temporary)

    def drop(self) -> None:
        """Forget the list."""
        with self._connection.begin():
            drop_temporary(self._connection, _temporary)

    def list_closed(self, collection_id: int, oldest: int) -> None:
        """List the manifest rows that no generation from `oldest` on holds."""
        rows = select(manifest.c.id).where(
            manifest.c.collection_id == collection_id, manifest.c.to_generation <= oldest
        )
        self._list("manifest", rows)
        self._list_unshared()

    def list_document(self, document_id: int) -> None:
        """List a document with all that it alone holds, and every input that no chunk holds.

        Such inputs are windows of sentences, and what runs that broke off left behind: nothing
        says which document they came from.
        """
        self._list("document", select(document.c.id).where(document.c.id == document_id))
        rows = select(manifest.c.id).where(manifest.c.document_id == document_id)
        self._list("manifest", rows)
        self._list_unshared()
        self.list_unheld(None)
        self.list_unlinked(None)

    def list_unheld(self, up_to: int | None) -> None:
        """List the inputs that no chunk holds and no writer is at, of ids `up_to` at most."""
        held = select(literal(1)).where(chunk.c.input_id == input_.c.id)
        rows = select(input_.c.id).where(~held.exists(), ~_is_leased())
        self._list("input", rows if up_to is None else rows.where(input_.c.id <= up_to))

    def list_derivations(self, identifiers: Iterable[int]) -> None:
        """List what users' functions made, of some functions, and no other chunk has of another."""
        named = select(derivation.c.id).where(derivation.c.id.in_(list(identifiers)))
        self._list("derivation", named)
        self._list_outputs()

    def list_unlinked(self, up_to: int | None) -> None:
        """List the outputs that no chunk has, of ids `up_to` at most: of runs that broke off."""
        linked = select(literal(1)).where(derived.c.output_id == output.c.id)
        rows = select(output.c.id).where(~linked.exists())
        self._list("output", rows if up_to is None else rows.where(output.c.id <= up_to))

    def _list_outputs(self) -> None:
        """The outputs that only listed layouts have, or listed functions made."""
        other = derived.alias("other_derived")
        keeps = select(literal(1)).where(
            other.c.output_id == derived.c.output_id,
            ~self._holds("layout", other.c.layout_id),
            ~self._holds("derivation", other.c.derivation_id),
        )
        goes = self._holds("layout", derived.c.layout_id) | self._holds(
            "derivation", derived.c.derivation_id
        )
        rows = select(derived.c.output_id).where(goes, ~keeps.exists()).distinct()
        self._list("output", rows)

    def _list_unshared(self) -> None:
        """The layouts, revisions and inputs of the listed manifest rows that no other row holds."""
        for kind, column in (
            ("layout", manifest.c.layout_id),
            ("revision", manifest.c.revision_id),
        ):
            other = manifest.alias("other")
            keeps = select(literal(1)).where(
                other.c[column.name] == column, ~self._holds("manifest", other.c.id)
            )
            mine = select(column).where(self._holds("manifest", manifest.c.id))
            self._list(kind, mine.where(~keeps.exists()).distinct())
        other_chunk = chunk.alias("other_chunk")
        keeps = select(literal(1)).where(
            other_chunk.c.input_id == input_.c.id, ~self._holds("layout", other_chunk.c.layout_id)
        )
        mine = (
            select(input_.c.id)
            .join(chunk, chunk.c.input_id == input_.c.id)
            .where(self._holds("layout", chunk.c.layout_id), ~keeps.exists(), ~_is_leased())
        )
        self._list("input", mine.distinct())
        self._list_outputs()

    def _list(self, kind: str, rows: Select[Any]) -> None:
        identifiers = rows.subquery()
        known = self._holds(kind, identifiers.c[0])
        chosen = select(literal(kind), identifiers.c[0]).where(~known)
        self._connection.execute(insert(_gone).from_select(["kind", "id"], chosen))

    @staticmethod
    def _holds(kind: str, column: ColumnElement[Any]) -> ColumnElement[bool]:
        listed = select(literal(1)).where(_gone.c.kind == kind, _gone.c.id == column)
        return listed.exists()

    def of(self, kind: str) -> Select[Any]:
        """The listed ids of a kind."""
        return select(_gone.c.id).where(_gone.c.kind == kind)

    def counted(self, generations: int = 0) -> Removed:
        """How many rows of each kind are listed."""
        query = select(_gone.c.kind, func.count()).group_by(_gone.c.kind)
        counts: dict[str, int] = {row.kind: row[1] for row in self._connection.execute(query)}
        chunks = select(func.count()).where(chunk.c.layout_id.in_(self.of("layout")))
        return Removed(
            generations,
            counts.get("revision", 0),
            counts.get("layout", 0),
            self._connection.execute(chunks).scalar_one(),
            counts.get("input", 0),
            sum(self._bytes()),
            counts.get("output", 0),
        )

    def _bytes(self) -> Iterator[int]:
        for column, owner in (
            (revision.c.content, revision.c.id),
            (vector.c.data, vector.c.input_id),
        ):
            kind = "input" if column.table is vector else "revision"
            size = select(func.coalesce(func.sum(func.length(column)), 0))
            yield self._connection.execute(size.where(owner.in_(self.of(kind)))).scalar_one()

    def delete(self) -> None:
        """Within a transaction: take every listed row out, and those that follow it."""
        drop_postings(self._connection, self.of("input"))
        functions = derived.c.derivation_id.in_(self.of("derivation"))
        self._connection.execute(delete(derived).where(functions))
        for table in reversed(metadata.sorted_tables):
            if table.name in FOLLOWS:
                column, kind = FOLLOWS[table.name]
                self._connection.execute(delete(table).where(table.c[column].in_(self.of(kind))))
        drop_unused_sets(self._connection)


def _is_leased() -> ColumnElement[bool]:
    return select(literal(1)).where(lease.c.key == input_.c.key).exists()
