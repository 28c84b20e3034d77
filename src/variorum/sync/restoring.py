"""Restoring an old generation."""

from variorum.records.errors import NotFoundError
from variorum.records.reports import DocumentCounts, InputCounts, Report, TokenCounts
from variorum.store.publish import Publication
from variorum.store.restore import restore as publish_restored
from variorum.store.store import Store
from variorum.sync.execution import Clock, utc_now


def restore(store: Store, tenant: str, collection: str, wanted: int, clock: Clock = utc_now) -> int:
    """Publish generation `wanted` again as the newest, and return the new number.

    Raises:
        ConflictError: another writer published meanwhile.
        NotFoundError: that generation was never published.
    """
    store.require()
    collection_id, newest = store.head(tenant, collection)
    old = store.snapshot(tenant, collection, wanted).generation
    if collection_id is None:
        raise NotFoundError(f"no collection {collection!r}", kind="no-generation")
    report = Report(
        collection, newest, None, DocumentCounts(), InputCounts(), TokenCounts(), None, None
    )
    publication = Publication(
        collection_id=collection_id,
        parent=newest,
        kind=f"restore of {wanted}",
        created_at=clock().isoformat(timespec="milliseconds"),
        model_id=old.model_id,
        recipe_id=store.recipe_id(old.recipe_fingerprint),
        report=report.as_fields(),
        sources={},
    )
    with store.connection() as connection:
        return publish_restored(connection, publication, wanted)
