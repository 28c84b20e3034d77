"""Documents that must not come back: known by digests, so that their names are erased too.

The salt makes the digests of one collection useless for another; whoever holds the store and
guesses a name can confirm it.
"""

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlalchemy import Connection, delete, select

from variorum.records.names import DocumentName
from variorum.store.schema import denied
from variorum.store.seals import insert_rows, require_sound, unsound

SALT_BYTES = 16


@dataclass(frozen=True, slots=True)
class Denials:
    """The names that a collection must not take up again; `digests` are by salt."""

    digests: Mapping[bytes, frozenset[bytes]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.digests)

    def __contains__(self, name: DocumentName) -> bool:
        return any(digest_of(name, salt) in known for salt, known in self.digests.items())


NO_DENIALS = Denials()


def digest_of(name: DocumentName, salt: bytes) -> bytes:
    """What a denied name is known by."""
    return hashlib.sha256(salt + name.source.encode() + b"\0" + name.path).digest()


def read_denials(connection: Connection, collection_id: int | None) -> Denials:
    """The denied names of a collection.

    Raises:
        DamagedError: a row is not as it was written.
    """
    query = select(denied.c.salt, denied.c.digest, *unsound(denied)).where(
        denied.c.collection_id == collection_id
    )
    digests: dict[bytes, set[bytes]] = {}
    for row in connection.execute(query):
        salt, digest = require_sound(row, 1)
        digests.setdefault(salt, set()).add(digest)
    return Denials({salt: frozenset(known) for salt, known in digests.items()})


def deny(connection: Connection, collection_id: int, name: DocumentName) -> None:
    """Within a transaction: keep a document from coming back."""
    known = read_denials(connection, collection_id)
    if name in known:
        return
    salt = next(iter(known.digests), None) or secrets.token_bytes(SALT_BYTES)
    row = {"collection_id": collection_id, "digest": digest_of(name, salt), "salt": salt}
    insert_rows(connection, denied, [row])


def allow(connection: Connection, collection_id: int, name: DocumentName) -> bool:
    """Within a transaction: let a document come back; whether it was denied."""
    salts = read_denials(connection, collection_id).digests
    digests = [digest_of(name, salt) for salt in salts]
    lifted = delete(denied).where(
        denied.c.collection_id == collection_id, denied.c.digest.in_(digests)
    )
    return bool(connection.execute(lifted).rowcount)
