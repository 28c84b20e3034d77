"""The bytes of revisions, read back."""

import threading
import zlib
from collections import OrderedDict

from sqlalchemy import Connection, bindparam, select

from variorum.records.errors import DamagedError
from variorum.store.schema import layout, revision
from variorum.store.seals import damaged_row, name_of, require_sound, unsound

# Built once: it runs for every revision, and building costs more than running.
_CONTENT = select(revision.c.content, *unsound(revision)).where(
    revision.c.id == bindparam("revision")
)
_LAYOUT = select(layout.c.revision_id, layout.c.content_type, *unsound(layout)).where(
    layout.c.id == bindparam("layout")
)


def read_content(connection: Connection, revision_id: int) -> bytes:
    """The bytes of a revision.

    Raises:
        DamagedError: they are not what was stored.
    """
    row = connection.execute(_CONTENT, {"revision": revision_id}).first()
    if row is None:
        raise damaged_row(name_of(revision, (revision_id,)))
    return inflated(require_sound(row, 1)[0], revision_id)


def read_layout_content(connection: Connection, layout_id: int) -> tuple[bytes, str]:
    """The bytes that a layout is of, and its content type.

    Raises:
        DamagedError: one of the rows is not as it was written.
    """
    row = connection.execute(_LAYOUT, {"layout": layout_id}).one()
    revision_id, content_type = require_sound(row, 1)
    return read_content(connection, revision_id), content_type


def inflated(packed: bytes, revision_id: int) -> bytes:
    """The bytes of a revision from how they are stored.

    Raises:
        DamagedError: they cannot be read.
    """
    try:
        return zlib.decompress(packed)
    except zlib.error as error:
        raise DamagedError(
            "a stored revision cannot be read",
            kind="revision-damaged",
            subject=f"revision {revision_id}",
            expected="compressed bytes",
            found=str(error),
            remedy="run `variorum verify` to locate it, and restore the file from a backup",
        ) from error


class ContentCache:
    """The bytes of recently read revisions, by row id. Revisions never change, so neither do they.

    Holds at most `max_bytes` of content. Safe for many threads.
    """

    def __init__(self, max_bytes: int = 32_000_000) -> None:
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._held: OrderedDict[int, bytes] = OrderedDict()
        self._size = 0

    def held(self, revision_id: int) -> bytes | None:
        """The revision's bytes where they are here."""
        with self._lock:
            if revision_id in self._held:
                self._held.move_to_end(revision_id)
            return self._held.get(revision_id)

    def content(self, connection: Connection, revision_id: int) -> bytes:
        """The revision's bytes."""
        held = self.held(revision_id)
        if held is not None:
            return held
        content = read_content(connection, revision_id)
        with self._lock:
            self._held[revision_id] = content
            self._size += len(content)
            while self._size > self._max_bytes and len(self._held) > 1:
                _, dropped = self._held.popitem(last=False)
                self._size -= len(dropped)
        return content
