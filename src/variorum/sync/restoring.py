"""Restoring an old generation."""

from collections import Counter

from variorum.records.errors import NotFoundError
from variorum.records.reports import DocumentCounts, InputCounts, Report, TokenCounts
from variorum.store.derived import DERIVATIONS, versions_of
from variorum.store.history import difference
from variorum.store.publish import Publication
from variorum.store.restore import restore as publish_restored
from variorum.store.snapshot import Snapshot
from variorum.store.store import Store
from variorum.sync.execution import Clock, utc_now


def restore(store: Store, tenant: str, collection: str, wanted: int, clock: Clock = utc_now) -> int:
    """Publish generation `wanted` again as the newest, and return the new number.

    Raises:
        ConflictError: another writer published, or something was removed, meanwhile.
        NotFoundError: that generation was never published, or was pruned.
    """
    store.require()
    removal = store.newest_removal()
    collection_id, newest = store.head(tenant, collection)
    old = store.snapshot(tenant, collection, wanted)
    if collection_id is None:
        raise NotFoundError(f"no collection {collection!r}", kind="no-generation")
    counts = _counts(store.snapshot(tenant, collection, newest), old)
    report = Report(collection, newest, None, counts, InputCounts(), TokenCounts(), None, None)
    publication = Publication(
        collection_id=collection_id,
        parent=newest,
        kind=f"restore of {wanted}",
        created_at=clock().isoformat(timespec="milliseconds"),
        model_id=old.generation.model_id,
        recipe_id=store.recipe_id(old.generation.recipe_fingerprint),
        report={**report.as_fields(), DERIVATIONS: dict(versions_of(old.generation.report))},
        sources={},
        removal=removal,
    )
    with store.connection() as connection:
        return publish_restored(connection, publication, wanted)


def _counts(parent: Snapshot, wanted: Snapshot) -> DocumentCounts:
    """Documents by what the restore does to them; a rename is one removed and one added."""
    actions = Counter(one.action for one in difference(parent, wanted).documents)
    renamed = actions["renamed"]
    added = actions["added"] + renamed
    changed = actions["changed"] + actions["metadata"] + actions["layout"]
    unchanged = len(wanted.documents) - added - changed
    return DocumentCounts(added, changed, unchanged, actions["removed"] + renamed)
