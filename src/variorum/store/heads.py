"""Where each collection stands: its head, which must point at its newest generation."""

from typing import NamedTuple

from sqlalchemy import Connection, func, select

from variorum.records.errors import DamagedError
from variorum.store.schema import collection, generation, head, policy
from variorum.store.seals import BACKUP_OR_SYNC, damaged_row, unsound

_NEWEST = (
    select(func.max(generation.c.number))
    .where(generation.c.collection_id == collection.c.id)
    .scalar_subquery()
)
_POLICY = (
    select(func.coalesce(func.max(policy.c.version), 0))
    .where(policy.c.collection_id == collection.c.id)
    .scalar_subquery()
)
# Read whole, by the rows themselves: they are few, and a damaged index would hide one.
_HEADS = select(
    collection.c.id,
    collection.c.tenant,
    collection.c.name,
    head.c.generation,
    _NEWEST.label("newest"),
    _POLICY.label("policy"),
    *unsound(collection, head),
).outerjoin(head, head.c.collection_id == collection.c.id)


class State(NamedTuple):
    """Where a collection stands: its id and newest generation, each None before there is one, and
    the version of the policy in force, 0 before there is one; all in a store's `opening`.
    """

    collection_id: int | None
    generation: int | None
    policy_version: int
    opening: int | None = None


def state_of(connection: Connection, tenant: str, name: str) -> State:
    """Where a tenant's collection stands.

    Raises:
        DamagedError: a collection's row or head is not as it was written, or the head does not
            stand at the newest generation.
    """
    found = State(None, None, 0)
    for row in connection.execute(_HEADS):
        identifier, of_tenant, named, pointed, newest, version, bad_row, bad_head = row
        if bad_row or (bad_head and pointed is not None):
            raise damaged_row(bad_row or bad_head)
        if (of_tenant, named) == (tenant, name):
            _require_at(identifier, pointed, newest)
            found = State(identifier, pointed, version)
    return found


def _require_at(collection_id: int, pointed: int | None, newest: int | None) -> None:
    if pointed != newest:
        raise DamagedError(
            "the head of a collection does not stand at its newest generation",
            kind="head-damaged",
            subject=f"head collection_id={collection_id}",
            expected=f"generation {newest}" if newest else "no head before the first generation",
            found=f"generation {pointed}" if pointed else "no head",
            remedy=BACKUP_OR_SYNC,
        )


def missing_generation(collection_id: int, number: int) -> DamagedError:
    """The error about a published generation whose row is gone."""
    return DamagedError(
        f"generation {number} was published, and its row is gone",
        kind="generation-missing",
        subject=f"generation collection_id={collection_id} number={number}",
        expected="a row for every generation up to the newest",
        found="none",
        remedy=BACKUP_OR_SYNC,
    )
