"""The rows of the ledger: written with each publish, and kept when its generation is pruned."""

from collections.abc import Sequence

from sqlalchemy import (
    Column,
    Connection,
    Float,
    ForeignKey,
    Integer,
    String,
    Table,
    bindparam,
    insert,
    select,
)

from variorum.records.costs import CostEntry, DocumentCost, Event, UnpublishedCost
from variorum.records.names import DocumentName
from variorum.store.engine import write_transaction
from variorum.store.schema import chunk, document, manifest, metadata, vector

_COUNTS = (
    "embedded_inputs",
    "changed_inputs",
    "total_inputs",
    "embedded_tokens",
    "changed_tokens",
    "edited_tokens",
    "floor_tokens",
    "total_tokens",
)

cost = Table(
    "cost",
    metadata,
    Column("collection_id", Integer, ForeignKey("collection.id"), primary_key=True),
    Column("generation", Integer, primary_key=True),
    Column("document_id", Integer, ForeignKey("document.id"), primary_key=True),
    Column("created_at", String, nullable=False),
    Column("event", String, nullable=False),
    *(Column(name, Integer, nullable=False) for name in _COUNTS),
    Column("embed_s", Float, nullable=False),
)

unpublished = Table(
    "unpublished",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("collection_id", Integer, ForeignKey("collection.id"), nullable=False),
    Column("created_at", String, nullable=False),
    Column("inputs", Integer, nullable=False),
    Column("tokens", Integer, nullable=False),
    Column("embed_s", Float, nullable=False),
    Column("kind", String, nullable=False),
)


def record_costs(
    connection: Connection,
    collection_id: int,
    generation: int,
    created_at: str,
    costs: Sequence[DocumentCost],
) -> None:
    """Write what a publish cost, within its transaction; its documents are there already."""
    if not costs:
        return
    owner = select(document.c.id).where(
        document.c.collection_id == collection_id,
        document.c.source == bindparam("source"),
        document.c.path == bindparam("path"),
    )
    statement = insert(cost).values(
        collection_id=collection_id,
        generation=generation,
        created_at=created_at,
        document_id=owner.scalar_subquery(),
    )
    connection.execute(statement, [_row(one) for one in costs])


def _row(one: DocumentCost) -> dict[str, object]:
    return {
        "source": one.document.source,
        "path": one.document.path,
        "event": str(one.event),
        "embed_s": one.embed_s,
        **{name: getattr(one, name) for name in _COUNTS},
    }


def record_unpublished(connection: Connection, collection_id: int, spent: UnpublishedCost) -> None:
    """Write what a run embedded without publishing."""
    with write_transaction(connection):
        connection.execute(
            insert(unpublished),
            {
                "collection_id": collection_id,
                "created_at": spent.at,
                "inputs": spent.inputs,
                "tokens": spent.tokens,
                "embed_s": spent.embed_s,
                "kind": spent.kind,
            },
        )


def read_costs(connection: Connection, collection_id: int) -> list[CostEntry]:
    """Every row of a collection, oldest first. Linear in them."""
    query = (
        select(
            cost.c.generation,
            cost.c.created_at,
            document.c.source,
            document.c.path,
            cost.c.event,
            *(cost.c[name] for name in _COUNTS),
            cost.c.embed_s,
        )
        .join(document, document.c.id == cost.c.document_id)
        .where(cost.c.collection_id == collection_id)
        .order_by(cost.c.generation, cost.c.document_id)
    )
    return [
        CostEntry(number, at, DocumentCost(DocumentName(source, path), Event(event), *rest))
        for number, at, source, path, event, *rest in connection.execute(query)
    ]


def maintained_documents(connection: Connection, collection_id: int) -> list[DocumentName]:
    """The documents of the newest generation whose every chunk has an input with a vector."""
    without = (
        select(chunk.c.input_id)
        .outerjoin(vector, vector.c.input_id == chunk.c.input_id)
        .where(chunk.c.layout_id == manifest.c.layout_id, vector.c.input_id.is_(None))
    )
    query = (
        select(document.c.source, document.c.path)
        .join(manifest, manifest.c.document_id == document.c.id)
        .where(
            manifest.c.collection_id == collection_id,
            manifest.c.to_generation.is_(None),
            ~without.exists(),
        )
    )
    return [DocumentName(source, path) for source, path in connection.execute(query)]


def read_unpublished(connection: Connection, collection_id: int) -> list[UnpublishedCost]:
    """What runs embedded that published nothing, oldest first."""
    query = (
        select(
            unpublished.c.created_at,
            unpublished.c.inputs,
            unpublished.c.tokens,
            unpublished.c.embed_s,
            unpublished.c.kind,
        )
        .where(unpublished.c.collection_id == collection_id)
        .order_by(unpublished.c.id)
    )
    return [UnpublishedCost(*row) for row in connection.execute(query)]
