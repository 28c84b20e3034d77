"""A collection in a file, and out of one."""

from pathlib import Path

from variorum.analysis import ANALYZER
from variorum.embedding.probe import probe_keys
from variorum.records.errors import InputError
from variorum.records.moving import Moved
from variorum.store.exporting import export
from variorum.store.generations import generations
from variorum.store.importing import import_rows
from variorum.store.publish import register_collection
from variorum.store.reading_exports import Export, checked
from variorum.store.snapshot import Snapshot
from variorum.store.store import Store
from variorum.sync.target import no_progress
from variorum.sync.terming import index_imported, make_ready


def export_collection(
    store: Store, tenant: str, name: str, snapshot: Snapshot, file: Path
) -> Moved:
    """Write all of a collection into a new file, with the probes of its models."""
    with store.connection() as connection:
        with connection.begin():
            rows = generations(connection, snapshot.collection_id)
        models = {row.model_fingerprint for row in rows}
        probes = [key for one in sorted(models) for key in probe_keys(one)]
        named: dict[str, object] = {"tenant": tenant, "collection": name}
        return export(connection, snapshot.collection_id, named, file, probes)


def import_collection(store: Store, tenant: str, name: str, file: Path) -> Moved:
    """Take an export in as a collection; the store is made where there is none."""
    found = checked(file)
    _require_tenant(found, tenant)
    with store.connection(create=True) as connection:
        collection_id = register_collection(connection, tenant, name)
        make_ready(connection, no_progress)
        import_rows(connection, collection_id, found, ANALYZER, index_imported)
    return Moved(str(file), name, found.generation, found.rows, found.file_bytes, found.sha256)


def _require_tenant(found: Export, tenant: str) -> None:
    if found.tenant != tenant:
        raise InputError(
            f"the export is of tenant {found.tenant!r}, the collection of {tenant!r}",
            kind="other-tenant",
            subject=str(found.file),
            expected=tenant,
            found=found.tenant,
            remedy="set `tenant` of the collection in variorum.toml: vectors are a tenant's own",
        )
