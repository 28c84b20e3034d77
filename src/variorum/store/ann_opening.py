"""Open approximate indexes, one a collection, opened again where the file is another one."""

import os
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from sqlalchemy import Connection, select

from variorum.store.ann import Ann
from variorum.store.ann_file import AnnHeader, ann_path, is_installed, open_ann
from variorum.store.generations import GenerationRow
from variorum.store.removals import newest_removal
from variorum.store.schema import generation

Reads = Callable[[], AbstractContextManager[Connection]]
_Signature = tuple[int, int, int]


class OpenAnns:
    """The indexes of a store's folder. Safe for many threads.

    One that does not fit the store any more is not there: of another model, of a generation that
    the store does not have, or from before a removal.
    """

    def __init__(self, folder: Path, reading: Reads) -> None:
        self._folder = folder
        self._reading = reading
        self._lock = threading.Lock()
        self._open: dict[int, tuple[_Signature, Ann | None]] = {}

    def of(self, collection_id: int, row: GenerationRow) -> Ann | None:
        """The index for a generation of a collection; None where there is none that fits."""
        path = ann_path(self._folder, collection_id)
        try:
            found = os.stat(path)
        except OSError:
            return None
        signature = (found.st_ino, found.st_mtime_ns, found.st_size)
        with self._lock:
            known, opened = self._open.get(collection_id, (None, None))
            if known != signature:
                opened = self._opened(path, collection_id)
                self._open[collection_id] = (signature, opened)
        return opened if opened and opened.header.model == row.model_fingerprint else None

    def _opened(self, path: Path, collection_id: int) -> Ann | None:
        content = open_ann(path) if is_installed() else None
        if content is None or not self._fits(content.header, collection_id):
            return None
        return Ann(content)

    def _fits(self, header: AnnHeader, collection_id: int) -> bool:
        """Whether it was made of this store as it is."""
        query = select(generation.c.created_at).where(
            generation.c.collection_id == collection_id,
            generation.c.number == header.generation,
        )
        with self._reading() as connection:
            created_at = connection.execute(query).scalar()
            removal = newest_removal(connection)
        return (header.collection_id, header.created_at, header.removal) == (
            collection_id,
            created_at,
            removal,
        )

    def clear(self) -> None:
        """Forget every index."""
        with self._lock:
            self._open.clear()
