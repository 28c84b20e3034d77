"""Which generations stay, and taking out what nothing needs any more."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise

from variorum.records.arguments import bad_parameter
from variorum.records.errors import NotFoundError
from variorum.records.names import DocumentName
from variorum.records.retention import Collected, Erased, Pruned, Removed
from variorum.store.ann_file import remove_ann_files
from variorum.store.compacting import (
    bytes_of,
    compact,
    end_dead_leases,
    overwrite_removed,
    require_no_writers,
)
from variorum.store.denials import allow, read_denials
from variorum.store.engine import write_transaction
from variorum.store.erasing import erase as take_out
from variorum.store.erasing import is_known
from variorum.store.generations import GenerationRow
from variorum.store.pruning import collect, collectable, prunable
from variorum.store.pruning import prune as take_out_closed
from variorum.store.residue import search_files
from variorum.store.store import Store
from variorum.sync.execution import Clock, utc_now

_AGE = re.compile(r"(\d{1,6})([dhw])")
_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


def age(name: str, value: object) -> timedelta:
    """A length of time written such as `90d`, `12h` or `4w`.

    Raises:
        InputError: it is not.
    """
    found = _AGE.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise bad_parameter(name, "a number of hours, days or weeks, such as 90d", value)
    return int(found[1]) * _UNITS[found[2]]


def oldest_of(
    rows: Sequence[GenerationRow], keep: int | None, within: timedelta | None, now: datetime
) -> int:
    """The first generation to keep: one of the newest `keep`, or the newest at some time `within`.

    Where both are given, what either keeps is kept. The newest always is.
    """
    newest = rows[-1].number
    oldest = newest if keep is None else max(1, newest - keep + 1)
    if within is not None:
        since = now - within
        replaced = (
            row.number
            for row, successor in pairwise(rows)
            if datetime.fromisoformat(successor.created_at) >= since
        )
        oldest = min(oldest, next(replaced, newest))
    return oldest


def prune(
    store: Store,
    collection_id: int,
    keep: int | None,
    within: timedelta | None,
    *,
    dry_run: bool,
    clock: Clock = utc_now,
) -> Pruned:
    """Take out what only generations before the first to keep hold; give its space back."""
    rows = store.generations(collection_id)
    now = clock()
    wanted = max(oldest_of(rows, keep, within, now), _oldest_kept(rows))
    with store.connection(create=not dry_run) as connection:
        if dry_run:
            return Pruned(wanted, prunable(connection, collection_id, wanted), dry_run=True)
        before = bytes_of(store.folder)
        end_dead_leases(connection, store.folder)
        removed = take_out_closed(connection, collection_id, wanted, now)
        _forget_vectors(store, removed)
        return Pruned(
            wanted, removed, dry_run=False, compaction=compact(connection, store.folder, before)
        )


def _oldest_kept(rows: Sequence[GenerationRow]) -> int:
    return next(row.number for row in rows if not row.is_pruned)


def gc(
    store: Store,
    collection_id: int,
    older_than: timedelta,
    *,
    dry_run: bool,
    clock: Clock = utc_now,
) -> Collected:
    """Take out inputs that no chunk holds, with their vectors; give their space back."""
    now = clock()
    recorded_before = now - older_than if older_than else None
    with store.connection(create=not dry_run) as connection:
        if dry_run:
            return Collected(collectable(connection, recorded_before), dry_run=True)
        before = bytes_of(store.folder)
        end_dead_leases(connection, store.folder)
        removed = collect(connection, collection_id, recorded_before, now)
        _forget_vectors(store, removed)
        return Collected(
            removed, dry_run=False, compaction=compact(connection, store.folder, before)
        )


def erase(store: Store, collection_id: int, name: DocumentName, clock: Clock = utc_now) -> Erased:
    """Take a document out for good, and show by the store's bytes that it is.

    Raises:
        NotFoundError: the collection never had it.
        BusyError: a sync is embedding.
        UnavailableError: its bytes are still there: something keeps them in the log.
    """
    with store.connection(create=True) as connection:
        with connection.begin():
            denied = name in read_denials(connection, collection_id)
            known = is_known(connection, collection_id, name)
        if not (known or denied):
            raise _unknown(name)
        require_no_writers(connection, store.folder)
        overwrite_removed(connection)
        before = bytes_of(store.folder)
        remove_ann_files(store.folder)  # First: a kill leaves none. And again: one was being made.
        erasure = take_out(connection, collection_id, name, clock())
        remove_ann_files(store.folder)
        compaction = compact(connection, store.folder, before)
        with connection.begin():
            shared = search_files(connection, store.folder, erasure.probes)
        return Erased(
            document=str(name),
            removed=erasure.removed,
            shared_with=tuple(str(one) for one in erasure.shared_with),
            probes=len(erasure.probes),
            probes_shared=shared,
            compaction=compaction,
        )


def _forget_vectors(store: Store, removed: Removed) -> None:
    """Delete the approximate indexes where rows went: the next sync makes them anew."""
    if not removed.is_nothing:
        remove_ann_files(store.folder)


def lift(store: Store, collection_id: int, name: DocumentName) -> None:
    """Let an erased document be synced again.

    Raises:
        NotFoundError: it was not erased.
    """
    with store.connection(create=True) as connection, write_transaction(connection):
        lifted = allow(connection, collection_id, name)
    if not lifted:
        raise NotFoundError(
            f"{name} was not erased",
            kind="not-erased",
            subject=str(name),
            expected="the name of an erased document",
            found="a document that may be synced",
            remedy="`variorum plan -v` names the documents that are skipped as erased",
        )


def _unknown(name: DocumentName) -> NotFoundError:
    return NotFoundError(
        f"no generation holds {name}",
        kind="no-such-document",
        subject=str(name),
        expected="a document that a kept generation holds",
        found="none of that name",
        remedy="names are as `variorum search` and `variorum diff` print them: source:path",
    )
