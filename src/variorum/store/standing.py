"""What a collection remembers of its sources beside generations: what each last listing held."""

from collections.abc import Collection, Iterable, Sequence

from sqlalchemy import Connection, delete, select, update

from variorum.records.names import DocumentName
from variorum.records.reports import Held
from variorum.store import schema
from variorum.store.engine import write_transaction
from variorum.store.seals import insert_rows, require_sound, resealed, unsound

_held = schema.held
_COLUMNS = ("source", "path", "kind", "position", "message")


def read_held(connection: Connection, collection_id: int) -> list[Held]:
    """Every document that the last listing of its source held, by name."""
    query = (
        select(*(_held.c[name] for name in _COLUMNS), *unsound(_held))
        .where(_held.c.collection_id == collection_id)
        .order_by(_held.c.source, _held.c.path)
    )
    return [
        Held(DocumentName(source, path), kind, position, message)
        for source, path, kind, position, message in (
            require_sound(row, 1) for row in connection.execute(query)
        )
    ]


def after_listing(
    known: Iterable[Held], heard: Collection[str], held: Sequence[Held]
) -> list[Held]:
    """What is held once the sources `heard` have said so: `held`, and what others held before."""
    now = {one.document: one for one in known if one.document.source not in heard}
    now.update((one.document, one) for one in held)
    return [now[document] for document in sorted(now)]


def record_held(
    connection: Connection, collection_id: int, heard: Collection[str], held: Sequence[Held]
) -> None:
    """Within a transaction: remember what the sources `heard` hold, where that changed."""
    known = read_held(connection, collection_id)
    now = after_listing(known, heard, held)
    if now == known:
        return
    connection.execute(delete(_held).where(_held.c.collection_id == collection_id))
    if now:
        insert_rows(connection, _held, [_row(collection_id, one) for one in now])


def forget_sources(connection: Connection, collection_id: int, names: Sequence[str]) -> None:
    """Within a transaction: sources that were dropped are listed no more.

    Their rows stay: documents of earlier generations are of them.
    """
    if not names:
        return
    source = schema.source
    connection.execute(
        update(source)
        .where(source.c.collection_id == collection_id, source.c.name.in_(names))
        .values(resealed(source, dropped=True))
    )
    connection.execute(
        delete(_held).where(_held.c.collection_id == collection_id, _held.c.source.in_(names))
    )


def settle(
    connection: Connection,
    collection_id: int,
    heard: Collection[str],
    held: Sequence[Held],
    dropped: Sequence[str],
) -> None:
    """Remember what a run without a publish learned; writes nothing where that is known."""
    with connection.begin():
        known = read_held(connection, collection_id)
    if dropped or after_listing(known, heard, held) != known:
        with write_transaction(connection):
            record_held(connection, collection_id, heard, held)
            forget_sources(connection, collection_id, dropped)


def _row(collection_id: int, one: Held) -> dict[str, object]:
    return {
        "collection_id": collection_id,
        "source": one.document.source,
        "path": one.document.path,
        "kind": one.kind,
        "position": one.position,
        "message": one.message,
    }
