"""The rows of the ledger: written with each publish, and kept when its generation is pruned."""

from collections.abc import Iterator, Sequence

from sqlalchemy import Column, Connection, ForeignKey, Integer, String, Table, func, select

from variorum.records.costs import CostEntry, DocumentCost, Event, UnpublishedCost
from variorum.records.names import DocumentName
from variorum.store.engine import write_transaction
from variorum.store.schema import chunk, document, generation, manifest, metadata, vector
from variorum.store.seals import SEAL, damaged_row, insert_rows, name_of, require_sound, unsound
from variorum.store.staged import staged_document

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
    Column("embed_us", Integer, nullable=False),
    Column(SEAL, Integer, nullable=False, server_default="0"),
)

unpublished = Table(
    "unpublished",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("collection_id", Integer, ForeignKey("collection.id"), nullable=False),
    Column("created_at", String, nullable=False),
    Column("inputs", Integer, nullable=False),
    Column("tokens", Integer, nullable=False),
    Column("embed_us", Integer, nullable=False),
    Column("kind", String, nullable=False),
    Column(SEAL, Integer, nullable=False, server_default="0"),
)


def record_costs(
    connection: Connection,
    collection_id: int,
    generation: int,
    created_at: str,
    costs: Sequence[DocumentCost],
) -> None:
    """Write what a publish cost, within its transaction; its documents are there and staged."""
    if not costs:
        return
    published = {
        "collection_id": collection_id,
        "generation": generation,
        "created_at": created_at,
    }
    owners = _staged_documents(connection, collection_id)
    rows = [{**published, "document_id": owners[one.document], **_row(one)} for one in costs]
    if insert_rows(connection, cost, rows) != len(rows):
        raise damaged_row(name_of(cost, (collection_id, generation, rows[0]["document_id"])))


def _staged_documents(connection: Connection, collection_id: int) -> dict[DocumentName, int]:
    query = (
        select(document.c.source, document.c.path, document.c.id)
        .join(
            staged_document,
            (staged_document.c.source == document.c.source)
            & (staged_document.c.path == document.c.path),
        )
        .where(document.c.collection_id == collection_id)
    )
    return {
        DocumentName(source, path): identifier
        for source, path, identifier in connection.execute(query)
    }


def _row(one: DocumentCost) -> dict[str, object]:
    counts = {name: getattr(one, name) for name in _COUNTS}
    return {"event": str(one.event), "embed_us": round(one.embed_s * 1e6), **counts}


def record_unpublished(connection: Connection, collection_id: int, spent: UnpublishedCost) -> None:
    """Write what a run embedded without publishing."""
    row = {
        "collection_id": collection_id,
        "created_at": spent.at,
        "inputs": spent.inputs,
        "tokens": spent.tokens,
        "embed_us": round(spent.embed_s * 1e6),
        "kind": spent.kind,
    }
    with write_transaction(connection):
        insert_rows(connection, unpublished, [row])


def read_costs(connection: Connection, collection_id: int) -> list[CostEntry]:
    """Every row of a collection, oldest first. Linear in them.

    Raises:
        DamagedError: a row is not as it was written.
    """
    query = (
        select(
            cost.c.generation,
            cost.c.created_at,
            document.c.source,
            document.c.path,
            cost.c.event,
            *(cost.c[name] for name in _COUNTS),
            cost.c.embed_us,
            *unsound(cost, document),
        )
        .join(document, document.c.id == cost.c.document_id)
        .where(cost.c.collection_id == collection_id)
        .order_by(cost.c.generation, cost.c.document_id)
    )
    return [_entry(*require_sound(row, 2)) for row in connection.execute(query)]


def _entry(number: int, at: str, source: str, path: bytes, event: str, *counts: int) -> CostEntry:
    name, measured = DocumentName(source, path), dict(zip(_COUNTS, counts, strict=False))
    measured_s = counts[-1] / 1e6
    return CostEntry(number, at, DocumentCost(name, Event(event), embed_s=measured_s, **measured))


def ledger_problems(connection: Connection) -> Iterator[tuple[str, str]]:
    """Publishes whose rows do not add up to what they report, from the first that has any on."""
    sums = (
        select(
            cost.c.collection_id,
            cost.c.generation,
            func.count().label("rows"),
            func.sum(cost.c.embedded_inputs).label("inputs"),
        )
        .group_by(cost.c.collection_id, cost.c.generation)
        .subquery()
    )
    first = (
        select(cost.c.collection_id, func.min(cost.c.generation).label("number"))
        .group_by(cost.c.collection_id)
        .subquery()
    )
    query = (
        select(generation.c.collection_id, generation.c.number, generation.c.report)
        .add_columns(func.coalesce(sums.c.rows, 0), func.coalesce(sums.c.inputs, 0))
        .join(first, first.c.collection_id == generation.c.collection_id)
        .outerjoin(
            sums,
            (sums.c.collection_id == generation.c.collection_id)
            & (sums.c.generation == generation.c.number),
        )
        # A restore embeds nothing, and the ledger has no line of it.
        .where(
            generation.c.number >= first.c.number,
            ~generation.c.kind.startswith("restore of "),
        )
    )
    for collection_id, number, report, rows, inputs in connection.execute(query):
        counts, erased = report["documents"], report.get("erased", {})
        reported = int(report["inputs"]["embed"]) - erased.get("inputs", 0)
        documents = counts["added"] + counts["changed"] - erased.get("rows", 0)
        if rows < documents or inputs != reported:
            name = f"cost collection_id={collection_id} generation={number}"
            yield name, f"{rows} rows of {inputs} inputs; its publish reports {reported} inputs"
    newest = select(func.max(generation.c.number)).where(
        generation.c.collection_id == cost.c.collection_id
    )
    strays = select(cost.c.generation).where(cost.c.generation > newest.scalar_subquery())
    for (number,) in connection.execute(strays.distinct()):
        yield f"cost generation={number}", "no such generation was published"


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
    """What runs embedded that published nothing, oldest first.

    Raises:
        DamagedError: a row is not as it was written.
    """
    query = (
        select(
            unpublished.c.created_at,
            unpublished.c.inputs,
            unpublished.c.tokens,
            unpublished.c.embed_us,
            unpublished.c.kind,
            *unsound(unpublished),
        )
        .where(unpublished.c.collection_id == collection_id)
        .order_by(unpublished.c.id)
    )
    rows = (require_sound(row, 1) for row in connection.execute(query))
    return [UnpublishedCost(at, n, tokens, us / 1e6, kind) for at, n, tokens, us, kind in rows]
